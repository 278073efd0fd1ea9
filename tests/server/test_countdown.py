import asyncio
from collections.abc import Callable
from typing import cast

from server.countdown import Countdown


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
