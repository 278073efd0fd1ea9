"""The bounded queue before the one worker."""

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from server.jobs.containment import contained, outline
from server.jobs.errors import (
    INTERRUPTED_CODE,
    INTERRUPTED_MESSAGE,
    GroupFull,
    InputsFull,
    QueueClosed,
    QueueFull,
    UnknownJob,
)
from server.jobs.job import LOADING, Job, JobControl, JobState, JobView
from server.jobs.lineup import Lineup
from server.jobs.rates import Estimate, RateBook, total

log = logging.getLogger(__name__)

EVERYONE = ""
"""What `on_change` is called with when any waiting job may have moved."""


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """The queue at one moment; no job's id or content.

    `pending` counts the active job, the `queued` ones and those admitted but not yet released. The four counters
    run from the start of the process; `failed` includes jobs that a closing queue turned out. `grouped` counts the
    pending jobs of each group that has any.
    """

    limit: int
    pending: int
    active: int
    queued: int
    available: int
    accepting: bool
    rejected: int
    completed: int
    failed: int
    cancelled: int
    active_operation: str | None
    grouped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkerView:
    """What the worker does: `idle`, `running`, `loading` a model, or `stalled`; the rest is None while idle."""

    state: str
    phase: str | None
    seconds_since_progress: float | None


def _nobody(id: str) -> None:
    """Tell nobody."""


