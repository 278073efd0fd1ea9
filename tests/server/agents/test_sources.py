"""What an earlier job recorded, as input of another."""

import asyncio
import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.agents import sources
from server.agents.sources import recording_of
from server.job_book import JobBook
from server.jobs.serial_queue import SerialQueue
from server.limits import Limits
from storage.budget import Budget
from storage.entry import Entry, EntryState, Part
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.store import ResultStore

BODY = b"head" + b"sound" + b"tail"


class Shelves:
    """Two stores with a book over them, at a time that stands still."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        budget = Budget(2**30, 9, 2**30)
        self.stores = [
            ResultStore(folder / name, budget, 60, lambda: self.now) for name in ("jobs", "artifacts")
        ]
        for store in self.stores:
            store.recover()
        self.book = JobBook(SerialQueue(1), self.stores, lambda: self.now)
        self.limits = Limits()

    def publish(self, number: int, *parts: Part, store: int = 1, owner: str = "me") -> str:
        entry = self.stores[store].accept(Entry(f"{number:016x}", EntryState.ACCEPTED, owner, self.now))
        with self.stores[store].stage(entry.id) as staged:
            staged.write(BODY)
            self.stores[store].publish(staged, content_type="multipart/mixed", parts=parts, detail={})
        return entry.id

    def read(self, job_id: str, owner: str = "me") -> io.BytesIO:
        return asyncio.run(recording_of(job_id, owner, self.book, self.limits))


@pytest.fixture
def shelves(tmp_path: Path) -> Iterator[Shelves]:
    shelves = Shelves(tmp_path)
    yield shelves
    assert [store.audit() for store in shelves.stores] == [[], []]


SOUND = Part("audio", 0, "audio/mpeg", 4, 5, 1.0, "song.mp3")
SECOND = Part("audio", 1, "audio/mpeg", 9, 4, 1.0, "song.mp3")
REPLAY = Part("replay", 0, "application/json", 0, 4)


@pytest.mark.parametrize("store", [0, 1])
def test_the_first_track_is_read_from_either_store(shelves: Shelves, store: int) -> None:
    job_id = shelves.publish(1, REPLAY, SOUND, SECOND, store=store)
    recording = shelves.read(job_id)
    assert (recording.tell(), recording.read()) == (0, b"sound")


def test_the_lease_is_given_back(shelves: Shelves) -> None:
    job_id = shelves.publish(1, SOUND)
    shelves.read(job_id)
    shelves.stores[1].delete(job_id)
    assert shelves.stores[1].usage().files == 0


def test_what_made_no_audio_is_refused_by_name(shelves: Shelves) -> None:
    job_id = shelves.publish(1, Part("score", 0, "text/vnd.abc", 0, 4))
    with pytest.raises(InvalidRequest, match="made no audio") as raised:
        shelves.read(job_id)
    assert raised.value.field == "job_id"


def test_more_than_may_be_uploaded_is_refused(shelves: Shelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_BODY_BYTES", 4)
    job_id = shelves.publish(1, SOUND)
    with pytest.raises(InvalidRequest, match="as mp3 or opus"):
        shelves.read(job_id)


def test_jobs_that_are_not_there_are_told_apart(shelves: Shelves) -> None:
    job_id = shelves.publish(1, SOUND)
    waiting = shelves.stores[1].accept(Entry(f"{2:016x}", EntryState.ACCEPTED, "me", shelves.now))
    with pytest.raises(UnknownEntry):
        shelves.read(job_id, owner="you")
    with pytest.raises(UnknownEntry):
        shelves.read("f" * 16)
    with pytest.raises(NotStored):
        shelves.read(waiting.id)
    shelves.now += 61
    with pytest.raises(EntryExpired):
        shelves.read(job_id)


def test_a_long_recording_is_read_whole(shelves: Shelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SLICE_BYTES", 2)
    job_id = shelves.publish(1, SOUND)
    assert shelves.read(job_id).read() == b"sound"


@pytest.mark.parametrize("kind", ["audio/pcm", "audio/basic", "audio/x-alaw-basic"])
def test_samples_without_a_head_are_refused_by_name(shelves: Shelves, kind: str) -> None:
    job_id = shelves.publish(1, Part("audio", 0, kind, 0, 4, 1.0, "speech.pcm"))
    with pytest.raises(InvalidRequest, match="samples alone") as raised:
        shelves.read(job_id)
    assert raised.value.field == "job_id"


def test_the_lease_is_given_back_where_reading_fails(
    shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fd: int, count: int, offset: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    job_id = shelves.publish(1, SOUND)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", broken)
        with pytest.raises(OSError, match="Input/output error"):
            shelves.read(job_id)
    shelves.stores[1].delete(job_id)
    assert shelves.stores[1].usage().files == 0
