import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from server.jobs.errors import (
    INTERRUPTED_CODE,
    INTERRUPTED_MESSAGE,
    GroupFull,
    InputsFull,
    JobCancelled,
    JobInterrupted,
    QueueClosed,
    QueueFull,
    UnknownJob,
)
from server.jobs.job import Job, JobState, spent
from server.jobs.rates import RateBook, Stage
from server.jobs.serial_queue import EVERYONE, QueueSnapshot, SerialQueue, WorkerView
from tests.server.jobs.builders import Hands, make_job

PATIENCE = 10.0
"""Seconds after which a test gives up; none is meant to pass."""


class Watched(SerialQueue):
    """A queue of two places on a stopped clock, with a list of what it told."""

    def __init__(self, limit: int = 3, rates: RateBook | None = None) -> None:
        self.hands = Hands()
        self.told: list[str] = []
        super().__init__(limit, self.hands, self.told.append, monotonic=self.hands, rates=rates)

    def submit(self, *ids: str, stages: tuple[Stage, ...] = ()) -> list[Job]:
        jobs = [make_job(id, stages=stages) for id in ids]
        for job in jobs:
            self.admit(job)
            self.release(job.id)
        return jobs

    def begin(self) -> Job:
        job = self.take()
        assert job is not None
        return job


def test_an_empty_queue() -> None:
    assert SerialQueue(8).snapshot() == QueueSnapshot(8, 0, 0, 0, 8, True, 0, 0, 0, 0, None)


def test_one_that_came_to_an_empty_queue_would_begin_at_once() -> None:
    assert SerialQueue(8).backlog().seconds == 0.0


def test_what_readers_get_cannot_be_changed() -> None:
    queue = Watched()
    for view, name in ((queue.snapshot(), "pending"), (queue.worker_view(), "state")):
        with pytest.raises(FrozenInstanceError):
            setattr(view, name, 9)


def test_a_queue_without_places_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one place"):
        SerialQueue(0)
    assert SerialQueue(1).snapshot().limit == 1


def test_admitted_queued_and_running_jobs_all_take_a_place() -> None:
    queue = Watched(3)
    queue.submit("a", "b")
    queue.admit(make_job("c"))
    queue.begin()
    assert queue.snapshot() == QueueSnapshot(3, 3, 1, 1, 0, False, 0, 0, 0, 0, "synth")
    with pytest.raises(QueueFull) as refusal:
        queue.check_admitting()
    assert refusal.value.limit == 3
    with pytest.raises(QueueFull):
        queue.admit(make_job("d"))
    assert queue.snapshot().rejected == 0
    queue.reject()
    assert queue.snapshot().rejected == 1


def test_an_early_check_reserves_nothing() -> None:
    queue = Watched(1)
    queue.check_admitting()
    queue.check_admitting()
    assert queue.snapshot().pending == 0


def test_a_held_id_is_refused() -> None:
    queue = Watched()
    queue.submit("a")
    with pytest.raises(ValueError, match="id of its own"):
        queue.admit(make_job("a"))
    assert queue.snapshot().pending == 1


def test_jobs_run_in_the_order_of_admission_once_released() -> None:
    queue = Watched(4)
    for id in "abc":
        queue.admit(make_job(id))
    assert [queue.release(id) for id in "bca"] == [1, 2, 1]
    assert [queue.view(id).queue_position for id in "abc"] == [1, 2, 3]
    assert queue.told == ["b", "c", "a", EVERYONE]
    first = queue.begin()
    assert first.id == "a"
    queue.settle(first, JobState.DONE)
    assert queue.begin().id == "b"


def test_taking_starts_the_job_and_moves_the_others() -> None:
    queue = Watched()
    (job,) = queue.submit("a")
    queue.told.clear()
    queue.hands.now = 1005.0
    assert queue.take() is job
    assert queue.told == ["a"]
    view = queue.view("a")
    assert (view.state, view.queue_position, view.started_at) == (JobState.RUNNING, 0, 1005.0)
    queue.settle(job, JobState.DONE)
    queue.submit("b", "c")
    queue.told.clear()
    queue.begin()
    assert queue.told == ["b", EVERYONE]
    assert queue.view("c").queue_position == 1


