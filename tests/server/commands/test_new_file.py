"""Files that appear whole or not at all, and never in another's place."""

import errno
import os
from pathlib import Path

import pytest

from server.commands.new_file import NewFile


def write(path: Path, content: bytes, mark: str = "1") -> None:
    file = NewFile(path, mark)
    try:
        file.write(content)
        assert not path.exists() or path.read_bytes() != content
        file.publish()
    finally:
        file.discard()


def no_links(source: Path, target: Path) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def test_a_file_is_there_once_it_is_published(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_discarded_leaves_nothing(tmp_path: Path) -> None:
    file = NewFile(tmp_path / "song.mp3", "1")
    file.write(b"half")
    file.discard()
    file.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_what_is_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "song.mp3"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_nothing_stays(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    path.symlink_to(tmp_path / "elsewhere.mp3")
    with pytest.raises(FileExistsError):
        write(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "song.mp3"
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_cannot_be_given_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path, target: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path / "song.mp3", b"whole")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["open", "fsync"])
def test_a_folder_that_takes_no_orders_keeps_no_file_from_being_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "song.mp3"
    file = NewFile(path, "1")
    file.write(b"whole")
    own = file._file.fileno()

    def refuse(target: object, *flags: int) -> None:
        if target != own:
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, name, refuse)
    file.publish()
    monkeypatch.undo()
    file.discard()
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_content_that_cannot_be_kept_gets_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path / "song.mp3", b"whole")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_at_the_write() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        file = NewFile.__new__(NewFile)
        file._file = full
        with pytest.raises(OSError, match="No space left"):
            file.write(b"more")


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    first, second = NewFile(path, "1"), NewFile(path, "2")
    first.write(b"first")
    second.write(b"second")
    second.publish()
    with pytest.raises(FileExistsError):
        first.publish()
    first.discard()
    second.discard()
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_of_any_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 255)
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
