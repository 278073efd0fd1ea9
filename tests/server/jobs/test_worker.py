import gc
import logging
import queue
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

import pytest

from server.jobs.errors import INTERRUPTED_CODE, INTERRUPTED_MESSAGE
from server.jobs.job import Job, JobControl, JobState
from server.jobs.rates import RateBook, Stage
from server.jobs.serial_queue import SerialQueue
from server.jobs.worker import UNCLASSIFIED, Ending, Rest, Worker
from tests.server.jobs.builders import Hands, make_job

PATIENCE = 5.0
"""Seconds after which a test gives up; none is meant to pass."""


def classify(error: BaseException) -> Ending:
    code = "out_of_memory" if isinstance(error, MemoryError) else "engine_error"
    return JobState.FAILED, code, f"{type(error).__name__} it was."


def explained(error: BaseException) -> str:
    return str(error) if isinstance(error, LookupError) else ""


@dataclass
class Shop:
    """A queue, its worker and what was recorded of the jobs."""

    outcome: Callable[[BaseException], Ending] = classify
    record: Callable[[Job], object] = id
    recorded: list[tuple[str, JobState, str, str]] = field(default_factory=list)
    tidied: list[str] = field(default_factory=list)
    rates: RateBook = field(default_factory=RateBook)
    clock: Hands = field(default_factory=Hands)

    def __post_init__(self) -> None:
        self.queue = SerialQueue(8, self.clock, monotonic=self.clock, rates=self.rates)
        self.worker = Worker(
            self.queue, self.outcome, self.before_settle, loggable=explained, between_jobs=self.tidy
        )
        self.worker.start()

    def before_settle(self, job: Job, state: JobState, code: str, message: str) -> None:
        assert job.state is JobState.RUNNING
        assert not job.finished.done()
        self.recorded.append((job.id, state, code, message))
        self.record(job)

    def tidy(self) -> None:
        self.tidied.append("")

    def submit(self, job: Job) -> Job:
        self.queue.admit(job)
        self.queue.release(job.id)
        return job

    def run(self, work: Callable[[JobControl], Mapping[str, object] | None], id: str = "a") -> Job:
        job = self.submit(make_job(id, work, stages=(Stage("sing", 10.0),)))
        job.finished.result(PATIENCE)
        return job

    def stop(self) -> None:
        self.queue.close()
        assert self.worker.stop(PATIENCE)


@pytest.fixture
def shop() -> Iterator[Shop]:
    shop = Shop()
    yield shop
    shop.stop()


def raising(error: BaseException) -> Callable[[JobControl], None]:
    def work(control: JobControl) -> None:
        raise error

    return work


