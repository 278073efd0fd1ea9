"""Clocks, entries and stores for the storage tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from storage.budget import Budget
from storage.store import ResultStore
from tests.storage.doubles import Clock

MakeStore = Callable[..., ResultStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "output" / "jobs"


@pytest.fixture
def make_store(directory: Path, clock: Clock) -> MakeStore:
    """Open the store of this test's folder, as a start of the server would; again for a restart."""

    def make(max_bytes: int = 1000, max_files: int = 4, max_file_bytes: int = 400) -> ResultStore:
        store = ResultStore(directory, Budget(max_bytes, max_files, max_file_bytes), 10.0, clock)
        store.recover()
        return store

    return make


@pytest.fixture
def store(make_store: MakeStore) -> ResultStore:
    return make_store()
