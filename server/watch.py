"""Who waits for which job: news from any thread, delivered on the event loop."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from server.jobs.serial_queue import EVERYONE


class Watch:
    """Owner of the waiters, which live on the event loop; `notify` may be called from any thread.

    Wake-ups are coalesced: however many notices come before the loop runs, it is woken once.
    """

    def __init__(self) -> None:
        self._waiters: dict[str, set[asyncio.Event]] = {}
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver on this loop from now on; notices before that are dropped, since nobody waits yet."""
        with self._lock:
            self._loop = loop

    def unbind(self) -> None:
        """Stop delivering, before the loop closes."""
        with self._lock:
            self._loop = None

    def notify(self, job_id: str = EVERYONE) -> None:
        """Say that a job has changed, or all of them."""
        with self._lock:
            if self._loop is None:
                return
            asleep = not self._changed
            self._changed.add(job_id)
            if asleep:
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        with self._lock:
            changed, self._changed = self._changed, set()
        wanted = list(self._waiters) if EVERYONE in changed else [id for id in changed if id in self._waiters]
        for job_id in wanted:
            for event in self._waiters[job_id]:
                event.set()

    @contextmanager
    def subscribe(self, job_id: str) -> Iterator[asyncio.Event]:
        """An event set at each change of the job; clear it before looking, or a change may be missed."""
        event = asyncio.Event()
        self._waiters.setdefault(job_id, set()).add(event)
        try:
            yield event
        finally:
            self._waiters[job_id].discard(event)
            if not self._waiters[job_id]:
                del self._waiters[job_id]
