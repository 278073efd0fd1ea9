"""Files that arrive whole, from a source that keeps no promise."""

import fcntl
import hashlib
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pytest

from server.commands.fetching import PAUSES_SECONDS, Fetching
from server.commands.hub_errors import HubUnreachable, WrongDigest
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.source_answers import Body, BrokenTransfer

CONTENT = bytes(range(256)) * 8
PART = f".model.safetensors.{hashlib.sha256(CONTENT).hexdigest()[:16]}.part"


def remote(content: bytes = CONTENT) -> RemoteFile:
    return RemoteFile(
        "model.safetensors", len(content), Digest("sha256", hashlib.sha256(content).hexdigest())
    )


def endless(bytes_at_once: bytes) -> Iterator[bytes]:
    """More than any file has, and an end for the test that would never have one."""
    for _ in range(1000):
        yield bytes_at_once
    raise AssertionError("the body is read without end")


@dataclass
class Planned:
    """A source that gives one planned body after another, and notes from where on it was asked."""

    bodies: deque[Body]
    asked: list[int] = field(default_factory=list)

    @contextmanager
    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> Iterator[Body]:
        self.asked.append(offset)
        yield self.bodies.popleft()


@dataclass
class Counting:
    """A watcher that counts."""

    moved_bytes: int = 0
    waits: list[float] = field(default_factory=list)

    def moved(self, name: str, count: int) -> None:
        self.moved_bytes += count

    def checked(self, name: str, fraction: float) -> None:
        assert 0 <= fraction <= 1

    def waiting(self, seconds: float, reason: str) -> None:
        self.waits.append(seconds)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def broken(content: bytes) -> Iterator[bytes]:
    yield content
    raise BrokenTransfer("The connection broke.")


def fetching(folder: Path, watcher: Counting, *bodies: Body, file: RemoteFile | None = None) -> Planned:
    """Fetch the file from a source with these bodies; the source."""
    source = Planned(deque(bodies))
    listing = Listing("m-a-p/YuE2-Vae", "main", "c" * 40, (file or remote(),))
    Fetching(source, listing, folder, watcher, lambda seconds: None).fetch(listing.files[0])
    return source


def test_a_body_without_end_ends_where_the_file_does(tmp_path: Path) -> None:
    watcher = Counting()
    source = fetching(tmp_path, watcher, Body(0, endless(CONTENT)))
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT
    assert (source.asked, watcher.moved_bytes) == ([0], len(CONTENT))
    assert names_in(tmp_path) == ["model.safetensors"]


def test_a_body_without_end_ends_where_the_file_does_after_a_break(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(CONTENT[:500])
    watcher = Counting()
    source = fetching(tmp_path, watcher, Body(500, endless(CONTENT[500:])))
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT
    assert (source.asked, watcher.moved_bytes) == ([500], len(CONTENT) - 500)


def test_wrong_bodies_without_end_are_given_up(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(CONTENT[:500])
    watcher = Counting()
    with pytest.raises(WrongDigest, match="came twice with another content"):
        fetching(tmp_path, watcher, Body(500, endless(b"x" * 77)), Body(0, endless(b"x" * 77)))
    assert watcher.moved_bytes == -500
    assert (tmp_path / PART).stat().st_size == 0


def test_without_ranges_what_is_there_already_comes_again(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(b"x" * 500)  # nothing of it may stay
    watcher = Counting()
    source = fetching(tmp_path, watcher, Body(0, iter([CONTENT])))
    assert (source.asked, watcher.moved_bytes) == ([500], len(CONTENT) - 500)
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(CONTENT + b"x")
    source = fetching(tmp_path, Counting(), Body(0, iter([CONTENT])))
    assert source.asked == [0]
    assert (tmp_path / "model.safetensors").read_bytes() == CONTENT


def test_breaks_that_bring_something_are_borne_without_limit(tmp_path: Path) -> None:
    breaks = len(PAUSES_SECONDS) + 3
    pieces = [CONTENT[count : count + 1] for count in range(breaks)]
    bodies = [Body(count, broken(piece)) for count, piece in enumerate(pieces)]
    watcher = Counting()
    fetching(tmp_path, watcher, *bodies, Body(breaks, iter([CONTENT[breaks:]])))
    assert watcher.waits == [PAUSES_SECONDS[0]] * breaks


def test_breaks_that_bring_less_than_was_there_are_not(tmp_path: Path) -> None:
    bodies = [Body(0, broken(CONTENT[: 500 - 100 * (count % 2)])) for count in range(1000)]
    watcher = Counting()
    with pytest.raises(HubUnreachable, match=f"Nothing came in {len(PAUSES_SECONDS) + 1} attempts"):
        fetching(tmp_path, watcher, *bodies)
    assert watcher.waits == [PAUSES_SECONDS[0], *PAUSES_SECONDS]


def test_a_file_without_content_is_one(tmp_path: Path) -> None:
    assert fetching(tmp_path, Counting(), file=remote(b"")).asked == []
    assert (tmp_path / "model.safetensors").read_bytes() == b""


def test_it_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[int, list[str]]] = []

    def note(handle: int) -> None:
        synced.append((os.fstat(handle).st_size, names_in(tmp_path)))

    monkeypatch.setattr("os.fsync", note)
    fetching(tmp_path, Counting(), Body(0, iter([CONTENT])))
    assert synced == [(len(CONTENT), [PART])]
    assert names_in(tmp_path) == ["model.safetensors"]


def test_a_file_that_another_pull_finishes_just_then_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, target = tmp_path / PART, tmp_path / "model.safetensors"
    part.write_bytes(CONTENT)
    lock = fcntl.flock

    def late(handle: BinaryIO, how: int) -> None:
        if not target.exists():
            part.replace(target)
        lock(handle, how)

    monkeypatch.setattr("fcntl.flock", late)
    assert fetching(tmp_path, Counting()).asked == []
    assert target.read_bytes() == CONTENT
    assert names_in(tmp_path) == ["model.safetensors"]
