"""Whether a request repeats the call that is remembered for what it sends. Pure.

Requests are numbered in the order in which they come, from 1.
"""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request of a call: when it came, and whether its client calls it a retry."""

    number: int
    is_retry: bool


class Relation(Enum):
    """What a request is to a remembered call."""

    SAME = "another attempt at it"
    PERHAPS = "an attempt at it, or at a later call that was turned away"
    OTHER = "an attempt at another call"


def relation(attempt: Attempt, maker: Attempt, *, is_over: bool, turned_away: int) -> Relation:
    """What `attempt` is to the call whose job was made for `maker`, which sent the same.

    `is_over`: the call was answered in full, or its job failed. `turned_away`: the latest first attempt that may have
    sent the same and got no job, 0 for none. Where it came after `maker`, a retry may belong to it. While the call is
    not over, a retry is taken for one of it all the same: two songs for one call are the worse mistake.
    """
    if not attempt.is_retry:
        # One that was overtaken by its own retry.
        return Relation.SAME if maker.is_retry and maker.number > attempt.number else Relation.OTHER
    if turned_away < maker.number:
        return Relation.SAME
    return Relation.OTHER if is_over else Relation.PERHAPS
