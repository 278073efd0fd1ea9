"""Which job a call made not long ago, so that a retry of the call finds it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

MEMORY_SECONDS: Final = 15 * 60.0
MOST_CALLS: Final = 4096


@dataclass(slots=True)
class _Remembered:
    job_id: str
    seen_at: float  # monotonic seconds at which an attempt was last there
    attempts: int = 0  # that are there now


@dataclass(slots=True)
class _Claim:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class RecentCalls:
    """Calls by their fingerprints: the job of each, for 15 minutes after its last attempt has ended.

    Owner of that memory, of at most `most` calls, those longest ago forgotten first, and of one lock for each
    fingerprint that is being looked up. Lives on the event loop.
    """

    def __init__(
        self, monotonic: Callable[[], float], seconds: float = MEMORY_SECONDS, most: int = MOST_CALLS
    ) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._most = most
        self._calls: dict[str, _Remembered] = {}
        self._claims: dict[str, _Claim] = {}

    def __len__(self) -> int:
        return len(self._calls)

    @asynccontextmanager
    async def claimed(self, fingerprint: str) -> AsyncIterator[None]:
        """From the look-up to the registration of a call, one request with its fingerprint at a time."""
        claim = self._claims.setdefault(fingerprint, _Claim())
        claim.users += 1
        try:
            async with claim.lock:
                yield
        finally:
            claim.users -= 1
            if not claim.users:
                del self._claims[fingerprint]

    def find(self, fingerprint: str) -> str | None:
        """The job of the call, None where there is none or it was too long ago."""
        call = self._calls.get(fingerprint)
        if call is None or not self._is_young(call):
            return None
        return call.job_id

    def remember(self, fingerprint: str, job_id: str) -> None:
        """The call has made this job; an earlier one's is forgotten."""
        self._calls.pop(fingerprint, None)
        self._calls[fingerprint] = _Remembered(job_id, self._monotonic())
        self._make_room()

    @contextmanager
    def attempt(self, fingerprint: str, job_id: str) -> Iterator[None]:
        """While an attempt at the call is there, and for the whole time after it, the call is not forgotten."""
        call = self._calls.get(fingerprint)
        if call is None or call.job_id != job_id:
            yield
            return
        call.attempts += 1
        try:
            yield
        finally:
            call.attempts -= 1
            call.seen_at = self._monotonic()
            if (
                self._calls.get(fingerprint) is call
            ):  # to the end of the line, which is in the order of these times
                self._calls[fingerprint] = self._calls.pop(fingerprint)

    def forget(self, job_id: str) -> None:
        """The job was given up: a later attempt makes a new one."""
        for fingerprint in [name for name, call in self._calls.items() if call.job_id == job_id]:
            del self._calls[fingerprint]

    def _is_young(self, call: _Remembered) -> bool:
        return call.attempts > 0 or self._monotonic() - call.seen_at <= self._seconds

    def _make_room(self) -> None:
        """Forget what is too old, and the oldest where there are too many."""
        for fingerprint, call in list(self._calls.items()):
            if len(self._calls) <= self._most and self._is_young(call):
                return
            if call.attempts == 0:
                del self._calls[fingerprint]