def test_a_withdrawn_job_never_was() -> None:
    queue = Watched(1)
    job = make_job("a")
    queue.admit(job)
    queue.hands.now = 1001.0
    queue.withdraw("a")
    assert queue.snapshot() == SerialQueue(1).snapshot()
    assert job.finished.result(0) is JobState.CANCELLED
    assert (job.work, job.finished_at) == (spent, 1001.0)
    assert queue.told == []
    with pytest.raises(UnknownJob):
        queue.release("a")


def test_released_and_unknown_jobs_are_not_withdrawn() -> None:
    queue = Watched()
    (job,) = queue.submit("a")
    queue.withdraw("a")
    queue.withdraw("b")
    assert queue.snapshot().queued == 1
    assert job.state is JobState.QUEUED


def test_cancelling_a_queued_job_frees_its_place_at_once() -> None:
    queue = Watched(3)
    jobs = queue.submit("a", "b", "c")
    queue.told.clear()
    queue.hands.now = 1003.0
    assert queue.cancel("b") is JobState.CANCELLED
    assert queue.told == ["b", EVERYONE]
    assert queue.snapshot() == QueueSnapshot(3, 2, 0, 2, 1, True, 0, 0, 0, 1, None)
    assert jobs[1].finished.result(0) is JobState.CANCELLED
    assert (jobs[1].state, jobs[1].finished_at, jobs[1].work) == (JobState.CANCELLED, 1003.0, spent)
    with pytest.raises(UnknownJob):
        queue.view("b")
    queue.cancel("c")
    assert queue.told == ["b", EVERYONE, "c"]


def full_of_inputs() -> SerialQueue:
    """A queue of four places whose running job and waiting one hold all 100 bytes of uploads there may be."""
    queue = SerialQueue(4, most_input_bytes=100)
    for id, size in (("a", 60), ("b", 40)):
        queue.admit(make_job(id, input_bytes=size))
        queue.release(id)
    assert queue.take() is not None
    return queue


def test_what_jobs_have_uploaded_is_bounded_together() -> None:
    queue = full_of_inputs()
    for refused in (partial(queue.check_admitting, 1), partial(queue.admit, make_job("c", input_bytes=1))):
        with pytest.raises(InputsFull) as refusal:
            refused()
        assert refusal.value.limit == 100
    queue.check_admitting()
    queue.admit(make_job("d"))
    assert queue.snapshot().pending == 3


@pytest.mark.parametrize("ending", ["settle", "cancel", "withdraw", "close"])
def test_uploads_are_let_go_however_their_job_ends(ending: str) -> None:
    queue = SerialQueue(2, most_input_bytes=100)
    job = make_job("a", input_bytes=100)
    queue.admit(job)
    if ending == "withdraw":
        queue.withdraw("a")
    else:
        queue.release("a")
    if ending == "cancel":
        queue.cancel("a")
    if ending == "settle":
        assert queue.take() is job
        with pytest.raises(InputsFull):
            queue.check_admitting(1)
        queue.settle(job, JobState.FAILED)
    if ending == "close":
        queue.close()
        assert queue._input_bytes == 0
        return
    queue.admit(make_job("b", input_bytes=100))
    with pytest.raises(InputsFull):
        queue.check_admitting(1)


def test_a_group_has_only_so_many_of_the_places() -> None:
    queue = SerialQueue(4, group_limits={"agents": 2})
    for id in "ab":
        queue.admit(make_job(id, group="agents"))
    assert queue.snapshot().grouped == {"agents": 2}
    for refused in (
        partial(queue.check_admitting, group="agents"),
        partial(queue.admit, make_job("c", group="agents")),
    ):
        with pytest.raises(GroupFull, match="All 2 places of the queue that agents may have") as refusal:
            refused()
        assert refusal.value.limit == 2
    queue.check_admitting()
    for id in "de":
        queue.admit(make_job(id, group="others" if id == "d" else ""))
    assert queue.snapshot().grouped == {"agents": 2, "others": 1}
    with pytest.raises(QueueFull, match="All 4 places of the queue are"):
        queue.check_admitting(group="agents")


