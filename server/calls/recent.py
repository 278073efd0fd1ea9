"""Which job a call made not long ago, so that a retry of the call finds it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from server.calls.repetition import Attempt
from server.calls.turned_away import TurnedAway

MEMORY_SECONDS: Final = 15 * 60.0
MOST_CALLS: Final = 4096


@dataclass(slots=True)
class Remembered:
    """A call: its job, the attempt that made it, whether it was answered in full, whether it was given up."""

    job_id: str
    maker: Attempt
    seen_at: float  # monotonic seconds at which an attempt was last there
    attempts: int = 0  # that are there now
    is_answered: bool = False
    is_given_up: bool = False


@dataclass(slots=True)
class _Claim:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class RecentCalls:
    """Calls by their fingerprints: the job of each, for 15 minutes after its last attempt has ended.

    Owner of that memory, of at most `most` calls, those longest ago forgotten first, of one lock for each fingerprint
    that is being looked up, of the numbers of requests and of `turned_away`. Lives on the event loop.
    """

    def __init__(
        self, monotonic: Callable[[], float], seconds: float = MEMORY_SECONDS, most: int = MOST_CALLS
    ) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._most = most
        self._calls: dict[str, Remembered] = {}
        self._came = 0
        self.turned_away: Final = TurnedAway(monotonic, seconds, most)
        self._claims: dict[str, _Claim] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def come(self) -> int:
        """The number of a request that has come."""
        self._came += 1
        return self._came

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

    def find(self, fingerprint: str) -> Remembered | None:
        """The latest call that sent this, None where there is none or it was too long ago."""
        call = self._calls.get(fingerprint)
        return call if call is not None and self._is_young(call) else None

    def remember(self, fingerprint: str, job_id: str, maker: Attempt) -> None:
        """This attempt has made this job; an earlier call's is forgotten."""
        self._calls.pop(fingerprint, None)
        self._calls[fingerprint] = Remembered(job_id, maker, self._monotonic())
        self._make_room()

    def answered(self, fingerprint: str, job_id: str) -> None:
        """An attempt at the call was answered in full."""
        call = self._calls.get(fingerprint)
        if call is not None and call.job_id == job_id:
            call.is_answered = True

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
            # To the end of the line, which is in the order of these times.
            if self._calls.get(fingerprint) is call:
                self._calls[fingerprint] = self._calls.pop(fingerprint)

    def give_up(self, job_id: str) -> None:
        """The job was given up: a later attempt makes a new one, unless it was done all the same."""
        for call in self._calls.values():
            if call.job_id == job_id:
                call.is_given_up = True

    def _is_young(self, call: Remembered) -> bool:
        return call.attempts > 0 or self._monotonic() - call.seen_at <= self._seconds

    def _make_room(self) -> None:
        """Forget what is too old, and the oldest where there are too many."""
        for fingerprint, call in list(self._calls.items()):
            if len(self._calls) <= self._most and self._is_young(call):
                return
            if call.attempts == 0:
                del self._calls[fingerprint]
