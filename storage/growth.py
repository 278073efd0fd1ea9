"""A result read while it is being made: how far it has come, and what became of it."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from storage.entry import Entry
from storage.pinned import Pinned


def nobody(*told: str) -> None:
    """Who is told of changes where nobody asked to be."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a growing body had come at one moment.

    `offered` bytes from its start may be read. `published` is the entry once the body is its result; where it was
    given up instead, `is_over` stands without one.
    """

    offered: int
    published: Entry | None
    is_over: bool


class Growth:
    """What is told of a staged file to those who read along. Thread-safe; its lock is held for no I/O.

    Owner of how far may be read and of whether the descriptor, which is the staged file's, may still be copied.
    """

    def __init__(self, fd: int) -> None:
        self._lock = threading.Lock()
        self._fd: int | None = fd
        self._reach = Reach(0, None, is_over=False)

    def offer(self, size: int) -> None:
        """`size` bytes from the start may be read, or as many more as were offered before."""
        with self._lock:
            self._reach = Reach(max(size, self._reach.offered), self._reach.published, self._reach.is_over)

    def publish(self, stored: Entry) -> None:
        """The file became the body of this entry; nothing will be added."""
        with self._lock:
            self._reach = Reach(self._reach.offered, stored, is_over=True)

    def end(self) -> None:
        """The staged file is about to close its descriptor; unless published before, it is given up."""
        with self._lock:
            self._fd = None
            self._reach = Reach(self._reach.offered, self._reach.published, is_over=True)

    def reach(self) -> Reach:
        """How far it has come by now."""
        with self._lock:
            return self._reach

    def copy_descriptor(self) -> int | None:
        """A descriptor of its own for a reader, good after the file is renamed too; None where it is over. OSError."""
        with self._lock:
            return None if self._fd is None else os.dup(self._fd)


class Following(Pinned):
    """A body read while it is being made: `fd` reads what is offered, and the rest once it is published.

    As long as it is open the file stays on the volume and counted, also where it was given up, expired or deleted.
    """

    def __init__(self, fd: int, growth: Growth, release: Callable[[], None]) -> None:
        super().__init__(fd, release)
        self._growth = growth

    def reach(self) -> Reach:
        """How far the body has come by now; whoever is told of each change need not ask twice."""
        return self._growth.reach()
