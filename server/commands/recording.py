"""The recording that `yue2-studio transcribe` is given."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import InvalidRequest


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """The file, to be read from its beginning and at any place of it.

    Raises InvalidRequest for a pipe or a device, which cannot be read so and may have no end, and OSError.
    """
    with open(file, "rb", opener=_without_waiting) as recording:
        if not stat.S_ISREG(os.fstat(recording.fileno()).st_mode):
            raise InvalidRequest(
                "audio", f"{file} is a pipe or a device; write the recording into a file first."
            )
        yield recording


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe although nobody writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)
