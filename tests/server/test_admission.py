"""The one door: places, records, keys, and nothing left behind by a refusal."""

import asyncio
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect

from engine.errors import InvalidRequest
from server.admission import Admissions, Admitted, Gate, check_idempotency_key
from server.errors import IdempotencyMismatch, TooManyStreams, TooManySynchronous, TooManyUploads
from server.jobs.errors import GroupFull, InputsFull, QueueClosed, QueueFull
from server.jobs.job import JobState
from server.jobs.rates import RateBook, Stage
from server.jobs.serial_queue import SerialQueue
from server.limits import MAX_NOTE_CHARACTERS, MAX_NOTES, Limits
from server.log_ring import request_id
from server.work import Making, Packed, Prepared
from storage.budget import Budget
from storage.entry import JSON, Part
from storage.errors import DiskFull, StoreFull
from storage.staging import StagedFile
from storage.store import ResultStore


def prepared(digest: str = "d") -> Prepared:
    """Work that writes nothing."""

    def work(making: Making) -> Packed:
        return Packed("text/plain", ())

    return Prepared("check", "none", (Stage("working", 1.0),), digest, work)


class Door:
    """A gate over a queue of two and a store in a folder."""

    def __init__(self, folder: Path) -> None:
        numbers: Callable[[], int] = itertools.count().__next__
        self.rates = RateBook()
        self.queue = SerialQueue(2, rates=self.rates, most_input_bytes=100)
        self.store = ResultStore(folder, Budget(1000, 2, 1000), 100.0, lambda: 0.0)
        self.store.recover()
        self.gate = Gate(self.queue, self.store, lambda: 0.0, lambda: f"{numbers():016x}")
        self.folder = folder

    def records(self) -> int:
        """How many records lie on the disk."""
        return len(list(self.folder.glob("*.json")))


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "jobs")


def test_an_admitted_job_is_recorded_and_takeable(door: Door) -> None:
    admitted = door.gate.admit(prepared(), "ann", "")
    entry = door.store.find(admitted.job_id)
    job = door.queue.take()
    assert job is not None
    assert (job.id, entry.owner, entry.detail["operation"]) == (admitted.job_id, "ann", "check")
    assert admitted.queued is not None
    assert (admitted.queued.state, admitted.queued.queue_position) == ("queued", 1)


