"""One logical call's waiting: how often it was refused or broken off, and when to give up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from server.client.backoff import reconnect_delay, refusal_delay
from server.client.errors import Unreachable

OnWait = Callable[[float, str], None]  # (seconds, reason), called before each wait; may raise to stop waiting


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time and chance, as the caller gives them."""

    clock: Callable[[], float]  # seconds, never going back
    sleep: Callable[[float], None]
    random: Callable[[], float]  # in [0, 1)


class Patience:
    """Owner of the counts of one call. A busy server is waited for without end, an absent one for `limit_seconds`."""

    def __init__(self, surroundings: Surroundings, limit_seconds: float, on_wait: OnWait) -> None:
        self._surroundings = surroundings
        self._limit_seconds = limit_seconds
        self._on_wait = on_wait
        self._refusals = 0
        self._failures = 0
        self._broken_since: float | None = None

    def refused(self, retry_after_seconds: float, reason: str) -> None:
        """Wait after the server asked for patience."""
        self.connected()
        self._refusals += 1
        self._wait(refusal_delay(self._refusals, retry_after_seconds, self._surroundings.random()), reason)

    def broken(self, reason: str) -> None:
        """Wait after a broken connection; Unreachable once that has gone on for too long."""
        now = self._surroundings.clock()
        if self._broken_since is None:
            self._broken_since = now
        if now - self._broken_since >= self._limit_seconds:
            tried = f" Gave up after {self._limit_seconds:.0f} seconds." if self._failures else ""
            self.absent(f"{reason}{tried}")
        self._failures += 1
        self._wait(reconnect_delay(self._failures, self._surroundings.random()), reason)

    def absent(self, reason: str) -> NoReturn:
        """Give up without a wait: Unreachable."""
        raise Unreachable(f"{reason} Is the server running?")

    def connected(self) -> None:
        """The server was heard: an absence that begins after this is a new one."""
        self._failures = 0
        self._broken_since = None

    def _wait(self, seconds: float, reason: str) -> None:
        self._on_wait(seconds, reason)
        self._surroundings.sleep(seconds)
