"""The parts of one server, put together: who owns what, and in which order they start and stop."""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.access import Keys, load_secret
from server.admission import Gate
from server.agents.artifacts import open_artifacts
from server.agents.links import ArtifactLinks
from server.calls.attendance import Attendance
from server.calls.giving_up import giving_up
from server.calls.recent import RecentCalls
from server.errors import RESULTS_ADVICE, job_outcome, loggable
from server.job_book import JobBook
from server.jobs.garbage import Garbage
from server.jobs.job import Job, JobState
from server.jobs.rates import RateBook
from server.jobs.serial_queue import SerialQueue
from server.jobs.worker import Rest, Worker
from server.limits import AGENT_JOBS, AGENTS_GROUP, MAX_INPUT_BYTES, Limits
from server.log_ring import LogRing
from server.metrics import Metrics
from server.rates_file import load_rates
from server.settings import MAX_FILE_BYTES, Settings
from server.status import StatusBoard
from server.watch import Watch
from storage.budget import Budget
from storage.entry import Entry
from storage.store import ResultStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything one server is made of. Frozen: each part owns its own state."""

    settings: Settings
    keys: Keys
    rates: RateBook
    queue: SerialQueue
    store: ResultStore
    artifacts: ResultStore
    watch: Watch
    limits: Limits
    book: JobBook
    gate: Gate
    agent_gate: Gate
    links: ArtifactLinks
    recent: RecentCalls
    attendance: Attendance
    worker: Worker
    board: StatusBoard
    metrics: Metrics
    log_ring: LogRing


def draw_job_id() -> str:
    """16 hexadecimal digits that nobody can guess: the id is the capability to the job."""
    return secrets.token_hex(8)


def nothing_to_unload() -> None:
    """What a server without models does when it is idle."""


def assemble(
    settings: Settings,
    log_ring: LogRing,
    clock: Callable[[], float] = time.time,
    unload: Callable[[], object] = nothing_to_unload,
) -> Parts:
    """Make the parts over the output folder, which the caller has locked; recover what an earlier process left.

    `unload` is called on the working thread when it has been idle for as long as the settings say, and at its end.
    Raises DiskFull and OSError where the folder cannot be used.
    """
    budget = Budget(settings.result_max_bytes, settings.result_max_files, MAX_FILE_BYTES, RESULTS_ADVICE)
    watch = Watch()
    store = ResultStore(settings.result_dir, budget, settings.result_ttl_seconds, clock, watch.notify)
    artifacts = open_artifacts(settings, clock, watch.notify)
    leftovers = store.recover() + artifacts.recover()
    rates = load_rates(settings.data_directory)
    queue = SerialQueue(
        settings.queue_limit,
        clock,
        watch.notify,
        rates=rates,
        most_input_bytes=MAX_INPUT_BYTES,
        group_limits={AGENTS_GROUP: AGENT_JOBS},
    )
    limits = Limits()
    book = JobBook(queue, (store, artifacts), clock)
    _interrupt(book, leftovers)
    board = StatusBoard(queue, store, artifacts, limits)
    metrics = Metrics(board)
    garbage = Garbage()
    worker = Worker(
        queue,
        job_outcome,
        _settling(book, metrics, clock),
        loggable=loggable,
        between_jobs=garbage.collect,
        rest=Rest(settings.idle_unload_seconds or None, unload, garbage.collect_all),
    )
    recent = RecentCalls(time.monotonic)
    attendance = Attendance(giving_up(book, limits, recent))
    secret = load_secret(settings.data_directory, secrets.token_bytes)
    return Parts(
        settings=settings,
        keys=Keys(settings.api_keys, secret),
        rates=rates,
        queue=queue,
        store=store,
        artifacts=artifacts,
        watch=watch,
        limits=limits,
        book=book,
        gate=Gate(queue, store, clock, draw_job_id),
        agent_gate=Gate(queue, artifacts, clock, draw_job_id, AGENTS_GROUP),
        links=ArtifactLinks(secret),
        recent=recent,
        attendance=attendance,
        worker=worker,
        board=board,
        metrics=metrics,
        log_ring=log_ring,
    )


def _interrupt(book: JobBook, leftovers: Sequence[Entry]) -> None:
    book.interrupt_leftovers(leftovers)
    if leftovers:
        _log.warning("%d jobs of an earlier process were interrupted; they say so when asked", len(leftovers))


def _settling(
    book: JobBook, metrics: Metrics, clock: Callable[[], float]
) -> Callable[[Job, JobState, str, str], None]:
    """What records and counts a job's end."""

    def settle(job: Job, state: JobState, code: str, error: str) -> None:
        book.settle(job, state, code, error)
        now = clock()
        metrics.job_ended(job.operation, str(state), max(0.0, now - (job.started_at or now)))

    return settle
