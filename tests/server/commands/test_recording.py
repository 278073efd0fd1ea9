"""Recordings are plain files."""

import os
from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.commands.recording import opened


def test_a_file_can_be_read_at_any_place(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"12345")
    with opened(tmp_path / "a.wav") as recording:
        recording.seek(3)
        assert recording.read() == b"45"


def test_a_pipe_is_refused_and_nobody_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequest, match="is a pipe or a device"), opened(tmp_path / "pipe"):
        pass


def test_a_device_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="into a file first"), opened(Path("/dev/zero")):
        pass


def test_a_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), opened(tmp_path):
        pass
