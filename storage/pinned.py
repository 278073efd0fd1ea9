"""An open descriptor on the volume that keeps its file there and counted until it is given back."""

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Pinned:
    """A file held open for reading: `fd` is good until `close`, whatever happens to its entry meanwhile.

    Owner of the descriptor. Read with `os.pread(pinned.fd, length, offset)`, which several threads may do at once.
    """

    def __init__(self, fd: int, release: Callable[[], None]) -> None:
        self.fd = fd
        self._guard = threading.Lock()
        self._release = release
        self._closed = False

    def close(self) -> None:
        """Give the file back; idempotent, from any thread. The last holder of a dead file unlinks it."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
        try:
            os.close(self.fd)
        finally:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