def test_the_work_is_timed_up_to_the_disk_and_logs_under_its_request(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def work(making: Making) -> Packed:
        told.append(request_id.get())
        monkeypatch.setattr(making.stopwatch, "metrics", metrics)
        return Packed("text/plain", ())

    def metrics() -> dict[str, JSON]:
        told.append("metrics")
        return {}

    def sealing(staged: StagedFile) -> tuple[int, str]:
        told.append("sealed")
        return seal(staged)

    seal = StagedFile.seal
    monkeypatch.setattr(StagedFile, "seal", sealing)
    token = request_id.set("the-request")
    door.gate.admit(Prepared("check", "none", (Stage("working", 1.0),), "d", work), "", "")
    request_id.reset(token)
    job = door.queue.take()
    assert job is not None
    job.context.run(job.work, door.queue.control(job))
    assert told[:3] == ["the-request", "sealed", "metrics"]


def test_a_refusal_leaves_no_record_and_counts_once(door: Door) -> None:
    for _ in range(2):
        door.gate.admit(prepared(), "", "")
    with pytest.raises(QueueFull), door.gate.counted():
        door.gate.admit(prepared(), "", "")
    with pytest.raises(QueueFull), door.gate.counted():
        door.gate.check("", "")
    assert door.queue.snapshot().rejected == 2
    assert door.records() == 2


def test_a_gate_of_a_group_lets_through_what_the_group_may_have(tmp_path: Path) -> None:
    numbers: Callable[[], int] = itertools.count().__next__
    queue = SerialQueue(4, group_limits={"agents": 1})
    store = ResultStore(tmp_path / "agents", Budget(1000, 9, 1000), 100.0, lambda: 0.0)
    store.recover()
    gate = Gate(queue, store, lambda: 0.0, lambda: f"{numbers():016x}", "agents")
    admitted = gate.admit(prepared(), "ann", "key")
    for refused in (lambda: gate.check("", ""), lambda: gate.admit(prepared(), "", "")):
        with pytest.raises(GroupFull), gate.counted():
            refused()
    gate.check("ann", "key")
    assert gate.admit(prepared(), "ann", "key") == Admitted(admitted.job_id, None)
    assert (queue.snapshot().rejected, queue.snapshot().grouped) == (2, {"agents": 1})
    assert len(list((tmp_path / "agents").glob("*.json"))) == 1


def test_a_record_that_cannot_be_written_gives_the_groups_place_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = SerialQueue(4, group_limits={"agents": 1})
    store = ResultStore(tmp_path / "agents", Budget(1000, 9, 1000), 100.0, lambda: 0.0)
    store.recover()

    def full(entry: object) -> None:
        raise DiskFull

    monkeypatch.setattr(store, "accept", full)
    with pytest.raises(DiskFull):
        Gate(queue, store, lambda: 0.0, lambda: "0" * 16, "agents").admit(prepared(), "", "")
    assert queue.snapshot().grouped == {}


def test_a_full_store_refuses_before_the_queue_is_asked(door: Door) -> None:
    ids = [door.gate.admit(prepared(), "", "").job_id for _ in range(2)]
    staged = [door.store.stage(id) for id in ids]
    with pytest.raises(StoreFull), door.gate.counted():
        door.gate.check("", "")
    for file in staged:
        file.close()
    assert door.queue.snapshot().rejected == 1


def test_a_disk_that_takes_no_record_gives_the_place_back(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(entry: object) -> None:
        raise DiskFull

    monkeypatch.setattr(door.store, "accept", full)
    with pytest.raises(DiskFull), door.gate.counted():
        door.gate.admit(prepared(), "", "")
    snapshot = door.queue.snapshot()
    assert (snapshot.pending, snapshot.rejected, door.records()) == (0, 1, 0)


def test_a_stop_between_record_and_release_leaves_neither(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = door.store.accept

    def closing(entry: object) -> object:
        door.queue.close()
        return accept(entry)  # type: ignore[arg-type]

    monkeypatch.setattr(door.store, "accept", closing)
    with pytest.raises(QueueClosed):
        door.gate.admit(prepared(), "", "")
    assert (door.queue.snapshot().pending, door.records()) == (0, 0)


def test_a_known_key_answers_the_same_job_and_another_body_is_a_mismatch(door: Door) -> None:
    first = door.gate.admit(prepared(), "ann", "k")
    again = door.gate.admit(prepared(), "ann", "k")
    assert (again.job_id, again.queued) == (first.job_id, None)
    assert door.gate.job_of_key("ann", "k") == first.job_id
    assert (door.gate.job_of_key("bob", "k"), door.gate.job_of_key("ann", "")) == ("", "")
    with pytest.raises(IdempotencyMismatch):
        door.gate.admit(prepared("other"), "ann", "k")
    assert door.gate.admit(prepared("other"), "bob", "k").job_id != first.job_id


def test_many_at_once_with_one_key_take_one_place(door: Door) -> None:
    start = threading.Barrier(8)

    def submit(_: int) -> str:
        start.wait(5)
        return door.gate.admit(prepared(), "ann", "k").job_id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(submit, range(8)))
    assert len(ids) == 1
    assert (door.queue.snapshot().pending, door.queue.snapshot().rejected) == (1, 0)


def test_a_known_key_passes_the_early_check_of_a_full_queue(door: Door) -> None:
    door.gate.admit(prepared(), "ann", "k")
    door.gate.admit(prepared(), "", "")
    door.gate.check("ann", "k")
    with pytest.raises(QueueFull), door.gate.counted():
        door.gate.check("bob", "k")
    assert door.queue.snapshot().rejected == 1


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (TooManyStreams("requests being checked", 32), 1),
        (TooManySynchronous("synchronous requests", 8), 1),
        (TooManyUploads("uploads", 2), 1),
        (StoreFull(1, 1, 1, 1), 1),
        (DiskFull(), 1),
        (QueueFull(1), 1),
        (InputsFull(1), 1),
        (QueueClosed(), 0),
        (IdempotencyMismatch(), 0),
        (InvalidRequest("field", "Wrong."), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_want_of_room_counts_as_a_refusal_and_nothing_else_does(
    door: Door, error: Exception, counts: int
) -> None:
    with pytest.raises(type(error)), door.gate.counted():
        raise error
    assert door.queue.snapshot().rejected == counts


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 256])
def test_a_key_is_visible_ascii(key: str) -> None:
    with pytest.raises(InvalidRequest):
        check_idempotency_key(key)
    assert check_idempotency_key("a-key_1") == "a-key_1"
    assert check_idempotency_key(None) == ""


def test_notes_are_kept_each_once_and_within_bounds(door: Door) -> None:
    known = tuple(f"Before {n}." for n in range(19))

    def work(making: Making) -> Packed:
        return Packed("text/plain", (), ("Before 0.", "x" * 501, "One too many."))

    stages = (Stage("working", 1.0),)
    admitted = door.gate.admit(Prepared("check", "none", stages, "d", work, notes=known), "", "")
    assert admitted.queued is not None
    assert admitted.queued.notes == known
    assert door.store.find(admitted.job_id).detail["notes"] == list(known)
    job = door.queue.take()
    assert job is not None
    job.work(door.queue.control(job))
    assert door.store.find(job.id).detail["notes"] == [*known, "x" * 500]


def test_notes_of_the_queued_job_are_bounded_too(door: Door) -> None:
    long = "x" * (MAX_NOTE_CHARACTERS + 1)
    noted = replace(prepared(), notes=(long, *(f"Note {n}." for n in range(MAX_NOTES))))
    admitted = door.gate.admit(noted, "", "")
    assert admitted.queued is not None
    assert admitted.queued.notes == ("x" * 500, *(f"Note {n}." for n in range(19)))
    assert door.queue.view(admitted.job_id).notes == admitted.queued.notes


async def present() -> None:
    """The client is there."""


async def gone() -> None:
    raise ClientDisconnect


def never() -> Prepared:
    raise AssertionError("It was prepared.")


def test_what_a_client_asked_for_that_has_gone_is_not_prepared(door: Door) -> None:
    with pytest.raises(ClientDisconnect):
        asyncio.run(Admissions(door.gate, Limits()).admit("", "", 0, never, gone))
    assert door.queue.snapshot().pending == 0


def test_an_upload_for_which_others_left_no_room_meanwhile_is_not_prepared(door: Door) -> None:
    door.gate.admit(replace(prepared(), input_bytes=90), "", "")
    with pytest.raises(InputsFull):
        asyncio.run(Admissions(door.gate, Limits()).admit("", "", 20, never, present))


def test_those_with_a_key_are_admitted_one_by_one_without_workers_that_wait(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    admit, met = door.gate.admit, []

    def meeting(wanted: Prepared, owner: str, key: str) -> Admitted:
        with suppress(threading.BrokenBarrierError):
            met.append(both.wait(0.02))
        return admit(wanted, owner, key)

    async def scene(*keys: str) -> list[Admitted]:
        admissions = Admissions(door.gate, Limits())
        return await asyncio.gather(*(admissions.admit("", key, 0, prepared, present) for key in keys))

    monkeypatch.setattr(door.gate, "admit", meeting)
    one, other = asyncio.run(scene("k", "k"))
    assert (one.job_id, met) == (other.job_id, [])


def test_speed_is_learnt_under_the_name_that_the_work_brings(door: Door) -> None:
    door.gate.admit(replace(prepared(), rates_id="none on a device"), "", "")
    job = door.queue.take()
    assert job is not None
    control = door.queue.control(job)
    control.report("working", 0.0)
    door.queue.settle(job, JobState.DONE)
    assert '"none on a device", "working"' in door.rates.to_json()


def test_uploads_of_all_jobs_are_bounded_and_a_refusal_counts_once(door: Door) -> None:
    first = door.gate.admit(replace(prepared(), input_bytes=60), "ann", "k").job_id
    door.gate.check("", "", 40)
    door.gate.check("ann", "k", 41)
    with pytest.raises(InputsFull), door.gate.counted():
        door.gate.check("", "", 41)
    with pytest.raises(InputsFull), door.gate.counted():
        door.gate.admit(replace(prepared(), input_bytes=41), "", "")
    snapshot = door.queue.snapshot()
    assert (snapshot.pending, snapshot.rejected, door.records()) == (1, 2, 1)
    door.queue.cancel(first)
    door.gate.check("", "", 100)


def test_an_admission_that_fails_keeps_no_upload(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(entry: object) -> None:
        raise DiskFull

    monkeypatch.setattr(door.store, "accept", full)
    with pytest.raises(DiskFull):
        door.gate.admit(replace(prepared(), input_bytes=100), "", "")
    door.gate.check("", "", 100)
    assert door.queue.snapshot().pending == 0


def test_a_body_that_can_be_followed_is_told_so_and_offered_as_it_is_made(door: Door) -> None:
    reached: list[int] = []

    def work(making: Making) -> Packed:
        following = door.store.follow(making.job_id)
        assert following is not None
        with following:
            making.sink.write(b"audio")
            making.offer()
            reached.append(following.reach().offered)
        return Packed("audio/mpeg", (Part("audio", 0, "audio/mpeg", 0, 5),))

    followed = replace(prepared(), work=work, followed="audio/mpeg")
    job_id = door.gate.admit(followed, "", "").job_id
    assert door.store.find(job_id).detail["followed"] == "audio/mpeg"
    job = door.queue.take()
    assert job is not None
    job.work(door.queue.control(job))
    assert reached == [5]
    assert door.store.find(job_id).detail["followed"] == "audio/mpeg"
    door.queue.settle(job, JobState.DONE)
    other = door.gate.admit(prepared(), "", "").job_id
    assert "followed" not in door.store.find(other).detail
