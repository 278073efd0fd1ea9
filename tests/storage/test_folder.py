"""The folder: names, atomic records, and nothing foreign touched."""

import errno
import os
import stat
from pathlib import Path

import pytest

from storage.errors import DiskFull
from storage.folder import Folder, body_name, full_disk_named, hinted, make_folder, record_name
from tests.storage.doubles import accepted, entry_id, full_volume, names, open_descriptors, stored

ONE = entry_id(1)


@pytest.fixture
def folder(directory: Path) -> Folder:
    made = Folder(directory)
    made.create()
    return made


def fill(folder: Folder, body: bytes) -> str:
    name, fd = folder.stage(ONE)
    os.write(fd, body)
    os.close(fd)
    return name


def test_the_folder_and_its_parents_are_made_once(directory: Path) -> None:
    for _ in range(2):
        Folder(directory).create()
    assert names(directory) == set()


def test_each_folder_that_is_made_is_durable_in_the_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, synced = os.fsync, list[int]()

    def fsync(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    for _ in range(2):
        Folder(tmp_path / "a" / "b" / "c").create()
    above = [tmp_path / "a" / "b", tmp_path / "a", tmp_path]
    assert synced == [folder.stat().st_ino for folder in above]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (record_name(ONE), "000000….json"),
        (f".staging-{ONE}-7", ".staging-000000…-7"),
        (OSError(5, "broken", body_name(ONE)), "[Errno 5] broken: '000000….body'"),
        (f"{ONE}0 and words", f"{ONE}0 and words"),
    ],
)
def test_the_log_holds_no_whole_id(text: object, hint: str) -> None:
    assert hinted(text) == hint


def test_a_relative_folder_is_made_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(Path("a/b"))
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_every_word_for_a_full_volume_is_one_error(number: int) -> None:
    with pytest.raises(DiskFull), full_disk_named():
        raise OSError(number, "full")


def test_other_errors_of_the_system_pass() -> None:
    with pytest.raises(PermissionError), full_disk_named():
        raise PermissionError(errno.EACCES, "no")


def test_a_record_is_written_replaced_and_read(folder: Folder, directory: Path) -> None:
    folder.write_record(accepted(), new=True)
    folder.write_record(stored())
    assert folder.read_record(ONE) == stored()
    assert names(directory) == {record_name(ONE)}
    folder.remove_record(ONE)
    folder.remove_record(ONE)
    assert names(directory) == set()


def test_a_record_of_another_entry_is_refused(folder: Folder, directory: Path) -> None:
    folder.write_record(accepted(2))
    (directory / record_name(entry_id(2))).rename(directory / record_name(ONE))
    with pytest.raises(ValueError, match="another entry"):
        folder.read_record(ONE)


def test_publishing_leaves_body_and_record(folder: Folder, directory: Path) -> None:
    folder.publish(fill(folder, b"0123456789"), stored(size=10))
    assert names(directory) == {record_name(ONE), body_name(ONE)}
    fd = folder.open_body(ONE, 10)
    assert os.read(fd, 99) == b"0123456789"
    assert os.get_inheritable(fd) is False
    os.close(fd)


def test_a_body_of_another_size_a_link_or_a_pipe_is_not_opened(folder: Folder, directory: Path) -> None:
    before = open_descriptors()
    with pytest.raises(FileNotFoundError):
        folder.open_body(ONE, 1)
    (directory / body_name(ONE)).write_bytes(b"12")
    with pytest.raises(ValueError, match="another size"):
        folder.open_body(ONE, 1)
    (directory / "elsewhere").write_bytes(b"1")
    (directory / body_name(entry_id(2))).symlink_to(directory / "elsewhere")
    with pytest.raises(ValueError, match="symbolic link"):
        folder.open_body(entry_id(2), 1)
    os.mkfifo(directory / body_name(entry_id(3)))
    with pytest.raises(ValueError, match="no regular file"):
        folder.open_body(entry_id(3), 0)
    assert open_descriptors() == before


def test_a_folder_that_cannot_be_opened_is_no_missing_body(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match="too many"):
        folder.open_body(ONE, 1)


def test_only_our_regular_files_are_listed(folder: Folder, directory: Path) -> None:
    folder.publish(fill(folder, b"123"), stored(size=3))
    staged = fill(folder, b"12345")
    for name in (
        "notes.json",
        "x.body",
        ONE,
        f"{ONE}.json.bak",
        f".staging-{ONE}",
        ".staging-",
        f"{ONE[:-1]}G.json",
    ):
        (directory / name).write_bytes(b"foreign")
    (directory / record_name(entry_id(2))).mkdir()
    (directory / body_name(entry_id(3))).symlink_to(directory / body_name(ONE))
    listing = folder.list()
    assert listing.records == {ONE}
    assert listing.bodies == {ONE: 3}
    assert listing.staged == {staged: 5}


def test_a_folder_that_cannot_be_synced_is_used_all_the_same(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    folder.write_record(accepted(), new=True)
    assert folder.read_record(ONE) == accepted()


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_new_record_that_fails_is_not_there(
    call: str, folder: Folder, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_descriptors()
    with full_volume(monkeypatch, call), pytest.raises(DiskFull):
        folder.write_record(accepted(), new=True)
    assert names(directory) == set()
    assert open_descriptors() == before


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_replacement_that_fails_leaves_the_old_record(
    call: str, folder: Folder, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_record(accepted())
    with full_volume(monkeypatch, call), pytest.raises(DiskFull):
        folder.write_record(stored())
    assert folder.read_record(ONE) == accepted()
    assert names(directory) == {record_name(ONE)}
