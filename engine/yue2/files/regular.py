"""Opens files of which nobody knows yet what they are: a pipe or a device in a file's place is never waited for."""

import io
import os
import stat
from pathlib import Path

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)  # for pipes; it changes nothing for files


def open_regular(path: Path) -> io.BufferedReader:
    """The file, for reading bytes. Raises OSError for what cannot be opened and for what is no regular file."""
    return io.BufferedReader(io.FileIO(path, "rb", opener=_opened))


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _WITHOUT_WAITING)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # a folder is refused by whoever called this
        return descriptor
    os.close(descriptor)
    raise OSError(None, "it is no regular file")
