"""Eight places; a retry may take over that of the attempt before it."""

from contextlib import ExitStack

import pytest

from server.calls.places import Place, Places
from server.errors import TooManySynchronous
from server.limits import Slots


@pytest.fixture
def slots() -> Slots:
    return Slots(2, "synchronous requests", TooManySynchronous)


@pytest.fixture
def places(slots: Slots) -> Places:
    return Places(slots)


def seated(places: Places, there: ExitStack, job_id: str) -> Place:
    place = there.enter_context(places.taken())
    place.job_id = job_id
    return place


def test_a_place_is_held_as_long_as_the_block_lasts(places: Places, slots: Slots) -> None:
    with ExitStack() as there:
        seated(places, there, "one")
        seated(places, there, "two")
        with pytest.raises(TooManySynchronous, match="All 2 places for synchronous requests"), places.taken():
            pass
        with pytest.raises(TooManySynchronous), places.taken("three"):
            pass
        assert slots.held == 2
    assert slots.held == 0


def test_a_retry_takes_a_free_place_where_there_is_one(places: Places, slots: Slots) -> None:
    with ExitStack() as there:
        first = seated(places, there, "one")
        with places.taken("one"):
            assert (slots.held, first.is_lost) == (2, False)


def test_a_retry_takes_over_the_earliest_attempt_at_its_job(places: Places, slots: Slots) -> None:
    told: list[str] = []
    with ExitStack() as there, ExitStack() as retries:
        first, second = seated(places, there, "one"), seated(places, there, "one")
        first.on_loss = lambda: told.append("first")
        third = retries.enter_context(places.taken("one"))
        third.job_id = "one"
        assert (first.is_lost, second.is_lost, told, slots.held) == (True, False, ["first"], 2)
        retries.enter_context(places.taken("one"))
        assert (second.is_lost, third.is_lost, slots.held) == (True, False, 2)
        there.close()
        assert slots.held == 2
    assert slots.held == 0
