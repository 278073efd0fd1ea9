"""What an agent is told of a score that is performed although something in it may not be meant so."""

from engine.errors import ScoreError
from engine.score import parse, validate


def score_faults(abc: str) -> tuple[str, ...]:
    """A sentence on the first thing that parts a score from the dialect, such as a bar too long; nothing for a sound one.

    The band plays any score that it can read, and YuE2 any text: neither tells of a miscount.
    """
    if not abc.strip():
        return ()
    try:
        validate(parse(abc))
    except ScoreError as fault:
        return (f"The score is taken as it stands; look at one place in it: {fault}",)
    return ()
