"""A call's job is remembered for fifteen minutes after its last attempt, and one look-up at a time."""

import asyncio
from contextlib import ExitStack

import pytest

from server.calls.recent import RecentCalls
from server.calls.repetition import Attempt

FIRST = Attempt(1, is_retry=False)


def job_of(recent: RecentCalls, fingerprint: str) -> str | None:
    call = recent.find(fingerprint)
    return None if call is None else call.job_id


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
def recent(clock: Clock) -> RecentCalls:
    return RecentCalls(clock, most=3)


def test_a_call_is_found_for_fifteen_minutes(recent: RecentCalls, clock: Clock) -> None:
    recent.remember("f", "job", FIRST)
    clock.now += 900.0
    assert job_of(recent, "f") == "job"
    clock.now += 0.1
    assert (job_of(recent, "f"), job_of(recent, "g")) == (None, None)


def test_an_attempt_that_is_there_keeps_it_however_long(recent: RecentCalls, clock: Clock) -> None:
    recent.remember("f", "job", FIRST)
    with recent.attempt("f", "job"):
        clock.now += 10_000.0
        assert job_of(recent, "f") == "job"
    clock.now += 900.0
    assert job_of(recent, "f") == "job"
    clock.now += 0.1
    assert job_of(recent, "f") is None


def test_a_new_call_takes_the_place_of_an_earlier_one(recent: RecentCalls, clock: Clock) -> None:
    recent.remember("f", "old", FIRST)
    with recent.attempt("f", "old"):
        recent.remember("f", "new", FIRST)
        clock.now += 900.0
    assert job_of(recent, "f") == "new"
    clock.now += 0.1  # the end of an attempt at the old one makes the new one no younger
    assert job_of(recent, "f") is None


def test_an_attempt_at_what_is_not_remembered_changes_nothing(recent: RecentCalls) -> None:
    recent.remember("f", "new", FIRST)
    with recent.attempt("f", "old"), recent.attempt("g", "job"):
        assert len(recent) == 1
    assert (job_of(recent, "f"), job_of(recent, "g")) == ("new", None)


def test_of_a_job_that_was_given_up_its_call_says_so(recent: RecentCalls) -> None:
    recent.remember("f", "one", FIRST)
    recent.remember("g", "two", FIRST)
    with recent.attempt("f", "one"):
        recent.give_up("one")
    calls = [recent.find("f"), recent.find("g")]
    assert [call is not None and call.is_given_up for call in calls] == [True, False]
    recent.remember("f", "three", FIRST)
    assert [call.is_given_up for name in "fg" if (call := recent.find(name))] == [False, False]


def test_a_call_is_answered_by_its_own_job_alone(recent: RecentCalls) -> None:
    recent.remember("f", "one", FIRST)
    recent.answered("f", "another")
    recent.answered("g", "one")
    assert [call.is_answered for name in "fg" if (call := recent.find(name))] == [False]
    recent.answered("f", "one")
    assert [call.is_answered for name in "fg" if (call := recent.find(name))] == [True]


def test_requests_are_numbered_as_they_come(recent: RecentCalls) -> None:
    assert [recent.come() for _ in range(3)] == [1, 2, 3]


def test_of_too_many_those_longest_ago_go_first(recent: RecentCalls, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        recent.remember(name, name, FIRST)
        clock.now += 1.0
    with recent.attempt("a", "a"):
        pass  # just now, so that it is the youngest
    recent.remember("d", "d", FIRST)
    assert [job_of(recent, name) for name in "abcd"] == ["a", None, "c", "d"]


def test_what_is_too_old_takes_no_room(recent: RecentCalls, clock: Clock) -> None:
    recent.remember("a", "a", FIRST)
    recent.remember("b", "b", FIRST)
    clock.now += 901.0
    recent.remember("c", "c", FIRST)
    assert (len(recent), job_of(recent, "c")) == (1, "c")


def test_one_with_an_attempt_there_is_not_forgotten_for_others(recent: RecentCalls) -> None:
    with ExitStack() as there:
        for name in ("a", "b", "c"):
            recent.remember(name, name, FIRST)
            there.enter_context(recent.attempt(name, name))
        recent.remember("d", "d", FIRST)
        assert [job_of(recent, name) for name in "abc"] == ["a", "b", "c"]


def test_a_fingerprint_is_looked_up_by_one_at_a_time(recent: RecentCalls) -> None:
    order: list[str] = []

    async def claim(fingerprint: str, name: str, inside: asyncio.Event, go: asyncio.Event) -> None:
        async with recent.claimed(fingerprint):
            order.append(f"{name} in")
            inside.set()
            await go.wait()
            order.append(f"{name} out")

    async def test() -> None:
        inside = [asyncio.Event() for _ in range(3)]
        go = [asyncio.Event() for _ in range(3)]
        async with asyncio.TaskGroup() as group:
            group.create_task(claim("f", "first", inside[0], go[0]))
            await inside[0].wait()
            group.create_task(claim("f", "second", inside[1], go[1]))
            group.create_task(claim("g", "other", inside[2], go[2]))
            await inside[2].wait()
            assert order == ["first in", "other in"]
            go[2].set()
            go[0].set()
            await inside[1].wait()
            go[1].set()
        assert order[-3:] == ["first out", "second in", "second out"]
        assert recent._claims == {}

    asyncio.run(test())


def test_whoever_is_cancelled_while_it_waits_leaves_nothing(recent: RecentCalls) -> None:
    async def claim() -> None:
        async with recent.claimed("f"):
            await asyncio.Event().wait()

    async def test() -> None:
        holder, waiter = asyncio.create_task(claim()), asyncio.create_task(claim())
        await asyncio.wait([holder, waiter], timeout=0)
        waiter.cancel()
        holder.cancel()
        results = await asyncio.gather(holder, waiter, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        assert recent._claims == {}

    asyncio.run(test())
