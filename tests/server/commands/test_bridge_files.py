"""Paths as agents write them."""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from server.commands.bridge_errors import BridgeRefusal
from server.commands.bridge_files import (
    check_place,
    file_at,
    named_in,
    path_in,
    recording_in,
    saving,
)
from server.limits import MAX_BODY_BYTES
from tests.server.commands.mcp_double import LINK_PATH, SEAL


def refused(call: Callable[[], object]) -> dict[str, Any]:
    """What the refusal tells."""
    with pytest.raises(BridgeRefusal) as told:
        call()
    assert told.value.told["message"] == str(told.value)
    return told.value.told


def test_a_recording_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Gespräch 1.wav").write_bytes(b"RIFF")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert recording_in("file", str(tmp_path / "Gespräch 1.wav")) == b"RIFF"
    assert recording_in("file", "~/Gespräch 1.wav") == b"RIFF"


@pytest.mark.parametrize("value", ["", " ", 5, ["a.wav"], True, "~nobody-of-this-name/a.wav"])
def test_what_is_no_path_is_told(value: Any) -> None:
    told = refused(lambda: path_in("file", value))
    assert (told["code"], told["field"]) == ("invalid_field", "file")


@pytest.mark.parametrize("value", ["talk.wav", "./talk.wav", "songs/../talk.wav", "x" * 5000])
def test_a_path_from_a_folder_that_nobody_knows_is_told(value: str) -> None:
    told = refused(lambda: path_in("file", value))
    assert (told["code"], told["field"]) == ("invalid_field", "file")
    assert "must be a whole path" in told["message"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.touch(), "is empty"),
        (lambda path: os.mkfifo(path), "is a pipe"),
        (lambda path: path.symlink_to(path), "symbolic links"),
    ],
)
def test_a_recording_that_cannot_be_read_is_told(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    path = tmp_path / "talk.wav"
    make(path)
    told = refused(lambda: recording_in("file", str(path)))
    assert (told["code"], told["field"]) == ("invalid_field", "file")
    assert str(path) in told["message"]
    assert words in told["message"]


def test_a_recording_that_nobody_may_read_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(b"RIFF")

    def forbidden(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("server.commands.recording._without_waiting", forbidden)
    told = refused(lambda: recording_in("file", str(path)))
    assert told["code"] == "invalid_field"
    assert "Permission denied" in told["message"]


@pytest.mark.parametrize("value", ["/a\0b", "/" + "x" * 5000])
def test_a_name_that_no_file_has_is_told(value: str) -> None:
    assert refused(lambda: recording_in("file", value))["code"] == "invalid_field"


def test_a_recording_of_64_mebibytes_is_the_largest(tmp_path: Path) -> None:
    path = tmp_path / "talk.wav"
    path.touch()
    os.truncate(path, MAX_BODY_BYTES)
    assert len(recording_in("file", str(path))) == MAX_BODY_BYTES
    os.truncate(path, MAX_BODY_BYTES + 1)
    told = refused(lambda: recording_in("file", str(path)))
    assert told["code"] == "body_too_large"
    assert "64 MiB" in told["message"]


def test_a_place_is_a_new_file_or_a_folder(tmp_path: Path) -> None:
    check_place(tmp_path / "song.mp3", is_folder=False)
    check_place(tmp_path, is_folder=True)
    assert file_at(tmp_path / "mine.mp3", "song.mp3") == tmp_path / "mine.mp3"
    assert file_at(tmp_path, "song.mp3") == tmp_path / "song.mp3"


def test_a_place_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "song.mp3").touch()
    (tmp_path / "gone.mp3").symlink_to(tmp_path / "nowhere")
    for name in ("song.mp3", "gone.mp3"):
        told = refused(partial(check_place, tmp_path / name, is_folder=False))
        assert (told["code"], told["path"]) == ("file_exists", str(tmp_path / name))
    assert refused(lambda: file_at(tmp_path, "song.mp3"))["code"] == "file_exists"


def test_a_place_that_is_no_ordinary_file_is_not_to_be_removed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp3")
    for place in (Path("/dev/null"), tmp_path / "pipe.mp3"):
        told = refused(partial(check_place, place, is_folder=False))
        assert (told["code"], told["field"]) == ("not_saved", "save_to")
        assert "remove" not in told["message"]
        assert "new file or a folder" in told["message"]


def test_a_folder_of_the_files_name_is_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "song.mp3").mkdir()
    assert refused(lambda: file_at(tmp_path, "song.mp3"))["code"] == "file_exists"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place, is_folder in ((tmp_path / "no" / "song.mp3", False), (tmp_path / "no", True)):
        told = refused(partial(check_place, place, is_folder=is_folder))
        assert told["code"] == "no_such_folder"
        assert f"{tmp_path / 'no'} is no folder" in told["message"]
    assert refused(lambda: check_place(tmp_path / "file" / "a", is_folder=False))["code"] == "no_such_folder"


@pytest.mark.parametrize("root", ["http://127.0.0.1:8000", "https://songs.example/studio"])
def test_a_link_names_its_path_and_its_file(root: str) -> None:
    assert named_in(f"{root}{LINK_PATH}") == (LINK_PATH, "harbour-lamps.mp3")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/artifacts/",
        f"/artifacts/{SEAL}",
        f"/artifacts/{SEAL}/",
        f"/artifacts/{SEAL}/..",
        f"/artifacts/{SEAL}/.bashrc",
        f"/artifacts/{SEAL}/..%2F..%2Fetc%2Fpasswd",
        f"/artifacts/{SEAL}/%2E%2E",
        f"/artifacts/{SEAL}/a%5Cb.mp3",
        f"/artifacts/{SEAL}/a%00.mp3",
        f"/artifacts/{SEAL}/a%0A.mp3",
        f"/artifacts/{SEAL}/{'a' * 300}.mp3",
        "/job?id=0011&track=0",
    ],
)
def test_what_is_no_link_is_not_followed(path: str) -> None:
    assert refused(lambda: named_in(f"http://127.0.0.1:8000{path}"))["code"] == "wrong_service"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk_full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk_full"),
        (PermissionError(13, "Permission denied"), "not_saved"),
        (FileExistsError(17, "File exists"), "file_exists"),
        (ValueError("embedded null byte"), "invalid_field"),
    ],
)
def test_what_keeps_a_file_from_being_saved_is_told(tmp_path: Path, error: Exception, code: str) -> None:
    def fail() -> None:
        with saving(tmp_path / "song.mp3"):
            raise error

    told = refused(fail)
    assert (told["code"], told["field"]) == (code, "save_to")