@pytest.mark.parametrize(
    "ending", ["done", "failed", "cancelled", "cancelled running", "withdrawn", "closed"]
)
def test_a_place_of_a_group_is_free_again_however_its_job_ends(ending: str) -> None:
    queue = SerialQueue(2, group_limits={"agents": 1})
    job = make_job("a", group="agents")
    queue.admit(job)
    if ending == "withdrawn":
        queue.withdraw("a")
    else:
        queue.release("a")
    if ending == "cancelled":
        queue.cancel("a")
    if ending in ("done", "failed", "cancelled running"):
        assert queue.take() is job
        if ending == "cancelled running":
            queue.cancel("a")
        with pytest.raises(GroupFull, match="The only place of the queue that agents may have is"):
            queue.check_admitting(group="agents")
        queue.settle(job, JobState.DONE if ending == "done" else JobState.FAILED)
    if ending == "closed":
        queue.close()
        with pytest.raises(QueueClosed):
            queue.check_admitting(group="agents")
    else:
        queue.check_admitting(group="agents")
    assert queue.snapshot().grouped == {}


def test_cancelling_an_admitted_job_moves_nobody() -> None:
    queue = Watched(3)
    queue.admit(make_job("a"))
    queue.submit("b", "c")
    queue.told.clear()
    assert queue.cancel("a") is JobState.CANCELLED
    assert queue.told == ["a"]
    with pytest.raises(UnknownJob):
        queue.release("a")


def test_cancelling_the_running_job_asks_it_to_stop() -> None:
    queue = Watched()
    queue.submit("a", "b")
    job = queue.begin()
    queue.told.clear()
    assert queue.cancel("a") is JobState.RUNNING
    assert queue.cancel("a") is JobState.RUNNING
    assert queue.view("a").cancel_requested
    assert queue.told == ["a", "a"]
    assert not job.finished.done()
    with pytest.raises(JobCancelled):
        queue.control(job).check_cancelled()


def test_a_cancel_hits_no_other_job() -> None:
    queue = Watched()
    queue.submit("a", "b")
    running = queue.begin()
    queue.cancel("b")
    queue.control(running).check_cancelled()
    queue.settle(running, JobState.DONE)
    queue.submit("c")
    queue.begin()
    with pytest.raises(UnknownJob) as refusal:
        queue.cancel("a")
    assert refusal.value.id == "a"
    assert not queue.view("c").cancel_requested


def test_settling_counts_tells_and_forgets() -> None:
    queue = Watched()
    for state, code in ((JobState.DONE, ""), (JobState.FAILED, "engine_error"), (JobState.CANCELLED, "")):
        (job,) = queue.submit("a")
        queue.begin()
        queue.told.clear()
        queue.hands.now += 1.0
        queue.settle(job, state, code, "Because.")
        assert queue.told == ["a"]
        assert job.finished.result(0) is state
        view = job.view()
        assert (view.state, view.code, view.error) == (state, code, "Because.")
        assert (view.finished_at, view.eta_seconds) == (queue.hands.now, None)
        with pytest.raises(UnknownJob):
            queue.view("a")
    assert queue.snapshot() == QueueSnapshot(3, 0, 0, 0, 3, True, 0, 1, 1, 1, None)


def test_a_done_job_has_no_code_and_no_error() -> None:
    queue = Watched()
    queue.submit("a")
    job = queue.begin()
    queue.settle(job, JobState.DONE)
    assert (job.code, job.error) == ("", "")


def test_everyone_is_no_possible_id() -> None:
    assert EVERYONE == ""


def test_only_the_running_job_can_be_settled_and_only_to_an_end() -> None:
    queue = Watched()
    first, second = queue.submit("a", "b")
    with pytest.raises(UnknownJob):
        queue.settle(first, JobState.DONE)
    queue.begin()
    with pytest.raises(UnknownJob):
        queue.settle(second, JobState.DONE)
    with pytest.raises(KeyError):
        queue.settle(first, JobState.RUNNING)
    assert queue.snapshot().active == 1
    queue.settle(first, JobState.DONE)
    with pytest.raises(UnknownJob):
        queue.settle(first, JobState.DONE)


def test_only_done_jobs_teach_their_last_phase() -> None:
    rates = RateBook()
    queue = Watched(rates=rates)
    for state, measured in ((JobState.FAILED, False), (JobState.CANCELLED, False), (JobState.DONE, True)):
        (job,) = queue.submit("a", stages=(Stage("sing", 10.0),))
        queue.control(queue.begin()).report("sing", 0.5)
        assert job.view().progress == 0.5
        queue.hands.now += 20.0
        queue.settle(job, state)
        assert rates.estimate("sketch", [Stage("sing", 1.0)]).measured is measured
    assert rates.estimate("sketch", [Stage("sing", 1.0)]).seconds == 2.0


