import asyncio
from collections.abc import Callable
from typing import cast

from server.countdown import SAVED, Countdown, Pace


class Timer:
    """One call that the fake loop owes."""

    def __init__(self, when: float, call: Callable[[], None]) -> None:
        self._when = when
        self.call = call
        self.cancelled = False

    def when(self) -> float:
        return self._when

    def cancel(self) -> None:
        self.cancelled = True


class FakeLoop:
    """A loop whose time goes on only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.now + delay, call)
        self._timers.append(timer)
        return timer

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self._timers if timer.when() <= self.now and not timer.cancelled]
        self._timers = [timer for timer in self._timers if timer not in due]
        for timer in due:
            timer.call()


def countdown() -> tuple[FakeLoop, Countdown, list[float]]:
    loop = FakeLoop()
    rung: list[float] = []
    return loop, Countdown(cast(asyncio.AbstractEventLoop, loop), lambda: rung.append(loop.now)), rung


def test_it_rings_once_when_the_time_is_up() -> None:
    loop, counting, rung = countdown()
    counting.start(5)
    loop.pass_time(4)
    assert (rung, counting.started) == ([], True)
    loop.pass_time(1)
    loop.pass_time(10)
    assert (rung, counting.started) == ([5.0], False)


def test_a_new_start_and_a_stop_forget_the_deadline_before() -> None:
    loop, counting, rung = countdown()
    counting.start(5)
    loop.pass_time(4)
    counting.start(5)
    loop.pass_time(4)
    counting.stop()
    loop.pass_time(100)
    assert (rung, counting.started) == ([], False)


def test_the_time_it_is_held_does_not_count() -> None:
    loop, counting, rung = countdown()
    counting.start(5)
    loop.pass_time(3)
    counting.hold()
    counting.hold()
    loop.pass_time(100)
    assert counting.started
    counting.go_on()
    counting.go_on()
    loop.pass_time(1)
    assert rung == []
    loop.pass_time(1)
    assert rung == [105.0]


def test_what_starts_while_held_waits_for_its_turn() -> None:
    loop, counting, rung = countdown()
    counting.hold()
    counting.start(5)
    loop.pass_time(100)
    assert (rung, counting.started) == ([], True)
    counting.go_on()
    loop.pass_time(5)
    assert rung == [105.0]


def test_what_is_stopped_while_held_does_not_go_on() -> None:
    loop, counting, rung = countdown()
    counting.start(5)
    counting.hold()
    counting.stop()
    counting.go_on()
    loop.pass_time(100)
    assert (rung, counting.started) == ([], False)


def test_a_reader_that_takes_nothing_has_its_seconds_and_no_more() -> None:
    pace = Pace(15, 1024, 100)
    assert [pace.is_kept(0, now) for now in (100, 114.9, 115)] == [True, True, False]


def test_a_reader_is_measured_on_average() -> None:
    steady, slower = Pace(15, 1024, 0), Pace(15, 1024, 0)
    assert all(steady.is_kept(1024 * now, now) for now in range(0, 3600, 3))
    assert not all(slower.is_kept(900 * now, now) for now in range(0, 3600, 3))


def test_a_reader_whose_progress_shows_only_by_the_lump_is_kept() -> None:
    lump, rate = 128 * 1024, 4096
    pace = Pace(15, 1024, 0)
    assert all(pace.is_kept(lump * (1 + now * rate // lump), now) for now in range(600))


def test_what_was_read_fast_saves_up_only_so_much() -> None:
    pace = Pace(15, 1024, 0)
    assert pace.is_kept(10**9, 1)
    assert pace.is_kept(10**9, SAVED * 15)
    assert not pace.is_kept(10**9, 1 + SAVED * 15)