class SerialQueue:
    """Admits at most `limit` jobs, the running one included, and gives them out one at a time in admission order.

    All of them together may hold `most_input_bytes` of uploads, and those of a group in `group_limits` only as many
    places as it says.

    Owns its jobs' mutable fields through one condition; every method may be called from any thread. `on_change` is
    called outside the condition, by whatever thread made the change: with a job's id where that job changed, with
    `EVERYONE` where positions of waiting jobs moved. It should not block; what it raises is logged, no more.
    """

    def __init__(
        self,
        limit: int,
        clock: Callable[[], float] = time.time,
        on_change: Callable[[str], object] = _nobody,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        rates: RateBook | None = None,
        stalled_after_seconds: float = 60.0,
        most_input_bytes: int = sys.maxsize,
        group_limits: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        if limit < 1:
            raise ValueError("A queue needs at least one place; raise its limit.")
        self._limit = limit
        self._clock = clock
        self._tell = partial(_tell, on_change)
        self._monotonic = monotonic
        self._rates = RateBook() if rates is None else rates
        self._stalled_after_seconds = stalled_after_seconds
        self._most_input_bytes = most_input_bytes
        self._group_limits = dict(group_limits)
        self._changed = threading.Condition(threading.Lock())
        self._lineup = Lineup()
        self._closed = False
        self._rejected = 0
        self._ended = {JobState.DONE: 0, JobState.FAILED: 0, JobState.CANCELLED: 0}
        self._publish()

    def check_admitting(self, input_bytes: int = 0, group: str = "") -> None:
        """QueueFull, GroupFull, InputsFull or QueueClosed where `admit` would refuse now; reserves and counts nothing."""
        if self._closed:
            raise QueueClosed
        if not self._snapshot.accepting:
            raise QueueFull(self._limit)
        places = self._group_limits.get(group, self._limit)
        if self._snapshot.grouped.get(group, 0) >= places:
            raise GroupFull(places, group)
        if input_bytes > self._most_input_bytes - self._input_bytes:
            raise InputsFull(self._most_input_bytes)

    def admit(self, job: Job) -> None:
        """Reserve a slot; the job then waits for `release` or `withdraw`.

        QueueFull, GroupFull, InputsFull, QueueClosed; ValueError where a job of that id is held.
        """
        with self._changed:
            self.check_admitting(job.input_bytes, job.group)
            self._lineup.add(job)
            self._publish()

    def release(self, id: str) -> int:
        """Let an admitted job be taken; its position, from 1.

        UnknownJob where it was cancelled meanwhile; QueueClosed where the queue was closed meanwhile (the job is
        still to be withdrawn then).
        """
        with self._changed:
            job = self._lineup.waiting(id)
            if job is None:
                raise UnknownJob(id)
            if self._closed:
                raise QueueClosed
            job.released = True
            position = self._lineup.position(job)
            pushed_others = position < self._lineup.queued
            self._publish()
            self._changed.notify_all()
        self._tell(id, pushed_others)
        return position

    def withdraw(self, id: str) -> None:
        """Undo an admission before its release: the job never was. Does nothing where no such job is held."""
        with self._changed:
            job = self._lineup.waiting(id)
            if job is None or job.released:
                return
            self._lineup.remove(job)
            job.end(JobState.CANCELLED, self._clock())
            self._publish()
        job.finished.set_result(JobState.CANCELLED)

    def reject(self) -> None:
        """Count one refused submission."""
        with self._changed:
            self._rejected += 1
            self._publish()

    @property
    def closed(self) -> bool:
        """Whether it gives out no more; only ever turns true."""
        return self._closed

    def take(self, patience_seconds: float | None = None) -> Job | None:
        """The next released job, now running; blocks until there is one and no other runs.

        None once closed, and where there was none for so many seconds.
        """
        with self._changed:
            job = self._next(patience_seconds)
            if job is None:
                return None
            self._lineup.remove(job)
            self._lineup.active = job
            job.start(self._clock(), self._monotonic())
            moved_others = self._lineup.queued > 0
            self._publish()
        self._tell(job.id, moved_others)
        return job

    def _next(self, patience_seconds: float | None) -> Job | None:
        """The job to run next, under the condition, which is let go while there is none."""
        until = None if patience_seconds is None else self._monotonic() + patience_seconds
        while self._lineup.active is not None or (job := self._lineup.first_released()) is None:
            left = None if until is None else until - self._monotonic()
            if self._closed or (left is not None and left <= 0):
                return None
            self._changed.wait(left)
        return job

    def control(self, job: Job) -> JobControl:
        """What the work of a taken job is to be called with."""
        return JobControl(job, self._changed, self._rates, self._monotonic, self._tell)

    def cancel(self, id: str) -> JobState:
        """End a waiting job at once (CANCELLED) or ask the running one to stop (RUNNING); UnknownJob."""
        with self._changed:
            active = self._lineup.active
            if active is not None and active.id == id:
                active.cancel_requested = True
                job, moved_others = active, False
            else:
                job, moved_others = self._remove_cancelled(id)
            state = job.state
        if state is JobState.CANCELLED:
            job.finished.set_result(state)
        self._tell(id, moved_others)
        return state

    def settle(self, job: Job, state: JobState, code: str = "", error: str = "") -> None:
        """End the running job as DONE, FAILED or CANCELLED, count it and forget it; UnknownJob where it does not run."""
        with self._changed:
            if job is not self._lineup.active:
                raise UnknownJob(job.id)
            self._ended[state] += 1
            if state is JobState.DONE:
                job.tracker.finish(self._rates, self._monotonic())
            job.end(state, self._clock(), code, error)
            self._lineup.active = None
            self._publish()
            self._changed.notify_all()
        job.finished.set_result(state)
        self._tell(job.id)

    def view(self, id: str) -> JobView:
        """The job of that id, waiting or running; UnknownJob."""
        with self._changed:
            now = self._monotonic()
            ahead = []
            for job in self._lineup:
                ahead.append(job.tracker.remaining(self._rates, now))
                if job.id == id:
                    return job.view(self._lineup.position(job), total(ahead))
        raise UnknownJob(id)

    def backlog(self) -> Estimate:
        """The time until all jobs that are held now will be done, and so until one that came now would begin."""
        with self._changed:
            now = self._monotonic()
            return total([job.tracker.remaining(self._rates, now) for job in self._lineup])

    def running(self) -> Estimate:
        """The time until the active job will be done; none where there is no active one."""
        with self._changed:
            job, now = self._lineup.active, self._monotonic()
            return total([job.tracker.remaining(self._rates, now)] if job is not None else [])

    def snapshot(self) -> QueueSnapshot:
        """The counts after the last change; never waits."""
        return self._snapshot

    def worker_view(self) -> WorkerView:
        """What the worker does now; never waits."""
        job = self._lineup.active
        if job is None:
            return WorkerView("idle", None, None)
        idle_seconds = max(0.0, self._monotonic() - job.last_progress_at)
        phase = job.tracker.phase
        if phase == LOADING:
            return WorkerView("loading", phase, idle_seconds)
        stalled = idle_seconds >= self._stalled_after_seconds
        return WorkerView("stalled" if stalled else "running", phase, idle_seconds)

    def close(self) -> tuple[Job, ...]:
        """Admit and give out no more, ask the running job to stop, and end the waiting ones as failed.

        Returns the jobs ended so, for the caller to record. Those admitted but not released are left to whoever is
        about to release them. Closing again does nothing.
        """
        with self._changed:
            self._closed = True
            removed = self._lineup.close()
            now = self._clock()
            for job in removed:
                job.end(JobState.FAILED, now, INTERRUPTED_CODE, INTERRUPTED_MESSAGE)
            self._ended[JobState.FAILED] += len(removed)
            self._publish()
            self._changed.notify_all()
        for job in removed:
            job.finished.set_result(JobState.FAILED)
            self._tell(job.id)
        return removed

    def _remove_cancelled(self, id: str) -> tuple[Job, bool]:
        """Cancel a waiting job, under the condition; the job, and whether others moved up."""
        job = self._lineup.waiting(id)
        if job is None:
            raise UnknownJob(id)
        moved_others = job.released and self._lineup.position(job) < self._lineup.queued
        self._lineup.remove(job)
        job.end(JobState.CANCELLED, self._clock())
        self._ended[JobState.CANCELLED] += 1
        self._publish()
        return job, moved_others

    def _publish(self) -> None:
        """Replace the snapshot; under the condition."""
        active, pending = self._lineup.active, len(self._lineup)
        self._input_bytes = sum(job.input_bytes for job in self._lineup)
        self._snapshot = QueueSnapshot(
            limit=self._limit,
            pending=pending,
            active=self._lineup.running,
            queued=self._lineup.queued,
            available=self._limit - pending,
            accepting=not self._closed and pending < self._limit,
            rejected=self._rejected,
            completed=self._ended[JobState.DONE],
            failed=self._ended[JobState.FAILED],
            cancelled=self._ended[JobState.CANCELLED],
            active_operation=None if active is None else active.operation,
            grouped=MappingProxyType(Counter(job.group for job in self._lineup if job.group)),
        )


def _tell(on_change: Callable[[str], object], id: str, moved_others: bool = False) -> None:
    for changed in (id, EVERYONE) if moved_others else (id,):
        error = contained(partial(on_change, changed))
        if error is not None:
            log.error("A watcher of the queue failed: %s", outline(error))
