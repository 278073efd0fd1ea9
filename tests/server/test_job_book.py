"""What is known of a job, between queue and store."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from server.job_book import JobBook
from server.jobs.errors import JobCancelled
from server.jobs.job import Job, JobState
from server.jobs.rates import Stage
from server.jobs.serial_queue import SerialQueue
from storage.budget import Budget
from storage.entry import JSON, Entry, EntryState, Part
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.store import ResultStore

ID = "0123456789abcdef"
Clock = Callable[[], float]


class Desk:
    """A queue, a store and the book over them, at a time that stands still."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.queue = SerialQueue(8, self.clock)
        self.store = ResultStore(folder, Budget(10**6, 10, 10**6), 100.0, self.clock)
        self.store.recover()
        self.artifacts = ResultStore(
            folder.with_name("artifacts"), Budget(10**6, 10, 10**6), 10.0, self.clock
        )
        self.artifacts.recover()
        self.book = JobBook(self.queue, (self.store, self.artifacts), self.clock)

    def clock(self) -> float:
        """Epoch seconds."""
        return self.now

    def admit(self, id: str = ID, owner: str = "", *, by_agent: bool = False) -> Job:
        """A queued job with its record."""
        store = self.artifacts if by_agent else self.store
        job = Job(id, "synth", "sketch", owner, self.now, (Stage("composing", 1.0),), lambda control: None)
        self.queue.admit(job)
        store.accept(Entry(id, EntryState.ACCEPTED, owner, self.now, detail={"operation": "synth"}))
        self.queue.release(id)
        return job

    def publish(self, id: str = ID, body: bytes = b"sound") -> None:
        """The agent's job gets its result and leaves the queue."""
        job = self.queue.take()
        assert job is not None
        with self.artifacts.stage(id) as staged:
            staged.write(body)
            parts = (Part("audio", 0, "audio/mpeg", 0, len(body), 1.5, "song.mp3"),)
            self.artifacts.publish(
                staged, content_type="audio/mpeg", parts=parts, detail={"operation": "synth"}
            )
        self.book.settle(job, JobState.DONE, "", "")
        self.queue.settle(job, JobState.DONE)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "jobs")


def test_a_queued_job_is_told_from_the_queue(desk: Desk) -> None:
    desk.admit()
    told = desk.book.describe(ID, "")
    assert (told["status"], told["queue_position"], told["operation"]) == ("queued", 1, "synth")
    assert told["expires_at"] is None


def test_another_keys_job_is_unknown_to_every_question(desk: Desk) -> None:
    desk.admit(owner="ann")
    for ask in (
        desk.book.describe,
        desk.book.cancel,
        desk.book.delete,
        desk.book.stored,
        desk.book.follow,
        desk.book.followed,
    ):
        with pytest.raises(UnknownEntry):
            ask(ID, "bob")
    assert desk.book.describe(ID, "ann")["status"] == "queued"


def test_another_key_does_not_learn_that_a_job_was_deleted(desk: Desk) -> None:
    desk.admit(owner="ann")
    desk.book.cancel(ID, "ann")
    desk.book.record_cancelled(ID)
    desk.book.delete(ID, "ann")
    with pytest.raises(EntryExpired):
        desk.book.describe(ID, "ann")
    with pytest.raises(UnknownEntry):
        desk.book.describe(ID, "bob")


def test_a_cancelled_job_is_recorded_and_answers_for_one_ttl(desk: Desk) -> None:
    desk.admit()
    assert desk.book.cancel(ID, "") == ("cancelled", True)
    desk.book.record_cancelled(ID)
    told = desk.book.describe(ID, "")
    assert (told["status"], told["expires_at"]) == ("cancelled", 1100.0)
    assert "error" not in told
    desk.now = 1100.0
    with pytest.raises(EntryExpired):
        desk.book.describe(ID, "")


