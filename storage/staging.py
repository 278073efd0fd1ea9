"""A result while it is being written: a binary file whose every byte is counted before it reaches the disk."""

import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from storage.errors import StorageError
from storage.folder import full_disk_named, write_all
from storage.growth import Growth, nobody

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class StagedFile(io.FileIO):
    """The body of the entry `id` in the making: seekable, readable, writable, unbuffered, and a context manager.

    Owner of its descriptor. Only growth beyond the current end counts, through `resize(size)`, which may raise
    StoreFull or ResultTooLarge. A failure is kept in `failure` and raised again by every later write and by the
    publication, since an encoder in C may drop an exception of its output. Closing it unpublished calls `discard`.
    `growth` is what those who follow it see: how much was offered and how it ended; `grown` is called after each change.
    """

    def __init__(
        self,
        id: str,
        name: str,
        fd: int,
        resize: Callable[[int], None],
        discard: Callable[[], None],
        grown: Callable[[], object] = nobody,
    ) -> None:
        self.id = id
        self.staged_name = name
        self.failure: StorageError | OSError | None = None
        self.growth = Growth(fd)
        self._guard = threading.RLock()
        self._resize = resize
        self._discard = discard
        self._grown = grown
        self._size = 0
        self._sealed: tuple[int, str] | None = None
        self._published = False
        super().__init__(fd, "r+b")

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write all of `data` (any contiguous buffer) at the position; its length in bytes.

        Raises StoreFull, ResultTooLarge, DiskFull.
        """
        view = memoryview(data)
        with self._guard, self._failures_kept():
            if view.nbytes:
                self._reserve(max(self._size, self.tell() + view.nbytes))
                self._write_all(view.cast("B"))
        return view.nbytes

    def truncate(self, size: int | None = None, /) -> int:
        """Cut or lengthen the file to `size` bytes, the position by default; errors as `write`.

        Raises ValueError where that would cut off what was offered, and changes nothing.
        """
        with self._guard, self._failures_kept():
            wanted = self.tell() if size is None else size
            if wanted < self.growth.reach().offered:
                raise ValueError("What was offered to those who follow cannot be cut off any more.")
            growing = wanted > self._size
            if growing:
                self._reserve(wanted)
            super().truncate(wanted)
            if not growing:
                self._reserve(wanted)
        return wanted

    def offer(self) -> None:
        """Let followers read all that lies in the file now, and tell them; what was offered is not cut off any more."""
        with self._guard:
            self.growth.offer(self._size)
        self._grown()

    def close(self) -> None:
        """Close; unless published, the file goes and its bytes are given back. Idempotent, waits for a publication."""
        with self._guard, ExitStack() as ending:
            if self.closed:
                return
            ending.callback(self._grown)
            if not self._published:
                ending.callback(self._discard)
            self.growth.end()
            super().close()

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """The time of a publication: a concurrent `close` or `write` waits. Succeeds by leaving without an error."""
        with self._guard:
            yield
            self._published = True
            self.close()

    def seal(self) -> tuple[int, str]:
        """Bring all bytes to the disk and read them back: size in bytes and sha256 in hex. Raises `failure`, DiskFull.

        The publication does so itself; whoever does it before, to time it, does not pay twice.
        """
        with self._guard, self._failures_kept():
            fd = self.fileno()
            if self._sealed is None:
                os.fsync(fd)
                self.seek(0)
                self._sealed = self._size, hashlib.file_digest(self, "sha256").hexdigest()
            return self._sealed

    def _reserve(self, size: int) -> None:
        self._sealed = None
        self._resize(size)
        self._size = size

    def _write_all(self, view: memoryview) -> None:
        try:
            write_all(self.fileno(), view)
        except OSError:
            self._reserve(os.fstat(self.fileno()).st_size)
            raise

    @contextmanager
    def _failures_kept(self) -> Iterator[None]:
        if self.failure is not None:
            raise self.failure
        try:
            with full_disk_named():
                yield
        except (StorageError, OSError) as failure:
            self.failure = failure
            raise