def test_time_left_includes_everything_ahead() -> None:
    rates = RateBook({("sketch", "sing"): 2.0})
    queue = Watched(4, rates)
    queue.submit("a", "b", stages=(Stage("sing", 10.0),))
    queue.admit(make_job("c", stages=(Stage("sing", 1.0),)))
    queue.submit("d", stages=(Stage("sing", 5.0),))
    assert [queue.view(id).eta_seconds for id in "abcd"] == [20.0, 40.0, 42.0, 52.0]
    queue.control(queue.begin()).report("sing", 0.0)
    queue.hands.now += 5.0
    assert [queue.view(id).eta_seconds for id in "abcd"] == [15.0, 35.0, 37.0, 47.0]
    assert queue.backlog().seconds == 47.0
    assert queue.view("d").eta_source == "prior"
    rates.learn("sketch", "sing", 1.0, 1.0)
    assert queue.view("d").eta_source == "history"


def test_an_unknown_job_has_no_view() -> None:
    with pytest.raises(UnknownJob):
        Watched().view("a")


def test_closing_turns_out_the_queued_and_stops_the_running() -> None:
    queue = Watched(4)
    running, *queued = queue.submit("a", "b", "c")
    queue.begin()
    admitted = make_job("d")
    queue.admit(admitted)
    queue.told.clear()
    queue.hands.now = 1009.0
    assert queue.close() == tuple(queued)
    assert queue.told == ["b", "c"]
    assert queue.snapshot() == QueueSnapshot(4, 2, 1, 0, 2, False, 0, 0, 2, 0, "synth")
    for job in queued:
        assert job.finished.result(0) is JobState.FAILED
        assert (job.code, job.error, job.finished_at) == (INTERRUPTED_CODE, INTERRUPTED_MESSAGE, 1009.0)
        assert job.work is spent
    with pytest.raises(JobInterrupted):
        queue.control(running).check_cancelled()
    assert queue.close() == ()
    with pytest.raises(QueueClosed):
        queue.release("d")
    queue.withdraw("d")
    assert admitted.finished.done()
    queue.settle(running, JobState.FAILED)
    assert queue.snapshot() == QueueSnapshot(4, 0, 0, 0, 4, False, 0, 0, 3, 0, None)


def test_a_closed_queue_admits_and_gives_out_nothing() -> None:
    queue = Watched()
    queue.close()
    with pytest.raises(QueueClosed):
        queue.check_admitting()
    with pytest.raises(QueueClosed):
        queue.admit(make_job())
    assert queue.take() is None


def test_a_full_queue_that_is_closed_says_closed() -> None:
    queue = Watched(1)
    queue.admit(make_job())
    queue.close()
    with pytest.raises(QueueClosed):
        queue.check_admitting()


def test_a_taker_gives_up_when_its_patience_is_over_and_the_queue_goes_on() -> None:
    queue = Watched()
    assert queue.take(0.0) is None
    assert SerialQueue(1).take(0.001) is None
    assert not queue.closed
    (job,) = queue.submit("a")
    assert queue.take(0.0) is job
    queue.close()
    assert queue.closed
    assert queue.take(60.0) is None


def taking_in_a_thread(queue: SerialQueue) -> tuple[threading.Thread, list[Job | None]]:
    taken: list[Job | None] = []
    thread = threading.Thread(target=lambda: taken.append(queue.take()), daemon=True)
    thread.start()
    thread.join(0.01)
    assert taken == []
    return thread, taken


def test_a_taker_waits_for_a_release() -> None:
    queue = Watched()
    job = make_job("a")
    queue.admit(job)
    thread, taken = taking_in_a_thread(queue)
    queue.release("a")
    thread.join(PATIENCE)
    assert taken == [job]


def test_a_taker_waits_for_the_running_job_to_end() -> None:
    queue = Watched()
    first, second = queue.submit("a", "b")
    queue.begin()
    thread, taken = taking_in_a_thread(queue)
    queue.settle(first, JobState.DONE)
    thread.join(PATIENCE)
    assert taken == [second]


