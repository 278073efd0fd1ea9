"""Stored files beside the event loop: opened, read and given back in the pool, whoever is cancelled meanwhile."""

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import numpy as np

from server.limits import Limits
from storage.pinned import Pinned

SLICE_BYTES: Final = 1024 * 1024
_UNSUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
Opened = TypeVar("Opened", bound=Pinned)
Returned = TypeVar("Returned")


async def opened(open_it: Callable[[], Opened], limits: Limits) -> Opened:
    """What this opens, in the pool; the caller's from then on. Raises what it raises.

    Cancelling whoever waits does not stop the pool: what is opened all the same is given back.
    """
    opening = asyncio.ensure_future(limits.run(open_it))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # A task of its own, so that being cancelled once more does not end it.
        await asyncio.shield(asyncio.ensure_future(_give_back_what_opens(opening, limits)))
        raise


async def _give_back_what_opens(opening: asyncio.Future[Opened], limits: Limits) -> None:
    await asyncio.wait([opening])
    if not opening.cancelled() and opening.exception() is None:
        await give_back(opening.result(), limits)


async def give_back(pinned: Pinned, limits: Limits) -> None:
    """Close it in the pool, whatever has ended the delivery: the last holder may unlink a large file."""
    with anyio.CancelScope(shield=True):
        await limits.run_reserved(pinned.close)


async def run_to_its_end(call: Callable[[], Returned], limits: Limits) -> Returned:
    """As `Limits.run`; whoever is cancelled meanwhile waits for its end, since it uses what they are about to close."""
    running = asyncio.ensure_future(limits.run(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


class FileSlices:
    """Reads an open file: what the page cache holds on the event loop, the rest in the pool.

    A hop to a worker costs two hand-overs of the interpreter lock, which beside busy Python code is far more than
    the copy. Owner of the knowledge whether the file system can tell cached bytes from others.
    """

    def __init__(self, fd: int, limits: Limits) -> None:
        self._fd = fd
        self._limits = limits
        self._tells_cached = sys.platform == "linux"

    async def read(self, offset: int, size: int) -> bytes | memoryview:
        """At least one byte and at most `size`, from `offset`. Raises EOFError where the file ends before."""
        found = self._read_cached(offset, size) if self._tells_cached else b""
        if not found:
            found = await self._read_beside(offset, size)
        if not found:
            raise EOFError("A stored result is shorter than its record says.")
        return found

    async def _read_beside(self, offset: int, size: int) -> bytes:
        """Read in the pool, to its end: the descriptor must not be closed under it."""
        return await run_to_its_end(lambda: os.pread(self._fd, size, offset), self._limits)

    def _read_cached(self, offset: int, size: int) -> bytes | memoryview:
        if sys.platform != "linux":
            return b""
        # Not a bytearray: filling it with zeros first costs a quarter of the throughput.
        buffer = np.empty(size, np.uint8).data
        try:
            count = os.preadv(self._fd, [buffer], offset, os.RWF_NOWAIT)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            self._tells_cached = False
            return b""
        return buffer[:count]