def test_work_that_returns_is_done(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    names: list[str] = []

    def work(control: JobControl) -> dict[str, object]:
        names.append(threading.current_thread().name)
        control.report("sing", 0.0)
        shop.clock.now += 20.0
        return {"tokens": 77}

    job = shop.run(work)
    assert names == ["worker"]
    assert job.view().state is JobState.DONE
    assert (job.view().progress, job.finished_at) == (1.0, 1020.0)
    assert shop.recorded == [("a", JobState.DONE, "", "")]
    assert shop.rates.estimate("sketch", [Stage("sing", 1.0)]).seconds == 2.0
    assert "{'tokens': 77}" in caplog.text


@pytest.mark.parametrize(
    "error", [ValueError("x"), MemoryError(), SystemExit(1), KeyboardInterrupt(), GeneratorExit()], ids=repr
)
def test_whatever_work_raises_ends_only_the_job(shop: Shop, error: BaseException) -> None:
    job = shop.run(raising(error))
    assert job.state is JobState.FAILED
    assert (job.code, job.error) == classify(error)[1:]
    assert shop.run(lambda control: None, "b").state is JobState.DONE
    assert shop.queue.snapshot().failed == shop.queue.snapshot().completed == 1
    assert [entry[0] for entry in shop.recorded] == ["a", "b"]


def test_a_failure_is_logged_by_its_lines_and_without_its_words(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.run(raising(ValueError("moonlight " + "sonata")))
    assert "Job a… (synth) failed: ValueError at" in caplog.text
    assert "raise error" in caplog.text
    assert "moonlight sonata" not in caplog.text


@pytest.mark.parametrize(("level", "lines"), [(logging.INFO, 1), (logging.DEBUG, 2)])
def test_an_error_that_explains_itself_is_one_line_and_its_traceback_for_who_wants_it(
    shop: Shop, caplog: pytest.LogCaptureFixture, level: int, lines: int
) -> None:
    caplog.set_level(level, "server.jobs.worker")
    shop.run(raising(LookupError("The weights are damaged.")))
    first, *others = [record.getMessage() for record in caplog.records]
    assert first == "Job a… (synth) failed: The weights are damaged."
    assert caplog.records[0].levelno == logging.ERROR
    assert len(others) == lines - 1
    assert all("LookupError at" in other and "raise error" in other for other in others)


def test_a_job_runs_in_the_context_it_was_made_in(shop: Shop) -> None:
    asked_by = ContextVar("asked_by", default="nobody")
    seen: list[str] = []
    token = asked_by.set("request 7")
    shop.run(lambda control: seen.append(asked_by.get()))
    asked_by.reset(token)
    shop.run(lambda control: seen.append(asked_by.get()), "b")
    assert seen == ["request 7", "nobody"]


def test_the_log_never_holds_a_whole_handle(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    shop.run(raising(ValueError()), "0123456789abcdef")
    assert "012345…" in caplog.text
    assert "0123456789abcdef" not in caplog.text


def test_a_failed_phase_teaches_nothing(shop: Shop) -> None:
    def work(control: JobControl) -> None:
        control.report("sing", 0.9)
        raise ValueError

    shop.run(work)
    assert not shop.rates.estimate("sketch", [Stage("sing", 1.0)]).measured


def until_stopped(control: JobControl) -> None:
    while True:
        control.check_cancelled()


def test_a_cancelled_job_ends_at_its_next_check(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    started = threading.Event()

    def work(control: JobControl) -> None:
        started.set()
        until_stopped(control)

    job = shop.submit(make_job("a", work))
    assert started.wait(PATIENCE)
    assert shop.queue.cancel("a") is JobState.RUNNING
    assert job.finished.result(PATIENCE) is JobState.CANCELLED
    assert shop.recorded == [("a", JobState.CANCELLED, "", "")]
    assert shop.queue.snapshot().cancelled == 1
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_completion_wins_over_a_late_cancel(shop: Shop) -> None:
    started, cancelled = threading.Event(), threading.Event()

    def work(control: JobControl) -> None:
        started.set()
        assert cancelled.wait(PATIENCE)

    job = shop.submit(make_job("a", work))
    assert started.wait(PATIENCE)
    shop.queue.cancel("a")
    cancelled.set()
    assert job.finished.result(PATIENCE) is JobState.DONE
    assert job.cancel_requested
    assert shop.queue.snapshot().cancelled == 0


def test_closing_interrupts_the_running_job_and_ends_the_thread() -> None:
    shop, started = Shop(), threading.Event()

    def work(control: JobControl) -> None:
        started.set()
        until_stopped(control)

    job = shop.submit(make_job("a", work))
    assert started.wait(PATIENCE)
    shop.stop()
    assert job.finished.result(0) is JobState.FAILED
    assert (job.code, job.error) == (INTERRUPTED_CODE, INTERRUPTED_MESSAGE)
    assert shop.recorded == [("a", JobState.FAILED, INTERRUPTED_CODE, INTERRUPTED_MESSAGE)]


def test_a_job_is_settled_even_where_its_end_cannot_be_recorded(caplog: pytest.LogCaptureFixture) -> None:
    def full(job: Job) -> None:
        raise OSError(28, "disk full")

    shop = Shop(record=full)
    caplog.set_level(logging.INFO)
    assert shop.run(lambda control: None).state is JobState.DONE
    assert "Job a… (synth) is done. {}" in caplog.text
    assert shop.run(raising(ValueError()), "b").state is JobState.FAILED
    assert caplog.text.count("Recording an ended job failed: OSError at") == 2
    shop.stop()


def test_a_failing_classifier_still_leaves_a_failed_job(caplog: pytest.LogCaptureFixture) -> None:
    def clueless(error: BaseException) -> Ending:
        raise LookupError

    shop = Shop(outcome=clueless)
    job = shop.run(raising(ValueError()))
    assert (job.state, job.code, job.error) == UNCLASSIFIED
    assert "Classifying an error failed: LookupError at" in caplog.text
    shop.stop()


def test_a_failing_clean_up_is_survived(caplog: pytest.LogCaptureFixture) -> None:
    queue = SerialQueue(2)
    worker = Worker(queue, classify, print, between_jobs=lambda: [].pop())
    worker.start()
    for id in ("a", "b"):
        job = make_job(id)
        queue.admit(job)
        queue.release(id)
        assert job.finished.result(PATIENCE) is JobState.DONE
    queue.close()
    assert worker.stop(PATIENCE)
    assert caplog.text.count("Tidying up between jobs failed: IndexError at") == 2


class Inputs:
    """Stands for the uploaded samples of a request."""


@pytest.fixture
def frozen_heap() -> Iterator[None]:
    """What is there already is passed over by the collector, which then takes no time; afterwards too, for later tests."""
    gc.freeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("frozen_heap")
@pytest.mark.parametrize("fails", [False, True])
def test_nothing_keeps_the_inputs_of_an_ended_job(fails: bool) -> None:
    shop = Shop()

    def make_work() -> tuple[Callable[[JobControl], None], weakref.ref[Inputs]]:
        inputs = Inputs()

        def work(control: JobControl) -> None:
            assert isinstance(inputs, Inputs)
            if fails:
                raise MemoryError

        return work, weakref.ref(inputs)

    work, reference = make_work()
    job = shop.submit(make_job("a", work))
    del work
    job.finished.result(PATIENCE)
    shop.stop()
    gc.collect()
    assert reference() is None
    assert shop.tidied == [""]


def test_what_a_failed_job_computed_is_free_before_its_end_is_recorded() -> None:
    references: list[weakref.ref[Inputs]] = []
    alive: list[bool] = []

    def work(control: JobControl) -> None:
        samples = Inputs()
        references.append(weakref.ref(samples))
        raise MemoryError

    shop = Shop(record=lambda job: alive.append(references[0]() is not None))
    shop.run(work)
    shop.stop()
    assert alive == [False]


def test_stopping_says_where_a_native_call_did_not_return() -> None:
    shop, started, returned = Shop(), threading.Event(), threading.Event()

    def native(control: JobControl) -> None:
        started.set()
        assert returned.wait(PATIENCE)

    job = shop.submit(make_job("a", native))
    assert started.wait(PATIENCE)
    shop.queue.close()
    assert shop.worker.stop(0.0) is False
    assert shop.worker.alive
    returned.set()
    assert shop.worker.stop(PATIENCE) is True
    assert not shop.worker.alive
    assert job.state is JobState.DONE


def test_a_worker_never_started_is_stopped() -> None:
    worker = Worker(SerialQueue(1), classify, print)
    assert not worker.alive
    assert worker.stop(0.0) is True


def test_a_stuck_thread_cannot_hold_up_the_process() -> None:
    worker = Worker(SerialQueue(1), classify, print)
    assert worker._thread.daemon


class Resting:
    """A worker that unloads when idle, and when and where it did."""

    def __init__(self, after_seconds: float | None, failing: bool = False) -> None:
        self.unloaded: queue.Queue[str] = queue.Queue()
        self.tidied = 0
        self.queue = SerialQueue(8)
        self._failing = failing
        rest = Rest(after_seconds, self.unload, self.tidy)
        self.worker = Worker(self.queue, classify, lambda *_: None, between_jobs=self.tidy, rest=rest)
        self.worker.start()

    def unload(self) -> None:
        self.unloaded.put(threading.current_thread().name)
        if self._failing:
            raise ValueError("broken")

    def tidy(self) -> None:
        self.tidied += 1

    def run(self, id: str) -> None:
        job = make_job(id)
        self.queue.admit(job)
        self.queue.release(id)
        job.finished.result(PATIENCE)

    def stop(self) -> None:
        self.queue.close()
        assert self.worker.stop(PATIENCE)


@pytest.mark.parametrize("failing", [False, True])
def test_what_is_idle_is_unloaded_once_on_the_working_thread(
    failing: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    resting = Resting(0.01, failing)
    for id in "ab":
        resting.run(id)
        assert resting.unloaded.get(timeout=PATIENCE) == "worker"
    resting.stop()
    assert resting.unloaded.empty()
    assert resting.tidied == 4
    assert caplog.text.count("The models have given their memory back") == (0 if failing else 2)


def test_what_the_only_job_loaded_is_unloaded_where_the_server_stops_during_it() -> None:
    resting, started, let_go = Resting(60.0), threading.Event(), threading.Event()

    def work(control: JobControl) -> None:
        started.set()
        assert let_go.wait(PATIENCE)

    resting.queue.admit(make_job("a", work))
    resting.queue.release("a")
    assert started.wait(PATIENCE)
    resting.queue.close()
    let_go.set()
    assert resting.worker.stop(PATIENCE)
    assert resting.unloaded.qsize() == 1


@pytest.mark.parametrize(("after_seconds", "works"), [(None, True), (60.0, True), (0.001, False)])
def test_what_is_loaded_at_the_end_is_unloaded_then(after_seconds: float | None, works: bool) -> None:
    resting = Resting(after_seconds)
    if works:
        resting.run("a")
    resting.stop()
    assert resting.unloaded.qsize() == int(works)