@pytest.mark.parametrize("running", [False, True])
def test_a_taker_leaves_when_the_queue_closes(running: bool) -> None:
    queue = Watched()
    if running:
        queue.submit("a", "b")
        queue.begin()
    thread, taken = taking_in_a_thread(queue)
    queue.close()
    thread.join(PATIENCE)
    assert taken == [None]


def test_the_worker_line() -> None:
    hands = Hands()
    queue = SerialQueue(2, hands, monotonic=hands, stalled_after_seconds=10.0)
    assert queue.worker_view() == WorkerView("idle", None, None)
    queue.admit(make_job())
    queue.release("a")
    job = queue.take()
    assert job is not None
    control = queue.control(job)
    hands.now += 2.0
    assert queue.worker_view() == WorkerView("running", "", 2.0)
    control.report("loading", 0.0)
    hands.now += 99.0
    assert queue.worker_view() == WorkerView("loading", "loading", 99.0)
    control.report("sing", 0.0)
    hands.now += 9.5
    assert queue.worker_view() == WorkerView("running", "sing", 9.5)
    hands.now += 0.5
    assert queue.worker_view() == WorkerView("stalled", "sing", 10.0)
    control.check_cancelled()
    assert queue.worker_view() == WorkerView("running", "sing", 0.0)
    hands.now -= 1.0
    assert queue.worker_view() == WorkerView("running", "sing", 0.0)
    queue.settle(job, JobState.DONE)
    assert queue.worker_view().state == "idle"


def test_a_minute_without_a_sign_is_a_stall_by_default() -> None:
    hands = Hands()
    queue = SerialQueue(1, hands, monotonic=hands)
    queue.admit(make_job())
    queue.release("a")
    queue.take()
    hands.now += 59.9
    assert queue.worker_view().state == "running"
    hands.now += 0.1
    assert queue.worker_view().state == "stalled"


def test_a_failing_watcher_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def deaf(id: str) -> None:
        raise RuntimeError("no loop for " + "moonlight")

    queue = SerialQueue(1, on_change=deaf)
    queue.admit(make_job())
    assert queue.release("a") == 1
    assert queue.take() is not None
    assert caplog.text.count("A watcher of the queue failed: RuntimeError at") == 2
    assert "no loop for moonlight" not in caplog.text


def test_watchers_and_waiters_may_use_the_queue_while_they_are_told() -> None:
    seen: list[QueueSnapshot] = []

    def look(_: object) -> None:
        queue.reject()  # needs the condition
        seen.append(queue.snapshot())

    queue = SerialQueue(3, on_change=look)
    jobs = [make_job(id) for id in "abcd"]
    for job in jobs[:3]:
        job.finished.add_done_callback(look)
        queue.admit(job)
    queue.release("a")
    running = queue.take()
    queue.release("b")
    queue.cancel("b")
    queue.withdraw("c")
    assert running is not None
    queue.settle(running, JobState.DONE)
    queue.admit(jobs[3])
    queue.release("d")
    queue.close()
    assert len(seen) == queue.snapshot().rejected == 10
    assert all(job.finished.done() for job in jobs)


