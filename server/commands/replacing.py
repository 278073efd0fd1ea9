"""Files that appear whole or not at all."""

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
    beside = path.with_name(f".{path.name}.{mark}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
