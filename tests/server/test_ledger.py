"""What is known of a job, between queue and store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from server.jobs.job import Job, JobState
from server.jobs.rates import Stage
from server.jobs.serial_queue import SerialQueue
from server.ledger import Ledger
from storage.budget import Budget
from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.store import ResultStore

ID = "0123456789abcdef"
Clock = Callable[[], float]


class Desk:
    """A queue, a store and the ledger over them, at a time that stands still."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.queue = SerialQueue(8, self.clock)
        self.store = ResultStore(folder, Budget(10**6, 10, 10**6), 100.0, self.clock)
        self.store.recover()
        self.ledger = Ledger(self.queue, self.store, self.clock)

    def clock(self) -> float:
        """Epoch seconds."""
        return self.now

    def admit(self, id: str = ID, owner: str = "") -> Job:
        """A queued job with its record."""
        job = Job(id, "synth", "sketch", owner, self.now, (Stage("composing", 1.0),), lambda control: None)
        self.queue.admit(job)
        self.store.accept(Entry(id, EntryState.ACCEPTED, owner, self.now, detail={"operation": "synth"}))
        self.queue.release(id)
        return job


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "jobs")


def test_a_queued_job_is_told_from_the_queue(desk: Desk) -> None:
    desk.admit()
    told = desk.ledger.describe(ID, "")
    assert (told["status"], told["queue_position"], told["operation"]) == ("queued", 1, "synth")
    assert told["expires_at"] is None


def test_another_keys_job_is_unknown_to_every_question(desk: Desk) -> None:
    desk.admit(owner="ann")
    for ask in (desk.ledger.describe, desk.ledger.cancel, desk.ledger.delete, desk.ledger.stored):
        with pytest.raises(UnknownEntry):
            ask(ID, "bob")
    assert desk.ledger.describe(ID, "ann")["status"] == "queued"


def test_a_cancelled_job_is_recorded_and_answers_for_one_ttl(desk: Desk) -> None:
    desk.admit()
    assert desk.ledger.cancel(ID, "") == "cancelled"
    told = desk.ledger.describe(ID, "")
    assert (told["status"], told["expires_at"]) == ("cancelled", 1100.0)
    assert "error" not in told
    desk.now = 1100.0
    with pytest.raises(EntryExpired):
        desk.ledger.describe(ID, "")


def test_cancelling_again_tells_the_state(desk: Desk) -> None:
    desk.admit()
    desk.ledger.cancel(ID, "")
    assert desk.ledger.cancel(ID, "") == "cancelled"


def test_a_job_that_left_the_queue_unrecorded_is_cancelled_or_after_a_stop_interrupted(desk: Desk) -> None:
    desk.admit()
    desk.queue.cancel(ID)
    assert desk.ledger.describe(ID, "")["status"] == "cancelled"
    desk.ledger.close()
    told = desk.ledger.describe(ID, "")
    assert (told["status"], told["code"]) == ("failed", "interrupted_by_restart")


def test_a_stop_records_the_waiting_jobs_as_interrupted(desk: Desk) -> None:
    desk.admit()
    desk.ledger.close()
    assert desk.store.find(ID).detail["code"] == "interrupted_by_restart"
    told = desk.ledger.describe(ID, "")
    assert (told["status"], told["operation"], told["finished_at"]) == ("failed", "synth", 1000.0)


def test_what_an_earlier_process_left_is_interrupted(desk: Desk) -> None:
    desk.store.accept(Entry(ID, EntryState.ACCEPTED, "", 900.0, detail={"operation": "plan"}))
    desk.ledger.interrupt_leftovers((desk.store.find(ID),))
    told = desk.ledger.describe(ID, "")
    assert (told["status"], told["code"], told["operation"]) == ("failed", "interrupted_by_restart", "plan")
    assert told["created_at"] == 900.0


def test_a_failed_job_keeps_its_code_and_sentence(desk: Desk) -> None:
    desk.admit()
    job = desk.queue.take()
    assert job is not None
    desk.ledger.settle(job, JobState.FAILED, "disk_full", "The volume is full.")
    desk.queue.settle(job, JobState.FAILED)
    told = desk.ledger.describe(ID, "")
    assert (told["code"], told["error"], told["started_at"]) == ("disk_full", "The volume is full.", 1000.0)


@pytest.mark.parametrize("ending", ["queued", "cancelled"])
def test_a_job_without_a_result_has_nothing_to_read(desk: Desk, ending: str) -> None:
    desk.admit()
    if ending == "cancelled":
        desk.ledger.cancel(ID, "")
    with pytest.raises(NotStored, match=ending):
        desk.ledger.stored(ID, "")


def test_an_unfinished_job_cannot_be_deleted(desk: Desk) -> None:
    desk.admit()
    with pytest.raises(NotStored):
        desk.ledger.delete(ID, "")
    assert desk.ledger.describe(ID, "")["status"] == "queued"
