"""Standard input that can be ended from here, so that a signal ends whoever waits for its next line."""

import io
import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class EndableInput(io.RawIOBase):
    """The bytes of a descriptor, until it ends or `end` is called. Owner of the pipe that tells of the latter."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._told, self._teller = os.pipe()
        self._closing = (
            threading.Lock()
        )  # taken once: by its user, or by the thread that lets go of its reader last

    def readable(self) -> bool:
        """It is read from."""
        return True

    def readinto(self, buffer: "Buffer") -> int:
        """The next bytes, once there are some; 0 at the end."""
        ready, _, _ = select.select([self._descriptor, self._told], [], [])
        return 0 if self._told in ready else os.readv(self._descriptor, [buffer])

    def end(self) -> None:
        """End it for whoever reads, now or later; safe to repeat, and in a signal's handler."""
        if not self.closed:
            os.write(self._teller, b".")

    def close(self) -> None:
        """Close the pipe; the descriptor is another's."""
        if self._closing.acquire(blocking=False):
            os.close(self._told)
            os.close(self._teller)
        super().close()
