"""How far fetching is, in words."""

import io

from rich.console import Console

from server.commands.bar import Bar
from server.commands.transfer import Transfer

MEGABYTE = 1_000_000


class Shown(Bar):
    """Keeps what it would show."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO()))
        self.told: list[tuple[str, float]] = []

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.told.append((phase, fraction))


def test_bytes_speed_and_share_are_told_at_a_pace_that_can_be_read() -> None:
    bar, now = Shown(), 100.0
    transfer = Transfer(bar, 10 * MEGABYTE, 0, lambda: now)
    for step in range(1, 11):
        now = 100.0 + 0.05 * step
        transfer.moved("model", MEGABYTE)
    assert len(bar.told) < 10
    assert bar.told[-1] == ("model  10.0 MB of 10.0 MB, 20.0 MB/s", 1.0)


def test_the_speed_is_that_of_the_last_seconds() -> None:
    bar, now = Shown(), 0.0
    transfer = Transfer(bar, 1000 * MEGABYTE, 0, lambda: now)
    for second in range(1, 60):
        now = float(second)
        transfer.moved("model", 10 * MEGABYTE if second < 30 else MEGABYTE)
    assert bar.told[-1][0].endswith(", 1.0 MB/s")


def test_what_is_fetched_again_is_counted_down() -> None:
    bar = Shown()
    transfer = Transfer(bar, 10 * MEGABYTE, 5 * MEGABYTE, lambda: 1.0)
    transfer.moved("model", -5 * MEGABYTE)
    assert bar.told == [("model  0 bytes of 10.0 MB", 0.0)]


def test_checking_is_told() -> None:
    bar = Shown()
    Transfer(bar, 1, 0, lambda: 1.0).checked("model", 0.5)
    assert bar.told == [("checking model", 0.5)]