def test_a_job_that_is_given_up_is_cancelled_without_its_key(desk: Desk) -> None:
    desk.admit()
    assert desk.book.is_done(ID, "") is False
    assert desk.book.give_up(ID, "") is True
    desk.book.record_cancelled(ID)
    with pytest.raises(JobCancelled):
        desk.book.is_done(ID, "")
    with pytest.raises(UnknownEntry):
        desk.book.give_up("fedcba9876543210", "")


def test_cancelling_again_tells_the_state(desk: Desk) -> None:
    desk.admit()
    desk.book.cancel(ID, "")
    desk.book.record_cancelled(ID)
    assert desk.book.cancel(ID, "") == ("cancelled", False)


def test_a_job_that_left_the_queue_unrecorded_is_cancelled_or_after_a_stop_interrupted(desk: Desk) -> None:
    desk.admit()
    desk.queue.cancel(ID)
    assert desk.book.describe(ID, "")["status"] == "cancelled"
    desk.book.close()
    told = desk.book.describe(ID, "")
    assert (told["status"], told["code"]) == ("failed", "interrupted_by_restart")


def test_a_stop_records_the_waiting_jobs_as_interrupted(desk: Desk) -> None:
    desk.admit()
    desk.book.close()
    assert desk.store.find(ID).detail["code"] == "interrupted_by_restart"
    told = desk.book.describe(ID, "")
    assert (told["status"], told["operation"], told["finished_at"]) == ("failed", "synth", 1000.0)


def test_what_an_earlier_process_left_is_interrupted(desk: Desk) -> None:
    desk.store.accept(Entry(ID, EntryState.ACCEPTED, "", 900.0, detail={"operation": "plan"}))
    desk.book.interrupt_leftovers((desk.store.find(ID),))
    told = desk.book.describe(ID, "")
    assert (told["status"], told["code"], told["operation"]) == ("failed", "interrupted_by_restart", "plan")
    assert told["created_at"] == 900.0


def test_a_failed_job_keeps_its_code_and_sentence(desk: Desk) -> None:
    desk.admit()
    job = desk.queue.take()
    assert job is not None
    desk.book.settle(job, JobState.FAILED, "disk_full", "The volume is full.")
    desk.queue.settle(job, JobState.FAILED)
    told = desk.book.describe(ID, "")
    assert (told["code"], told["error"], told["started_at"]) == ("disk_full", "The volume is full.", 1000.0)


def test_how_far_a_job_came_is_kept_when_it_ends_early(desk: Desk) -> None:
    desk.admit()
    job = desk.queue.take()
    assert job is not None
    desk.queue.control(job).report("composing", 0.6, bars=9)
    reached = desk.book.describe(ID, "")
    desk.book.settle(job, JobState.CANCELLED, "", "")
    desk.queue.settle(job, JobState.CANCELLED)
    told = desk.book.describe(ID, "")
    assert [told[name] for name in ("progress", "phase", "counters")] == [0.6, "composing", {"bars": 9}]
    assert told["progress"] == reached["progress"]


def test_a_disk_that_fails_does_not_keep_the_others_from_being_recorded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ids = [f"{n:016x}" for n in range(3)]
    for id in ids:
        desk.admit(id)
    end, broken = desk.store.end, {ids[0]}

    def failing(id: str, detail: Mapping[str, JSON]) -> Entry:
        if id in broken:
            raise OSError(30, "read-only")
        return end(id, detail)

    monkeypatch.setattr(desk.store, "end", failing)
    desk.book.close()
    assert [desk.book.describe(id, "")["code"] for id in ids] == ["interrupted_by_restart"] * 3
    assert "could not record" in caplog.text


@pytest.mark.parametrize("ending", ["queued", "cancelled"])
def test_a_job_without_a_result_has_nothing_to_read(desk: Desk, ending: str) -> None:
    desk.admit()
    if ending == "cancelled":
        desk.book.cancel(ID, "")
        desk.book.record_cancelled(ID)
    with pytest.raises(NotStored, match=ending):
        desk.book.stored(ID, "")


