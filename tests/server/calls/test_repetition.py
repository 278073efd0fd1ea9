"""A request is told from others that send the same by who came when; in doubt it is a retry of what is not over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.calls.repetition import Attempt, Relation, relation

NUMBERS = st.integers(1, 20)
ATTEMPTS = st.builds(Attempt, NUMBERS, st.booleans())
TURNED_AWAY = st.integers(0, 20)


@pytest.mark.parametrize(
    ("is_over", "turned_away", "expected"),
    [
        (False, 0, Relation.SAME),
        (True, 0, Relation.SAME),
        (False, 4, Relation.SAME),
        (True, 4, Relation.SAME),
        (False, 6, Relation.PERHAPS),
        (True, 6, Relation.OTHER),
    ],
)
def test_a_retry_is_told_by_what_was_turned_away_after_the_call_came(
    is_over: bool, turned_away: int, expected: Relation
) -> None:
    retry, first = Attempt(9, is_retry=True), Attempt(5, is_retry=False)
    assert relation(retry, first, is_over=is_over, turned_away=turned_away) is expected


@pytest.mark.parametrize(
    ("number", "maker", "expected"),
    [
        (9, Attempt(5, is_retry=False), Relation.OTHER),
        (9, Attempt(5, is_retry=True), Relation.OTHER),
        (3, Attempt(5, is_retry=False), Relation.OTHER),
        (3, Attempt(5, is_retry=True), Relation.SAME),
    ],
)
def test_a_first_attempt_is_a_new_call_unless_its_own_retry_has_overtaken_it(
    number: int, maker: Attempt, expected: Relation
) -> None:
    first = Attempt(number, is_retry=False)
    assert relation(first, maker, is_over=False, turned_away=0) is expected


@given(ATTEMPTS, NUMBERS, TURNED_AWAY)
def test_while_a_call_is_not_over_every_retry_is_one_of_it(
    maker: Attempt, number: int, turned_away: int
) -> None:
    retry = Attempt(number, is_retry=True)
    assert relation(retry, maker, is_over=False, turned_away=turned_away) is not Relation.OTHER


@given(ATTEMPTS, NUMBERS, st.booleans(), TURNED_AWAY)
def test_a_retry_finds_its_own_call_whatever_was_turned_away_before_it(
    maker: Attempt, number: int, is_over: bool, turned_away: int
) -> None:
    retry, found = Attempt(number, is_retry=True), Relation.SAME
    told = relation(retry, maker, is_over=is_over, turned_away=min(turned_away, maker.number - 1))
    assert told is found


@given(NUMBERS, TURNED_AWAY)
def test_what_a_retry_has_made_after_a_refusal_is_found_by_the_next_one(refused: int, later: int) -> None:
    """First attempt refused, second makes the job and is answered, third comes all the same: one job."""
    second = Attempt(refused + 1 + later, is_retry=True)
    third = Attempt(second.number + 1, is_retry=True)
    assert relation(third, second, is_over=True, turned_away=refused) is Relation.SAME


@given(ATTEMPTS, ATTEMPTS, st.booleans(), TURNED_AWAY)
def test_only_a_retry_can_be_in_doubt(
    attempt: Attempt, maker: Attempt, is_over: bool, turned_away: int
) -> None:
    told = relation(attempt, maker, is_over=is_over, turned_away=turned_away)
    assert told is not Relation.PERHAPS or (attempt.is_retry and turned_away >= maker.number)
