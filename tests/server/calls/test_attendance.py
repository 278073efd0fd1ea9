"""A job is given up when the last who waited for it has gone without an answer and nobody has come since."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack

import pytest

from server.calls.attendance import PATIENCE_SECONDS, Attendance, on_the_loop
from tests.server.calls.caller import FakeTimers


class Room:
    """An attendance whose timers fire when the test says so."""

    def __init__(self) -> None:
        self.timers = FakeTimers()
        self.given_up: list[tuple[str, str]] = []
        self.recorded: list[str] = []
        self.may_record = asyncio.Event()
        self.may_record.set()
        self.attendance = Attendance(self.abandon, self.timers.later)

    def abandon(self, job_id: str, owner: str) -> Coroutine[None, None, None]:
        self.given_up.append((job_id, owner))
        return self.record(job_id)

    async def record(self, job_id: str) -> None:
        await self.may_record.wait()
        self.recorded.append(job_id)


def run(test: Callable[[Room], Awaitable[None]]) -> None:
    async def within() -> None:
        room = Room()
        await test(room)
        await room.attendance.close()
        assert room.timers.pending == []
        assert room.attendance._jobs == {}

    asyncio.run(within())


def test_after_the_last_has_gone_the_time_runs() -> None:
    async def test(room: Room) -> None:
        room.attendance.expect("job", "me")
        with room.attendance.attend("job"), room.attendance.attend("job"):
            assert room.timers.pending == []
        assert [timer.seconds for timer in room.timers.pending] == [PATIENCE_SECONDS] == [20.0]
        assert room.given_up == []
        room.timers.fire()
        assert room.given_up == [("job", "me")]  # at once, before anybody else can ask
        await asyncio.gather(*room.attendance._tasks)
        assert room.recorded == ["job"]

    run(test)


def test_whoever_comes_back_stops_the_time_until_he_has_gone_too() -> None:
    async def test(room: Room) -> None:
        room.attendance.expect("job", "me")
        with room.attendance.attend("job"):
            pass
        with room.attendance.attend("job"):
            assert room.timers.pending == []
        assert len(room.timers.pending) == 1

    run(test)


@pytest.mark.parametrize("moment", ["while one waits", "after all have gone"])
@pytest.mark.parametrize("deed", [Attendance.use, Attendance.answered])
def test_a_job_that_was_asked_for_or_told_of_is_never_given_up(
    deed: Callable[[Attendance, str], None], moment: str
) -> None:
    async def test(room: Room) -> None:
        room.attendance.expect("job", "me")
        with room.attendance.attend("job"):
            if moment == "while one waits":
                deed(room.attendance, "job")
        if moment != "while one waits":
            deed(room.attendance, "job")
        with room.attendance.attend("job"):
            pass
        assert (room.timers.pending, room.given_up) == ([], [])

    run(test)


def test_jobs_that_no_synchronous_call_has_made_are_left_alone() -> None:
    async def test(room: Room) -> None:
        room.attendance.use("native")
        with room.attendance.attend("native"):
            pass
        assert (room.timers.pending, room.attendance._jobs) == ([], {})

    run(test)


def test_each_job_has_its_own_time() -> None:
    async def test(room: Room) -> None:
        with ExitStack() as there:
            for name in ("one", "two"):
                room.attendance.expect(name, name)
                there.enter_context(room.attendance.attend(name))
        room.attendance.use("one")
        room.timers.fire()
        assert room.given_up == [("two", "two")]

    run(test)


def test_a_stop_gives_nothing_up_and_waits_for_what_is_being_written_down() -> None:
    async def test(room: Room) -> None:
        room.may_record.clear()
        for name in ("one", "two"):
            room.attendance.expect(name, "")
        with room.attendance.attend("one"):
            pass
        room.timers.fire()
        with room.attendance.attend("two"):
            closing = asyncio.create_task(room.attendance.close())
            await asyncio.wait([closing], timeout=0)
            assert not closing.done()
        assert room.timers.pending == []
        room.may_record.set()
        await closing
        assert (room.given_up, room.recorded) == ([("one", "")], ["one"])
        room.attendance.expect("three", "")
        with room.attendance.attend("three"):
            pass
        assert room.timers.pending == []

    run(test)


def test_the_loop_keeps_the_time() -> None:
    async def test() -> None:
        called: list[str] = []
        done = asyncio.Event()
        on_the_loop(0.0, lambda: called.append("taken back")).cancel()
        on_the_loop(0.0, lambda: called.append("kept"))
        on_the_loop(0.001, done.set)
        await asyncio.wait_for(done.wait(), 5.0)
        assert called == ["kept"]

    asyncio.run(test())
