"""Who waits for which synchronous job, and when one for which nobody waits is given up."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

PATIENCE_SECONDS: Final = 20.0


class Timer(Protocol):
    """A call to come that can be taken back."""

    def cancel(self) -> None:
        """Take it back."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Has something called after so many seconds, on the event loop."""

Abandon = Callable[[str, str], Coroutine[None, None, None]]
"""Gives up a job of an owner: cancels it at once, if it has not ended, and then writes that down."""


def on_the_loop(seconds: float, call: Callable[[], None]) -> Timer:
    """Have `call` called by the running loop."""
    return asyncio.get_running_loop().call_later(seconds, call)


@dataclass(slots=True)
class _Attended:
    owner: str
    clients: int = 0
    timer: Timer | None = None

    def stay(self) -> None:
        """Stop the time that runs."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Attendance:
    """Jobs that synchronous calls have made and whose clients are all that asks for them.

    Such a job is given up 20 s after the last of its clients has gone without an answer, unless one comes back. It is
    no longer such a job once its handle was used, or a client was answered with it.

    Owner of the counts, of the timers and of the tasks that give jobs up. Lives on the event loop.
    """

    def __init__(
        self, abandon: Abandon, later: Later = on_the_loop, seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._abandon = abandon
        self._later = later
        self._seconds = seconds
        self._jobs: dict[str, _Attended] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def expect(self, job_id: str, owner: str) -> None:
        """A synchronous call has made this job; its client `attend`s at once."""
        if not self._closed:
            self._jobs[job_id] = _Attended(owner)

    @contextmanager
    def attend(self, job_id: str) -> Iterator[None]:
        """A client waits for the job, while the block lasts; of a job that nobody gives up nothing is kept."""
        job = self._jobs.get(job_id)
        if job is None:
            yield
            return
        job.clients += 1
        job.stay()
        try:
            yield
        finally:
            job.clients -= 1
            if job.clients == 0 and self._jobs.get(job_id) is job:
                job.timer = self._later(self._seconds, lambda: self._due(job_id))

    def answered(self, job_id: str) -> None:
        """A client has its answer, which told it of the job: it is never given up."""
        self.use(job_id)

    def use(self, job_id: str) -> None:
        """Somebody has used the job's handle: it is never given up."""
        job = self._jobs.pop(job_id, None)
        if job is not None:
            job.stay()

    async def close(self) -> None:
        """Give up no more, and wait for those that are being given up. Safe to repeat."""
        self._closed = True
        for job_id in list(self._jobs):
            self.use(job_id)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _due(self, job_id: str) -> None:
        job = self._jobs.pop(job_id)
        task = asyncio.ensure_future(self._abandon(job_id, job.owner))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
