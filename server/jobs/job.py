"""A job, what its work sees of the queue, and what readers see of it."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from enum import StrEnum

from server.jobs.errors import JobCancelled, JobInterrupted
from server.jobs.rates import Estimate, RateBook, Stage
from server.jobs.tracker import StageTracker

LOADING = "loading"
"""The phase in which a model's weights come into memory."""

log = logging.getLogger(__name__)


class JobState(StrEnum):
    """queued → running → done | failed | cancelled; a queued job may also be cancelled or failed at once."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class JobView:
    """A copy of what a job was at one moment.

    `queue_position` counts from 1 while queued and is 0 otherwise. `eta_seconds` is the time until the job will be
    done, everything ahead included; None (and an empty `eta_source`) once it has ended. Times are epoch seconds.
    """

    id: str
    operation: str
    model: str
    owner: str
    state: JobState
    queue_position: int
    phase: str
    progress: float
    counters: Mapping[str, int]
    eta_seconds: float | None
    eta_source: str
    created_at: float
    started_at: float | None
    finished_at: float | None
    cancel_requested: bool
    code: str
    error: str
    notes: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Job:
    """One unit of work, its outcome and how far it is.

    The fields from `state` on are owned by the condition of the queue that admitted the job, except `last_progress_at`
    (monotonic seconds), which only the working thread writes. `finished` is running from birth, so that a waiter who
    leaves cannot cancel it; it gets the final state exactly once, after all other fields are set. `context` is that of
    whoever made the job: the worker runs it there, so that what is logged meanwhile bears the same request's id.
    `rates_id` is the name under which the model's speed is learnt, where that is not the model's own; `notes` are
    sentences for whoever asked, known before the work begins; `input_bytes` is the size of what was uploaded for it;
    `group` names those of whom the queue holds only so many at once, empty for none.
    """

    id: str
    operation: str
    model: str
    owner: str
    created_at: float
    stages: tuple[Stage, ...]
    work: "Work"
    rates_id: str = ""
    notes: tuple[str, ...] = ()
    input_bytes: int = 0
    group: str = ""
    state: JobState = field(default=JobState.QUEUED, init=False)
    released: bool = field(default=False, init=False)
    started_at: float | None = field(default=None, init=False)
    finished_at: float | None = field(default=None, init=False)
    cancel_requested: bool = field(default=False, init=False)
    interrupted: bool = field(default=False, init=False)
    last_progress_at: float = field(default=0.0, init=False)
    code: str = field(default="", init=False)
    error: str = field(default="", init=False)
    tracker: StageTracker = field(init=False)
    context: Context = field(default_factory=copy_context, init=False)
    finished: Future[JobState] = field(default_factory=Future, init=False)

    def __post_init__(self) -> None:
        self.tracker = StageTracker(self.rates_id or self.model, self.stages)
        self.finished.set_running_or_notify_cancel()

    def start(self, at: float, now: float) -> None:
        """Queued → running, at epoch second `at`, monotonic second `now`."""
        self.state, self.started_at, self.last_progress_at = JobState.RUNNING, at, now
        self.tracker.start(now)

    def end(self, state: JobState, at: float, code: str = "", error: str = "") -> None:
        """Into a final state; lets go of the work and so of the inputs of the request."""
        self.state, self.finished_at, self.code, self.error = state, at, code, error
        self.work = spent

    def view(self, position: int = 0, eta: Estimate | None = None) -> JobView:
        """A copy for readers; under the queue's condition until the job has ended."""
        return JobView(
            id=self.id,
            operation=self.operation,
            model=self.model,
            owner=self.owner,
            state=self.state,
            queue_position=position,
            phase=self.tracker.phase,
            progress=self.tracker.share,
            counters=dict(self.tracker.counters),
            eta_seconds=None if eta is None else eta.seconds,
            eta_source="" if eta is None else eta.source,
            created_at=self.created_at,
            started_at=self.started_at,
            finished_at=self.finished_at,
            cancel_requested=self.cancel_requested,
            code=self.code,
            error=self.error,
            notes=self.notes,
        )


class JobControl:
    """How running work hears of cancellation and tells of progress; satisfies the engine's `Control`.

    Made by the queue for the job it gave out; called from the working thread only.
    """

    def __init__(
        self,
        job: Job,
        lock: threading.Condition,
        rates: RateBook,
        monotonic: Callable[[], float],
        tell: Callable[[str], None],
    ) -> None:
        self._job = job
        self._lock = lock
        self._rates = rates
        self._monotonic = monotonic
        self._tell = tell

    def check_cancelled(self) -> None:
        """Raise JobCancelled if the user wants the job to stop, JobInterrupted if the server does."""
        # Without the lock: both flags only ever turn true, and this runs between single tokens.
        self._job.last_progress_at = self._monotonic()
        if self._job.cancel_requested:
            raise JobCancelled
        if self._job.interrupted:
            raise JobInterrupted

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Say that `fraction` (0 to 1) of `phase` is done; counters are raw numbers and start anew in each phase."""
        now = self._monotonic()
        self._job.last_progress_at = now
        with self._lock:
            has_loaded = self._job.tracker.phase == LOADING != phase
            worth_telling = self._job.tracker.advance(self._rates, phase, fraction, counters, now)
        if has_loaded:
            log.info("Job %s… has loaded weights of %s.", self._job.id[:6], self._job.model)
        if worth_telling:
            self._tell(self._job.id)

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        """Correct the size of the current or a coming phase, such as the length of a song once it is planned."""
        with self._lock:
            self._job.tracker.expect(self._rates, phase, units, source)


Work = Callable[[JobControl], Mapping[str, object] | None]
"""What a job does, publication included; returns numbers for the log, raises to fail."""


def spent(control: JobControl) -> None:
    """What stands in the place of work that is over."""
