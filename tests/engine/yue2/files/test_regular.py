"""What is no file is refused at once."""

import os
from pathlib import Path

import pytest

from engine.yue2.files.regular import open_regular


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with open_regular(tmp_path / "link") as stream:
        assert stream.read(9) == b"abc"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="it is no regular file"):
        open_regular(tmp_path / "pipe")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_devices_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="it is no regular file"):
        open_regular(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
