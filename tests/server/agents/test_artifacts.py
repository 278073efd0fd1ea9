"""The agents' own store: its bounds, and what it says where they are reached."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.agents.artifacts import ARTIFACT_SECONDS, MAX_ARTIFACTS, MAX_ARTIFACTS_BYTES, open_artifacts
from server.envelopes import error_body
from server.errors import job_outcome
from server.jobs.job import JobState
from server.settings import load
from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, ResultTooLarge, StoreFull
from storage.staging import StagedFile
from storage.store import ResultStore

GIBIBYTE = 1024**3


class Shelf:
    """The store in a folder, at a time that stands still; owner of the files that are being made."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.grown: list[str] = []
        self.making = ExitStack()
        environ = {"YUE2_RESULT_DIR": str(folder / "jobs"), "YUE2_RESULT_TTL_SECONDS": "5"}
        self.store: ResultStore = open_artifacts(load(environ), lambda: self.now, self.grown.append)
        self.store.recover()

    def stage(self, number: int) -> StagedFile:
        """A file that is begun and stays so."""
        entry = self.store.accept(Entry(f"{number:016x}", EntryState.ACCEPTED, "", self.now))
        return self.making.enter_context(self.store.stage(entry.id))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """Without waiting for the disk."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    shelf = Shelf(tmp_path)
    with shelf.making:
        yield shelf


def test_files_lie_beside_the_results_and_are_kept_for_an_hour(shelf: Shelf, tmp_path: Path) -> None:
    staged = shelf.stage(1)
    staged.write(b"sound")
    staged.offer()
    entry = shelf.store.publish(staged, content_type="audio/mpeg", parts=(), detail={})
    assert (tmp_path / "agent-artifacts" / f"{entry.id}.body").read_bytes() == b"sound"
    assert not (tmp_path / "jobs").exists()
    assert shelf.grown == [entry.id] * 2
    assert (ARTIFACT_SECONDS, entry.expires_at) == (3600, 4600.0)
    shelf.now = 4599.0
    assert shelf.store.find(entry.id) == entry
    shelf.now = 4600.0
    with pytest.raises(EntryExpired):
        shelf.store.find(entry.id)


def test_there_are_at_most_128_files_and_a_place_is_free_when_one_goes(shelf: Shelf) -> None:
    staged = [shelf.stage(number) for number in range(MAX_ARTIFACTS)]
    assert (len(staged), shelf.store.usage().full) == (128, True)
    with pytest.raises(StoreFull, match="128 of 128 files"):
        shelf.store.check_accepting()
    with pytest.raises(StoreFull):
        shelf.stage(128)
    staged[7].close()
    shelf.stage(129)
    assert shelf.store.usage().files == 128


def test_there_are_at_most_two_gibibytes_of_them_and_one_in_a_file(shelf: Shelf) -> None:
    first, second, third = (shelf.stage(number) for number in range(3))
    with pytest.raises(ResultTooLarge):
        shelf.stage(3).truncate(GIBIBYTE + 1)
    first.truncate(GIBIBYTE)
    second.truncate(GIBIBYTE - 1)
    third.write(b"1")
    assert (shelf.store.usage().bytes, shelf.store.usage().full) == (MAX_ARTIFACTS_BYTES, True)
    with pytest.raises(StoreFull, match=f"{2 * GIBIBYTE} of {2 * GIBIBYTE} bytes"):
        third.write(b"2")
    first.truncate(0)
    assert not shelf.store.usage().full


def test_a_full_store_is_explained_by_its_own_bounds(shelf: Shelf) -> None:
    for number in range(MAX_ARTIFACTS):
        shelf.stage(number)
    with pytest.raises(StoreFull) as refusal:
        shelf.store.check_accepting()
    status, _, body = error_body(refusal.value)
    assert (status, body["code"]) == (507, "result_store_full")
    assert job_outcome(refusal.value) == (JobState.FAILED, "result_store_full", body["error"])
    sentence = str(body["error"])
    assert "kept for an hour" in sentence
    assert not any(name in sentence for name in ("YUE2_", "delete", "DELETE"))
