"""How far fetching is: bytes and speed on the progress line, a line a file where nobody watches."""

import time
from collections import deque
from collections.abc import Callable

from rich.filesize import decimal

from server.commands.bar import Bar

SPEED_SECONDS = 10.0  # the speed that is shown is that of the last seconds
REFRESH_SECONDS = 0.1


class Transfer:
    """Owner of the count of bytes of one run."""

    def __init__(self, bar: Bar, total: int, done: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = bar
        self._total = total
        self._done = done
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), done)])
        self._shown_at = 0.0

    def moved(self, name: str, count: int) -> None:
        """So many bytes of that file more, or fewer."""
        now = self._clock()
        self._done += count
        if now - self._shown_at < REFRESH_SECONDS and self._done < self._total:
            return
        self._shown_at = now
        self._seen.append((now, self._done))
        while now - self._seen[0][0] > SPEED_SECONDS and len(self._seen) > 2:
            self._seen.popleft()
        told = f"{name}  {decimal(max(self._done, 0))} of {decimal(self._total)}{self._speed(now)}"
        self._bar.report(told, self._done / max(self._total, 1))

    def checked(self, name: str, fraction: float) -> None:
        """How far the checking of a file is."""
        self._bar.report(f"checking {name}", fraction)

    def waiting(self, seconds: float, reason: str) -> None:
        """Nothing moves for so long, and why."""
        self._bar.waiting(seconds, reason)

    def _speed(self, now: float) -> str:
        since, before = self._seen[0]
        if now <= since or self._done <= before:
            return ""
        return f", {decimal(round((self._done - before) / (now - since)))}/s"
