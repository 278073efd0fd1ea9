"""First attempts that got no job are remembered for so long, and only so many."""

import pytest

from server.calls.turned_away import TurnedAway


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turned_away(clock: Clock) -> TurnedAway:
    return TurnedAway(clock, 900.0, 3)


def test_the_latest_of_all_its_looks_counts(turned_away: TurnedAway) -> None:
    turned_away.note("head", 3)
    turned_away.note("all of it", 5)
    turned_away.note("head", 4)
    assert turned_away.latest("head", "all of it") == 5
    assert (turned_away.latest("head"), turned_away.latest("other"), turned_away.latest()) == (4, 0, 0)


def test_one_that_ends_late_makes_no_earlier_one_of_a_later(turned_away: TurnedAway) -> None:
    turned_away.note("head", 4)
    turned_away.note("head", 3)
    assert turned_away.latest("head") == 4


def test_after_its_time_it_is_forgotten(turned_away: TurnedAway, clock: Clock) -> None:
    turned_away.note("one", 1)
    clock.now += 900.0
    assert turned_away.latest("one") == 1
    clock.now += 0.1
    assert turned_away.latest("one") == 0
    turned_away.note("two", 2)
    assert len(turned_away) == 1


def test_of_too_many_those_noted_longest_ago_go_first(turned_away: TurnedAway) -> None:
    for number, name in enumerate("abcad", 1):
        turned_away.note(name, number)
    assert [turned_away.latest(name) for name in "abcd"] == [4, 0, 3, 5]
