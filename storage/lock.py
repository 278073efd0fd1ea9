"""The lock of an output folder: two servers never share one. POSIX only (flock)."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from storage.errors import OutputLocked
from storage.folder import make_folder

LOCK_NAME = ".yue2-studio.lock"
MAX_HOLDER_BYTES = 1024


class OutputLock:
    """Owner of the lock on `directory`; `holder` is what a second process is told (process id, address).

    The operating system frees the lock when the process ends, however it ends; the file stays. Not thread-safe:
    acquired once at the start, released once at the end. A forked child would share it, a started program does not.
    """

    def __init__(self, directory: Path, holder: str) -> None:
        self.path = directory / LOCK_NAME
        self.holder = holder
        self._fd: int | None = None

    def acquire(self) -> None:
        """Make the folder where it is missing, durably, and take the lock without waiting.

        OutputLocked names the holder, as far as its text could be written; OSError.
        """
        if self._fd is not None:
            raise ValueError("This lock is held already.")
        make_folder(self.path.parent)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            self._take(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def release(self) -> None:
        """Give the lock back; nothing happens where it is not held."""
        fd, self._fd = self._fd, None
        if fd is not None:
            try:
                _tell(fd, "")
            finally:
                os.close(fd)

    def _take(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(fd, MAX_HOLDER_BYTES, 0).decode(errors="replace").strip()
            raise OutputLocked(str(self.path.parent), text or "another process") from None
        _tell(fd, self.holder)

    def __enter__(self) -> "OutputLock":
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _tell(fd: int, holder: str) -> None:
    # The text is a courtesy; the lock is taken or given back all the same where a full or broken disk refuses it.
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, holder.encode()[:MAX_HOLDER_BYTES], 0)
