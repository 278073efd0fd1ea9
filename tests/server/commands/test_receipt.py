"""The note that a folder is whole."""

import json
from pathlib import Path

import pytest

from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.receipt import NAME, read_receipt, write_receipt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file and the note of it."""
    (tmp_path / "config.json").write_text("{}")
    files = (RemoteFile("config.json", 2, Digest("git", "0" * 40)),)
    write_receipt(tmp_path, Listing("m-a-p/YuE2-Vae", "main", "c" * 40, files))
    return tmp_path


def test_what_was_noted_is_read_until_a_file_changes(folder: Path) -> None:
    kept = read_receipt(folder)
    assert kept is not None
    assert (kept.repo, list(kept.files)) == ("m-a-p/YuE2-Vae", ["config.json"])
    (folder / "config.json").write_text("{ }")
    assert read_receipt(folder) is None


@pytest.mark.parametrize("path", ["a\0b", "a" * 5000, "config.json/x", "missing"])
def test_a_note_of_a_file_that_cannot_be_is_none(folder: Path, path: str) -> None:
    note = json.loads((folder / NAME).read_text())
    (folder / NAME).write_text(json.dumps(note | {"files": {path: [2, 0]}}))
    assert read_receipt(folder) is None


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]"])
def test_what_is_no_note_is_none(folder: Path, content: bytes) -> None:
    (folder / NAME).write_bytes(content)
    assert read_receipt(folder) is None


def test_a_folder_of_that_name_is_no_note(folder: Path) -> None:
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    assert read_receipt(folder) is None
