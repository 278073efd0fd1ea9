"""The one thread that does the work."""

import gc
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from server.jobs.containment import contained, outline, release_frames
from server.jobs.errors import INTERRUPTED_CODE, INTERRUPTED_MESSAGE, JobCancelled, JobInterrupted
from server.jobs.job import Job, JobControl, JobState, Work
from server.jobs.serial_queue import SerialQueue

log = logging.getLogger(__name__)

Ending = tuple[JobState, str, str]
"""A final state, the code of an error and the sentence about it; both empty unless failed."""

UNCLASSIFIED: Ending = (
    JobState.FAILED,
    "engine_error",
    "The job failed in an unexpected way; try it again, and see the server's log if it fails again.",
)


@dataclass(frozen=True, slots=True)
class Rest:
    """What to do when there has been no job for so many seconds (None: never), and when the thread ends.

    `tidy` follows where the thread goes on.
    """

    after_seconds: float | None
    unload: Callable[[], object]
    tidy: Callable[[], object] = gc.collect


class Worker:
    """Takes jobs from the queue one after the other and brings each to its end; no job ends the thread.

    A job whose work returns is done, whatever was asked meanwhile; a cancelled or interrupted one says so itself; for
    any other exception `outcome` tells the ending. `loggable` gives the sentence of an error that explains itself and may
    be logged, empty for any other. `before_settle(job, state, code, error)` is called before every
    ending is visible (done ones too), so that it can be recorded first; should it fail, the job is settled all the
    same. `between_jobs` follows each job, when nothing refers to its inputs any more; `rest` comes once after the last
    of several jobs.

    The thread is a daemon: a native call that never returns cannot keep the process from ending.
    """

    def __init__(
        self,
        queue: SerialQueue,
        outcome: Callable[[BaseException], Ending],
        before_settle: Callable[[Job, JobState, str, str], object],
        *,
        loggable: Callable[[BaseException], str] = lambda error: "",
        between_jobs: Callable[[], object] = gc.collect,
        rest: Rest | None = None,
    ) -> None:
        self._queue = queue
        self._outcome = outcome
        self._before_settle = before_settle
        self._loggable = loggable
        self._between_jobs = between_jobs
        self._rest = rest
        self._thread = threading.Thread(target=self._work_off, name="worker", daemon=True)

    def start(self) -> None:
        """Begin to take jobs; once."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def stop(self, deadline_seconds: float) -> bool:
        """Wait for the thread, after the queue was closed; False where it is still in its job at the deadline."""
        if self.alive:
            self._thread.join(deadline_seconds)
        return not self.alive

    def _work_off(self) -> None:
        worked = False
        while not self._queue.closed:
            job = self._queue.take(self._rest.after_seconds if self._rest and worked else None)
            if job is not None:
                job.context.run(self._perform, job)
                del job
                _logged("Tidying up between jobs", self._between_jobs)
                worked = True
            elif worked and self._rest is not None and not self._queue.closed:
                self._unload()
                _logged("Tidying up after it", self._rest.tidy)
                worked = False
        if worked:
            self._unload()

    def _unload(self) -> None:
        if self._rest is not None and _logged("Unloading what is idle", self._rest.unload):
            log.info(
                "The models have given their memory back; the next job that needs them loads them again."
            )

    def _perform(self, job: Job) -> None:
        run = _Run(job.work, self._queue.control(job))
        error = contained(run)
        state, code, message = self._ending(error)
        name = f"Job {job.id[:6]}… ({job.operation})"
        if error is None:
            log.info("%s is done. %s", name, dict(run.numbers))
        else:
            _log_end(name, state, code, error, self._loggable(error))
            release_frames(error)
        _logged("Recording an ended job", partial(self._before_settle, job, state, code, message))
        self._queue.settle(job, state, code, message)

    def _ending(self, error: BaseException | None) -> Ending:
        match error:
            case None:
                return JobState.DONE, "", ""
            case JobCancelled():
                return JobState.CANCELLED, "", ""
            case JobInterrupted():
                return JobState.FAILED, INTERRUPTED_CODE, INTERRUPTED_MESSAGE
        endings: list[Ending] = []
        _logged("Classifying an error", lambda: endings.append(self._outcome(error)))
        return endings[0] if endings else UNCLASSIFIED


@dataclass(slots=True)
class _Run:
    """One call of a job's work, with the numbers it returned."""

    work: Work
    control: JobControl
    numbers: Mapping[str, object] = field(default_factory=dict)

    def __call__(self) -> None:
        self.numbers = self.work(self.control) or {}


def _log_end(name: str, state: JobState, code: str, error: BaseException, sentence: str) -> None:
    """One line for an end that can be expected or explains itself; the lines of code as well for one that does not."""
    if state is JobState.CANCELLED:
        log.info("%s was cancelled.", name)
    elif code == UNCLASSIFIED[1] and sentence:
        log.error("%s failed: %s", name, sentence)
        log.debug("%s failed: %s", name, outline(error))
    elif code == UNCLASSIFIED[1]:
        log.error("%s failed: %s", name, outline(error))
    else:
        log.warning("%s failed: %s.", name, code)


def _logged(what: str, call: Callable[[], object]) -> bool:
    """Whether the call returned; what it raised is logged."""
    error = contained(call)
    if error is not None:
        log.error("%s failed: %s", what, outline(error))
    return error is None
