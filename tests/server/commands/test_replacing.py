"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from server.commands.replacing import replacing


def test_a_file_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    path.write_bytes(b"old")
    with replacing(path, "1") as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path: Path, error: type[BaseException]) -> None:
    with replacing(path, "1") as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_file_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error):
        write_half(tmp_path / "song.mp3", error)
    assert list(tmp_path.iterdir()) == []


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "song.mp3"
    with replacing(path, "1") as first, replacing(path, "2") as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"


def test_a_folder_in_the_way_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="name a file in it"), replacing(tmp_path, "1"):
        raise AssertionError("the work began")


def test_a_missing_folder_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as told, replacing(tmp_path / "no" / "song.mp3", "1"):
        raise AssertionError("the work began")
    assert told.value.filename == str(tmp_path / "no")


def test_a_file_that_cannot_be_made_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".song.mp3.1.part").mkdir()
    with pytest.raises(FileExistsError) as told, replacing(tmp_path / "song.mp3", "1"):
        raise AssertionError("the work began")
    assert told.value.filename == str(tmp_path / "song.mp3")
    (tmp_path / ".song.mp3.1.part").rmdir()