class QueueMachine(RuleBasedStateMachine):
    """Random use of a queue beside lists that say what it should hold."""

    known: Bundle[Job] = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.limit = 4
        self.group_limits = {"agents": 2, "pages": 3}
        self.hands = Hands()
        self.queue = SerialQueue(self.limit, self.hands, monotonic=self.hands, group_limits=self.group_limits)
        self.waiting: list[Job] = []
        self.released: set[str] = set()
        self.active: Job | None = None
        self.closed = False
        self.ended: dict[str, JobState] = {}
        self.resolved: list[str] = []
        self.counts = {"rejected": 0, "completed": 0, "failed": 0, "cancelled": 0}
        self.jobs: list[Job] = []

    def end(self, job: Job, state: JobState, counter: str | None) -> None:
        self.ended[job.id] = state
        if counter is not None:
            self.counts[counter] += 1

    @property
    def pending(self) -> int:
        return len(self.waiting) + (self.active is not None)

    @property
    def grouped(self) -> Counter[str]:
        held = [*self.waiting, *([self.active] if self.active else [])]
        return Counter(job.group for job in held if job.group)

    @property
    def next(self) -> Job | None:
        return next((job for job in self.waiting if job.id in self.released), None)

    @rule(target=known, group=st.sampled_from(["", "agents", "pages", "unlimited"]))
    def admit(self, group: str) -> Job:
        job = make_job(str(len(self.jobs)), operation=f"operation {len(self.jobs)}", group=group)
        self.jobs.append(job)
        job.finished.add_done_callback(lambda _: self.resolved.append(job.id))
        if self.closed:
            with pytest.raises(QueueClosed):
                self.queue.admit(job)
        elif self.pending >= self.limit:
            with pytest.raises(QueueFull):
                self.queue.admit(job)
            self.queue.reject()
            self.counts["rejected"] += 1
        elif self.grouped[group] >= self.group_limits.get(group, self.limit):
            with pytest.raises(GroupFull):
                self.queue.admit(job)
        else:
            self.queue.admit(job)
            self.waiting.append(job)
        return job

    @rule(job=known)
    def release(self, job: Job) -> None:
        if job not in self.waiting:
            with pytest.raises(UnknownJob):
                self.queue.release(job.id)
        elif self.closed:
            with pytest.raises(QueueClosed):
                self.queue.release(job.id)
        else:
            self.released.add(job.id)
            line = [other for other in self.waiting if other.id in self.released]
            assert self.queue.release(job.id) == line.index(job) + 1

    @rule(job=known)
    def withdraw(self, job: Job) -> None:
        self.queue.withdraw(job.id)
        if job in self.waiting and job.id not in self.released:
            self.waiting.remove(job)
            self.end(job, JobState.CANCELLED, None)

    @precondition(lambda self: self.closed or (self.active is None and self.next is not None))
    @rule()
    def take(self) -> None:
        job = self.queue.take()
        if self.closed:
            assert job is None
            return
        assert job is self.next
        assert job is not None
        self.waiting.remove(job)
        self.active = job

    @rule(job=known)
    def cancel(self, job: Job) -> None:
        if job is self.active:
            assert self.queue.cancel(job.id) is JobState.RUNNING
            assert job.cancel_requested
        elif job in self.waiting:
            assert self.queue.cancel(job.id) is JobState.CANCELLED
            self.waiting.remove(job)
            self.end(job, JobState.CANCELLED, "cancelled")
        else:
            with pytest.raises(UnknownJob):
                self.queue.cancel(job.id)

    @precondition(lambda self: self.active is not None)
    @rule(ending=st.sampled_from([(JobState.DONE, "completed"), (JobState.FAILED, "failed")]))
    def settle(self, ending: tuple[JobState, str]) -> None:
        job = self.active
        assert job is not None
        state, counter = (JobState.CANCELLED, "cancelled") if job.cancel_requested else ending
        self.queue.settle(job, state)
        self.active = None
        self.end(job, state, counter)

    @rule(job=consumes(known))
    def settle_another(self, job: Job) -> None:
        if job is not self.active:
            with pytest.raises(UnknownJob):
                self.queue.settle(job, JobState.DONE)

    @precondition(lambda self: len(self.jobs) > 6)
    @rule()
    def close(self) -> None:
        removed = [job for job in self.waiting if job.id in self.released]
        assert self.queue.close() == tuple(removed)
        self.closed = True
        for job in removed:
            self.waiting.remove(job)
            self.end(job, JobState.FAILED, "failed")
        if self.active is not None:
            assert self.active.interrupted

    @invariant()
    def the_snapshot_agrees(self) -> None:
        queued = sum(job.id in self.released for job in self.waiting)
        assert self.queue.snapshot() == QueueSnapshot(
            limit=self.limit,
            pending=self.pending,
            active=int(self.active is not None),
            queued=queued,
            available=self.limit - self.pending,
            accepting=not self.closed and self.pending < self.limit,
            rejected=self.counts["rejected"],
            completed=self.counts["completed"],
            failed=self.counts["failed"],
            cancelled=self.counts["cancelled"],
            active_operation=None if self.active is None else self.active.operation,
            grouped=self.grouped,
        )
        assert self.pending <= self.limit
        assert all(self.grouped[group] <= places for group, places in self.group_limits.items())

    @invariant()
    def each_ended_job_was_told_once(self) -> None:
        assert sorted(self.resolved) == sorted(self.ended)
        for job in self.jobs:
            if job.id in self.ended:
                assert job.finished.result(0) is job.state is self.ended[job.id]
            else:
                assert not job.finished.done()

    @invariant()
    def views_agree(self) -> None:
        held = [job for job in (self.active, *self.waiting) if job is not None]
        for job in held:
            view = self.queue.view(job.id)
            ahead = (
                sum(o.id in self.released for o in self.waiting[: self.waiting.index(job)])
                if job in self.waiting
                else -1
            )
            assert view.queue_position == ahead + 1
            assert view.state is (JobState.RUNNING if job is self.active else JobState.QUEUED)


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestQueueMachine = QueueMachine.TestCase


