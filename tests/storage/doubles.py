"""Stand-ins and short cuts of the storage tests."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from storage.entry import JSON, Entry, EntryState, Part
from storage.store import Lease, ResultStore


class Clock:
    """A clock that moves only when told to; starts at 1000 s."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def entry_id(number: int) -> str:
    return f"{number:016x}"


def accepted(number: int = 1, key: str = "", owner: str = "", created_at: float = 1000.0) -> Entry:
    return Entry(entry_id(number), EntryState.ACCEPTED, owner, created_at, idempotency_key=key)


def stored(
    number: int = 1, size: int = 10, expires_at: float = 1010.0, key: str = "", owner: str = ""
) -> Entry:
    entry = accepted(number, key, owner)
    return entry.evolve(state=EntryState.STORED, expires_at=expires_at, size_bytes=size)


def ended(number: int = 1, expires_at: float = 1010.0, key: str = "") -> Entry:
    return accepted(number, key).evolve(state=EntryState.ENDED, expires_at=expires_at)


def publish(store: ResultStore, number: int, body: bytes, detail: Mapping[str, JSON] | None = None) -> Entry:
    """Accept, stage and publish one result of a single part."""
    entry = store.accept(accepted(number))
    with store.stage(entry.id) as staged:
        staged.write(body)
        parts = [Part("body", 0, "audio/mpeg", 0, len(body))]
        return store.publish(staged, content_type="audio/mpeg", parts=parts, detail=detail or {})


def body_of(lease: Lease) -> bytes:
    return os.pread(lease.fd, lease.entry.size_bytes + 1, 0)


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def open_descriptors() -> int:
    """Number of descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def full_volume(
    monkeypatch: pytest.MonkeyPatch, call: str, passing: int = 0, number: int = errno.ENOSPC
) -> Iterator[None]:
    """Let a call of `os` find the volume full after `passing` good ones; opening counts only where it makes a file.

    Any other error is raised where its `number` is given.
    """
    real = getattr(os, call)
    left = [passing]

    def full(*args: object, **options: object) -> object:
        if call == "open" and not int(str(args[1])) & os.O_CREAT:
            return real(*args, **options)
        left[0] -= 1
        if left[0] >= 0:
            return real(*args, **options)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        yield
