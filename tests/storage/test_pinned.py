"""A descriptor that is given back once."""

import os
from pathlib import Path

import pytest

from storage.pinned import Pinned
from tests.storage.doubles import open_descriptors


def test_closing_gives_the_file_back_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    before, released = open_descriptors(), list[str]()
    with Pinned(os.open(tmp_path / "file", os.O_RDONLY), lambda: released.append("once")) as pinned:
        assert os.pread(pinned.fd, 9, 0) == b"text"
    pinned.close()
    assert (released, open_descriptors()) == (["once"], before)


def test_what_cannot_be_closed_is_given_back_too(tmp_path: Path) -> None:
    fd, released = os.open(tmp_path, os.O_RDONLY), list[str]()
    pinned = Pinned(fd, lambda: released.append("once"))
    os.close(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        pinned.close()
    assert released == ["once"]
