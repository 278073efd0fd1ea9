"""Bounds on concurrent work at the HTTP edge: refuse at once, never wait."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from server.errors import (
    TooMany,
    TooManyDownloads,
    TooManyStreams,
    TooManySynchronous,
    TooManyUploads,
)

WORKERS: Final = 20
RESERVED_WORKERS: Final = 4
PREPARING: Final = 2
PREPARATIONS: Final = 32
LARGE_BODIES: Final = 16
AGENTS_GROUP: Final = "agents"  # of jobs in the queue
AGENT_JOBS: Final = 8  # of them that may be unfinished, whatever the queue still has room for
SYNCHRONOUS: Final = 8
DOWNLOADS: Final = 4
FOLLOWERS: Final = 16  # as long as their job runs, so that they must not keep others from results
UPLOADS: Final = 2
LOG_STREAMS: Final = 2
EVENT_STREAMS: Final = 64
WAITS: Final = 64
MAX_WAIT_SECONDS: Final = 45
MAX_NOTES: Final = 20
MAX_NOTE_CHARACTERS: Final = 500
CONNECTIONS: Final = 512
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
MAX_JSON_BYTES: Final = 2 * 1024 * 1024
MAX_MCP_BYTES: Final = 1024 * 1024  # one message of an agent's
MAX_MCP_VALUES: Final = 2000  # of them, in which a call has some thirty
MAX_REQUEST_PART_BYTES: Final = 1024 * 1024  # the JSON beside an upload
MAX_LATENT_BYTES: Final = 6 * 1024 * 1024  # 983.04 s, the longest song, of 64 float32 numbers a row
MAX_INPUT_BYTES: Final = 512 * 1024 * 1024  # uploads of all jobs together, waiting and running
SOCKET_SECONDS: Final = 15.0
BODY_SECONDS: Final = 300.0

Returned = TypeVar("Returned")


class Slots:
    """`total` places of one kind, taken and given back on the event loop only.

    Owner of the number that are held.
    """

    def __init__(self, total: int, what: str, refusal: type[TooMany]) -> None:
        self.total = total
        self.what = what
        self._refusal = refusal
        self._held = 0

    @property
    def held(self) -> int:
        """Places taken now."""
        return self._held

    @property
    def full(self) -> bool:
        """Whether no place is free now."""
        return self._held >= self.total

    def check(self) -> None:
        """Raise the kind's TooMany where no place is free now."""
        if self.full:
            raise self._refusal(self.what, self.total)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one place for a `with` block; raises the kind's TooMany at once where none is free."""
        self.check()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1


class Limits:
    """Every bound of one server, and the pool of workers that blocking calls run in."""

    def __init__(self, workers: int = WORKERS, reserved: int = RESERVED_WORKERS) -> None:
        self.workers_total = workers
        self._workers = anyio.CapacityLimiter(workers - reserved)
        self._reserved = anyio.CapacityLimiter(reserved)
        self._preparing = anyio.CapacityLimiter(PREPARING)
        # Submissions with a key are admitted one at a time; those that wait for their turn here hold no worker.
        self.keyed = anyio.CapacityLimiter(1)
        self.preparations = Slots(PREPARATIONS, "requests being checked", TooManyStreams)
        self.synchronous = Slots(SYNCHRONOUS, "synchronous requests", TooManySynchronous)
        self.downloads = Slots(DOWNLOADS, "downloads", TooManyDownloads)
        self.followers = Slots(FOLLOWERS, "those who follow a job", TooManyStreams)
        self.uploads = Slots(UPLOADS, "uploads", TooManyUploads)
        self.large_bodies = Slots(LARGE_BODIES, "large bodies", TooManyUploads)
        self.log_streams = Slots(LOG_STREAMS, "log streams", TooManyStreams)
        self.event_streams = Slots(EVENT_STREAMS, "event streams", TooManyStreams)
        self.waits = Slots(WAITS, "waiting requests", TooManyStreams)

    async def run(self, call: Callable[[], Returned]) -> Returned:
        """Run a blocking call in the pool; waits for a free worker, raises what the call raises."""
        return await anyio.to_thread.run_sync(call, limiter=self._workers)

    @asynccontextmanager
    async def preparing(self) -> AsyncIterator[None]:
        """A turn to read and check what a request asks for: few at a time, since it is all pure Python.

        Raises TooManyStreams at once where too many wait for theirs.
        """
        with self.preparations.slot():
            async with self._preparing:
                yield

    async def run_reserved(self, call: Callable[[], Returned]) -> Returned:
        """As `run`, on the workers kept for cancelling, deleting and giving back, which never wait behind other work."""
        return await anyio.to_thread.run_sync(call, limiter=self._reserved)
