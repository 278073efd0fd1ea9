"""One deadline on an event loop that can be held and go on, and how long a reader may take."""

import asyncio
from collections.abc import Callable
from typing import Final

# How many of its seconds a reader may save up. A receiver tells of room only by the lump, up to 128 KiB between two
# programs on one machine: at 4 KiB a second such a reader seems silent for 32 seconds.
SAVED: Final = 2.5


class Countdown:
    """Calls `ring` once, `seconds` after `start`, not counting the time it was held. Owner of its loop timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None
        self._left: float | None = None
        self._held = False

    @property
    def started(self) -> bool:
        """Whether it is under way, held or not."""
        return self._left is not None

    def start(self, seconds: float) -> None:
        """Begin anew; where it is held it stays so."""
        self._unset()
        self._left = seconds
        if not self._held:
            self._set(seconds)

    def stop(self) -> None:
        """Forget the deadline."""
        self._unset()
        self._left = None

    def hold(self) -> None:
        """Stand still."""
        if not self._held:
            self._held = True
            if self._timer is not None:
                self._left = max(0.0, self._timer.when() - self._loop.time())
                self._unset()

    def go_on(self) -> None:
        """Count on from where it stood."""
        if self._held:
            self._held = False
            if self._left is not None:
                self._set(self._left)

    def _set(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._end)

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._left = None
        self._ring()


class Pace:
    """Whether a client reads at `least_rate` bytes a second or more, on average.

    It has `seconds` to begin with, each byte taken earns it more, and it may save up SAVED times as many. Owner of
    its account; `taken` is how many bytes it has taken in all, `now` any clock's seconds.
    """

    def __init__(self, seconds: float, least_rate: float, now: float) -> None:
        self._most = SAVED * seconds
        self._least_rate = least_rate
        self._left = seconds
        self._taken = 0
        self._at = now

    def is_kept(self, taken: int, now: float) -> bool:
        """Whether it has time left."""
        earned = (taken - self._taken) / self._least_rate
        self._left = min(self._left - (now - self._at) + earned, self._most)
        self._taken, self._at = taken, now
        return self._left > 0
