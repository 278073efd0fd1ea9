"""Counting refusals and broken connections."""

import pytest

from server.client.errors import Unreachable
from server.client.patience import Patience, Surroundings


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_a_busy_server_is_waited_for_without_end() -> None:
    time, told = Time(), list[tuple[float, str]]()
    patience = Patience(
        Surroundings(time.clock, time.pause, lambda: 0.0), 1.0, lambda s, why: told.append((s, why))
    )
    for _ in range(6):
        patience.refused(0.0, "Full.")
    assert time.slept == [5, 10, 20, 30, 30, 30]
    assert told[0] == (5.0, "Full.")


def test_an_absent_server_is_given_up_after_the_limit() -> None:
    time = Time()
    patience = Patience(Surroundings(time.clock, time.pause, lambda: 0.0), 3.0, lambda s, why: None)
    for _ in range(3):
        patience.broken("It broke.")
    with pytest.raises(Unreachable, match=r"It broke\. Gave up after 3 seconds"):
        patience.broken("It broke.")
    assert time.slept == [0.5, 1, 2]


def test_hearing_the_server_starts_a_new_absence() -> None:
    time = Time()
    patience = Patience(Surroundings(time.clock, time.pause, lambda: 0.0), 1.0, lambda s, why: None)
    for _ in range(5):
        patience.broken("It broke.")
        patience.connected()
    assert time.slept == [0.5] * 5


def test_on_wait_may_end_the_waiting() -> None:
    def stop(seconds: float, reason: str) -> None:
        raise KeyboardInterrupt

    time = Time()
    patience = Patience(Surroundings(time.clock, time.pause, lambda: 0.0), 1.0, stop)
    with pytest.raises(KeyboardInterrupt):
        patience.refused(5.0, "Full.")
    assert time.slept == []