def test_an_unfinished_job_cannot_be_deleted(desk: Desk) -> None:
    desk.admit()
    with pytest.raises(NotStored):
        desk.book.delete(ID, "")
    assert desk.book.describe(ID, "")["status"] == "queued"


def test_an_agents_result_is_told_read_and_deleted_like_any_other(desk: Desk) -> None:
    desk.admit(owner="ann", by_agent=True)
    assert desk.book.describe(ID, "ann")["status"] == "queued"
    desk.publish()
    told = desk.book.describe(ID, "ann")
    assert (told["status"], told["expires_at"]) == ("done", 1010.0)
    assert told["tracks"] == {
        "count": 1,
        "items": [{"content_type": "audio/mpeg", "bytes": 5, "seconds": 1.5}],
    }
    assert desk.book.stored(ID, "ann").parts[0].filename == "song.mp3"
    lease = desk.book.lease(ID, "ann")
    desk.book.delete(ID, "ann")
    with pytest.raises(EntryExpired):
        desk.book.describe(ID, "ann")
    assert os.read(lease.fd, 9) == b"sound"
    lease.close()
    assert (desk.store.usage().files, desk.artifacts.usage().files) == (0, 0)


def test_an_agents_job_is_followed_while_it_is_made(desk: Desk) -> None:
    desk.admit(by_agent=True)
    assert desk.book.follow(ID, "") is None
    assert desk.book.followed(ID, "") == ""
    with desk.artifacts.stage(ID) as staged:
        staged.write(b"sou")
        staged.offer()
        following = desk.book.follow(ID, "")
        assert following is not None
        following.close()


def test_an_agents_job_expires_by_its_own_stores_hour(desk: Desk) -> None:
    desk.admit(owner="ann", by_agent=True)
    desk.publish()
    desk.now = 1010.0
    with pytest.raises(EntryExpired):
        desk.book.stored(ID, "ann")
    with pytest.raises(UnknownEntry):
        desk.book.stored(ID, "bob")
    desk.now = 1020.0
    with pytest.raises(UnknownEntry):
        desk.book.describe(ID, "ann")


def test_the_ends_of_agents_jobs_are_recorded_where_the_jobs_are(desk: Desk) -> None:
    first, waiting, running = (f"{n:016x}" for n in range(3))
    desk.admit(running, by_agent=True)
    desk.admit(waiting, by_agent=True)
    desk.admit(first, by_agent=True)
    assert desk.book.cancel(waiting, "") == ("cancelled", True)
    desk.book.record_cancelled(waiting)
    assert desk.artifacts.find(waiting).detail["status"] == "cancelled"
    assert desk.book.give_up(first, "") is True
    desk.book.record_cancelled(first)
    job = desk.queue.take()
    assert job is not None
    assert desk.book.cancel(running, "") == ("running", False)
    desk.book.settle(job, JobState.FAILED, "disk_full", "The volume is full.")
    desk.queue.settle(job, JobState.FAILED)
    assert desk.book.describe(running, "")["code"] == "disk_full"
    assert [desk.store.holds(id) for id in (first, waiting, running)] == [False] * 3


def test_a_stop_and_a_start_record_the_jobs_of_both_stores(desk: Desk) -> None:
    ids = [f"{n:016x}" for n in range(4)]
    desk.admit(ids[0])
    desk.admit(ids[1], by_agent=True)
    desk.book.close()
    for id, store in zip(ids[2:], (desk.store, desk.artifacts), strict=True):
        store.accept(Entry(id, EntryState.ACCEPTED, "", 900.0))
        desk.book.interrupt_leftovers((store.find(id),))
    told = [desk.book.describe(id, "") for id in ids]
    assert [one["code"] for one in told] == ["interrupted_by_restart"] * 4
    assert [one["expires_at"] for one in told] == [1100.0, 1010.0] * 2
