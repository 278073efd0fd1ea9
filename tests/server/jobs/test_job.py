import asyncio
import inspect
import logging
import threading
from dataclasses import FrozenInstanceError

import pytest

from server.jobs.errors import JobCancelled, JobInterrupted
from server.jobs.job import LOADING, Job, JobControl, JobState, spent
from server.jobs.rates import Estimate, RateBook, Stage
from tests.server.jobs.builders import Hands, make_job

STAGES = (Stage("plan", 10.0), Stage("sing", 30.0))


def controlled(job: Job, clock: Hands) -> tuple[JobControl, list[str]]:
    told: list[str] = []
    return JobControl(job, threading.Condition(threading.Lock()), RateBook(), clock, told.append), told


def test_state_words() -> None:
    assert [str(state) for state in JobState] == ["queued", "running", "done", "failed", "cancelled"]


def test_jobs_are_told_apart_by_identity_and_made_from_what_never_changes() -> None:
    assert len({make_job("a"), make_job("a")}) == 2
    assert list(inspect.signature(Job).parameters) == [
        "id",
        "operation",
        "model",
        "owner",
        "created_at",
        "stages",
        "work",
        "rates_id",
        "notes",
        "input_bytes",
        "group",
    ]


def test_a_view_cannot_be_changed() -> None:
    view, name = make_job().view(), "state"
    with pytest.raises(FrozenInstanceError):
        setattr(view, name, JobState.DONE)


def test_a_new_job_waits_and_cannot_be_cancelled_by_a_leaving_waiter() -> None:
    job = make_job()
    assert job.view().state is JobState.QUEUED
    assert job.finished.running()
    assert job.finished.cancel() is False


def test_an_impatient_awaiter_leaves_the_job_as_it_is() -> None:
    job = make_job()

    async def leave() -> None:
        await asyncio.wait_for(asyncio.wrap_future(job.finished), timeout=0)

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert job.finished.running()


def test_a_view_copies_everything() -> None:
    job = make_job("ab", stages=STAGES, operation="plan")
    job.start(1000.0, 5.0)
    job.tracker.advance(RateBook(), "plan", 0.5, {"bars": 2}, 6.0)
    job.cancel_requested = True
    view = job.view(3, Estimate(12.0, True))
    job.tracker.counters["bars"] = 9
    assert (view.id, view.operation, view.model, view.owner) == ("ab", "plan", "sketch", "owner")
    assert (view.state, view.queue_position, view.cancel_requested) == (JobState.RUNNING, 3, True)
    assert (view.phase, view.progress, view.counters) == ("plan", 0.125, {"bars": 2})
    assert (view.eta_seconds, view.eta_source) == (12.0, "history")
    assert (view.created_at, view.started_at, view.finished_at) == (990.0, 1000.0, None)


def test_an_ended_job_has_no_time_left_and_holds_no_work() -> None:
    job = make_job(work=lambda control: {"x": 1})
    job.start(1000.0, 5.0)
    job.end(JobState.FAILED, 1010.0, "engine_error", "It broke.")
    view = job.view()
    assert (view.state, view.finished_at, view.code, view.error) == (
        JobState.FAILED,
        1010.0,
        "engine_error",
        "It broke.",
    )
    assert (view.eta_seconds, view.eta_source, view.queue_position) == (None, "", 0)
    assert job.work is spent


def test_spent_work_does_nothing() -> None:
    job, clock = make_job(), Hands()
    control, told = controlled(job, clock)
    spent(control)
    assert told == []


def test_checks_raise_once_asked_and_a_users_wish_goes_first() -> None:
    job = make_job()
    control, _ = controlled(job, Hands())
    control.check_cancelled()
    job.interrupted = True
    with pytest.raises(JobInterrupted):
        control.check_cancelled()
    job.cancel_requested = True
    with pytest.raises(JobCancelled):
        control.check_cancelled()


def test_checks_and_reports_are_signs_of_life() -> None:
    job, clock = make_job(stages=STAGES), Hands(50.0)
    control, _ = controlled(job, clock)
    control.check_cancelled()
    assert job.last_progress_at == 50.0
    clock.now = 51.0
    control.report("plan", 0.0)
    assert job.last_progress_at == 51.0


def test_reports_reach_the_tracker_and_the_watchers_when_worth_it() -> None:
    job, clock = make_job("ab", stages=STAGES), Hands(50.0)
    control, told = controlled(job, clock)
    control.report("plan", 0.5, bars=3)
    control.report("plan", 0.5, bars=4)
    assert job.view().counters == {"bars": 4}
    assert job.view().progress == 0.125
    assert told == ["ab"]
    clock.now = 50.5
    control.report("plan", 0.5)
    assert told == ["ab", "ab"]


def test_watchers_may_look_while_they_are_told() -> None:
    job = make_job(stages=STAGES)
    lock = threading.Condition(threading.Lock())
    free: list[bool] = []

    def look(id: str) -> None:
        free.append(lock.acquire(blocking=False))
        lock.release()

    JobControl(job, lock, RateBook(), Hands(), look).report("plan", 0.0)
    assert free == [True]


def test_sizes_can_be_corrected() -> None:
    job, clock = make_job(stages=STAGES), Hands()
    control, _ = controlled(job, clock)
    control.expect("sing", 50.0)
    assert job.tracker.remaining(RateBook(), clock.now).seconds == 60.0


def test_a_size_tells_where_it_is_from() -> None:
    job, clock = make_job(stages=(Stage("sing", 30.0, "budget"),)), Hands()
    control, _ = controlled(job, clock)
    control.expect("sing", 20.0, "score")
    assert job.tracker.remaining(RateBook(), clock.now) == Estimate(20.0, False, "score")


def test_speed_is_learnt_under_a_name_of_its_own_and_notes_are_shown() -> None:
    job = Job("a", "synth", "yue2", "", 0.0, STAGES, spent, "yue2 cpu fp32", ("It is slow.",))
    rates = RateBook()
    rates.learn("yue2 cpu fp32", "plan", 1.0, 2.0)
    rates.learn("yue2 cpu fp32", "sing", 1.0, 2.0)
    assert job.tracker.remaining(rates, 0.0) == Estimate(80.0, True)
    assert job.view().notes == ("It is slow.",)


def test_the_log_tells_once_that_weights_were_loaded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    job = make_job("0123456789abcdef", stages=STAGES)
    control, _ = controlled(job, Hands())
    for phase in (LOADING, LOADING, "plan", "sing"):
        control.report(phase, 0.5)
    assert caplog.messages == ["Job 012345… has loaded weights of sketch."]