class Race:
    """Sixteen clients that submit, withdraw and cancel at once, and two workers that would run at once."""

    LIMIT, ODD, CLIENTS, TRIES = 8, 3, 16, 300

    def __init__(self) -> None:
        self.queue = SerialQueue(self.LIMIT, group_limits={"odd": self.ODD})
        self.gate = threading.Barrier(self.CLIENTS)
        self.tally_lock = threading.Lock()
        self.tally = {"refused": 0, "withdrawn": 0, "released": 0}
        self.jobs: list[Job] = []
        self.running = self.most_running = self.most_pending = self.most_odd = 0
        self.failures: list[BaseException] = []

    def client(self, seed: int) -> None:
        dice = random.Random(seed)
        self.gate.wait(PATIENCE)
        for n in range(self.TRIES):
            job = make_job(f"{seed}-{n}", group="odd" if seed % 2 else "")
            try:
                self.queue.admit(job)
            except QueueFull:
                self.queue.reject()
                self.count("refused")
                continue
            if dice.random() < 0.1:
                self.queue.withdraw(job.id)
                self.count("withdrawn")
                continue
            self.queue.release(job.id)
            self.count("released", job)
            if dice.random() < 0.3:
                self.cancel(job.id)

    def count(self, what: str, *jobs: Job) -> None:
        with self.tally_lock:
            self.tally[what] += 1
            self.jobs.extend(jobs)
            now = self.queue.snapshot()
            self.most_pending = max(self.most_pending, now.pending)
            self.most_odd = max(self.most_odd, now.grouped.get("odd", 0))

    def cancel(self, id: str) -> None:
        try:
            self.queue.cancel(id)
        except UnknownJob:
            self.count("late")

    def worker(self) -> None:
        while (job := self.queue.take()) is not None:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            self.running -= 1
            self.queue.settle(job, JobState.CANCELLED if job.cancel_requested else JobState.DONE)

    def guarded(self, call: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                call()
            except BaseException as error:
                self.failures.append(error)
                raise

        return run

    def run(self) -> None:
        self.tally["late"] = 0
        workers = [threading.Thread(target=self.guarded(self.worker), daemon=True) for _ in range(2)]
        clients = [
            threading.Thread(target=self.guarded(partial(self.client, seed)), daemon=True)
            for seed in range(self.CLIENTS)
        ]
        for thread in (*workers, *clients):
            thread.start()
        for thread in clients:
            thread.join(PATIENCE)
        for job in self.jobs:
            job.finished.result(PATIENCE)
        self.queue.close()
        for thread in workers:
            thread.join(PATIENCE)


@pytest.fixture
def hurry() -> Iterator[None]:
    """Make threads take turns far more often than usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("hurry")
def test_sixteen_clients_never_break_the_limits() -> None:
    race = Race()
    race.run()
    snapshot = race.queue.snapshot()
    assert race.failures == []
    assert sum(race.tally[what] for what in ("refused", "withdrawn", "released")) == race.CLIENTS * race.TRIES
    assert race.most_pending <= race.LIMIT
    assert 0 < race.most_odd <= race.ODD
    assert race.most_running == 1
    assert snapshot.pending == 0
    assert snapshot.rejected == race.tally["refused"]
    ends = [job.finished.result(0) for job in race.jobs]
    assert len(ends) == race.tally["released"] == snapshot.completed + snapshot.cancelled
    assert snapshot.completed == ends.count(JobState.DONE) > 0
    assert snapshot.cancelled == ends.count(JobState.CANCELLED)
