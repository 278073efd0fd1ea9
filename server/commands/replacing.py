"""Files that appear whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, mark: str) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place when the block ends well and vanishes when it does not.

    `mark` tells concurrent writers apart. Raises OSError where the folder cannot be written to, before the block runs.
    """
    if path.is_dir():
        raise IsADirectoryError(None, "That is a folder; name a file in it", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder; make it first", str(path.parent))
    beside = path.with_name(f".{path.name}.{mark}.part")
    opened = _opened(beside, path)
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _opened(beside: Path, path: Path) -> BinaryIO:
    try:
        return beside.open("xb")
    except OSError as error:  # in the words of the file that was asked for
        raise OSError(error.errno, error.strerror, str(path)) from error
