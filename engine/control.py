"""How running work hears of cancellation and tells of progress."""

from collections.abc import Callable
from typing import Protocol

Check = Callable[[], None]  # `Control.check_cancelled` alone, for work that has no progress to tell


def unchecked() -> None:
    """A check for work that nobody stops."""


class Control(Protocol):
    """The caller's side of running work; called from the working thread only."""

    def check_cancelled(self) -> None:
        """Raise the caller's own error where the work is to stop; called at least every 100 ms of work."""

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Say that `fraction` (0 to 1) of `phase` is done; counters are raw numbers such as bars or tokens."""

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        """Correct the size of the current or a coming phase; `source` as in `engine.song_model.Expected`."""


class Uncontrolled:
    """A control for work that nobody watches or stops."""

    def check_cancelled(self) -> None:
        """Never stop."""

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Tell nobody."""

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        """Estimate nothing."""
