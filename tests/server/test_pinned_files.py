"""What the pool opens is given back whoever is cancelled, and nothing is closed under a read."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from server.limits import Limits
from server.pinned_files import FileSlices, opened, run_to_its_end
from storage.pinned import Pinned

Returned = TypeVar("Returned")
BODY = bytes(range(256)) * 10


async def _turns(count: int) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.get_running_loop().run_in_executor(None, int)


class SlowOpening:
    """Opens one file on a thread, once the test lets it; counts how often it was given back."""

    def __init__(self, error: Exception | None = None) -> None:
        self.let = threading.Event()
        self.given_back = 0
        self._error = error
        self._begun = threading.Event()

    def __call__(self) -> Pinned:
        self._begun.set()
        assert self.let.wait(5)
        if self._error is not None:
            raise self._error
        return Pinned(os.open(os.devnull, os.O_RDONLY), self._note)

    def _note(self) -> None:
        self.given_back += 1

    async def begun(self) -> None:
        """Wait until a thread is at it."""
        assert await asyncio.get_running_loop().run_in_executor(None, self._begun.wait, 5)


def test_what_is_opened_is_the_callers() -> None:
    opening = SlowOpening()
    opening.let.set()
    with asyncio.run(opened(opening, Limits())):
        assert opening.given_back == 0
    assert opening.given_back == 1


@pytest.mark.parametrize("times", [1, 2])
def test_what_opens_for_someone_who_was_cancelled_is_given_back(times: int) -> None:
    opening = SlowOpening()

    async def inner() -> None:
        task = asyncio.ensure_future(opened(opening, Limits()))
        await opening.begun()
        for _ in range(times):
            task.cancel()
            await _turns(1)
        opening.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not opening.given_back:
            await _turns(1)
        assert opening.given_back == 1

    asyncio.run(asyncio.wait_for(inner(), 5))


def test_what_was_opened_just_before_is_given_back_too() -> None:
    opening = SlowOpening()

    class Limited(Limits):
        """Cancels whoever waits once all is opened, before they know."""

        async def run(self, call: Callable[[], Returned]) -> Returned:
            found = await super().run(call)
            tasks[0].cancel()
            return found

    async def inner() -> None:
        task = asyncio.ensure_future(opened(opening, Limited()))
        tasks.append(task)
        opening.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert opening.given_back == 1

    tasks: list[asyncio.Future[Pinned]] = []
    asyncio.run(asyncio.wait_for(inner(), 5))


def test_what_cannot_be_opened_is_told_or_for_someone_who_was_cancelled_forgotten() -> None:
    async def inner() -> None:
        told = SlowOpening(FileNotFoundError())
        told.let.set()
        with pytest.raises(FileNotFoundError):
            await opened(told, Limits())
        forgotten = SlowOpening(FileNotFoundError())
        task = asyncio.ensure_future(opened(forgotten, Limits()))
        await forgotten.begun()
        task.cancel()
        await _turns(1)
        forgotten.let.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(inner(), 5))


def test_a_call_on_what_is_open_is_over_before_whoever_was_cancelled_goes_on() -> None:
    begun, let, ended = threading.Event(), threading.Event(), threading.Event()

    def read() -> None:
        begun.set()
        assert let.wait(5)
        ended.set()

    async def inner() -> None:
        task = asyncio.ensure_future(run_to_its_end(read, Limits()))
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, 5)
        task.cancel()
        await _turns(2)
        assert not task.done()
        let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(inner())


class CountingLimits(Limits):
    """Limits that count the calls that go to the pool."""

    pooled = 0

    async def run(self, call: Callable[[], Returned]) -> Returned:
        self.pooled += 1
        return await super().run(call)


def read_slice(path: Path) -> tuple[bytes, int, int]:
    """Bytes 10 to 20 of the file, read twice, with the number of calls that went to the pool."""
    limits = CountingLimits()

    async def inner() -> tuple[bytes, bytes]:
        fd = os.open(path, os.O_RDONLY)
        try:
            slices = FileSlices(fd, limits)
            return bytes(await slices.read(10, 10)), bytes(await slices.read(10, 10))
        finally:
            os.close(fd)

    first, second = asyncio.run(inner())
    return first, len(second), limits.pooled


@pytest.mark.parametrize(
    ("error", "asked"), [(BlockingIOError(errno.EAGAIN, ""), 2), (OSError(errno.EOPNOTSUPP, ""), 1)]
)
def test_what_is_not_cached_is_read_in_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, asked: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(BODY)
    calls: list[int] = []

    def preadv(fd: int, buffers: Sequence[bytearray], offset: int, flags: int) -> int:
        calls.append(flags)
        raise error

    monkeypatch.setattr(os, "preadv", preadv, raising=False)
    monkeypatch.setattr(os, "RWF_NOWAIT", 8, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert read_slice(path) == (BODY[10:20], 10, 2)
    assert len(calls) == asked


def test_a_broken_disk_is_not_taken_for_a_cold_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(BODY)

    def preadv(fd: int, buffers: Sequence[bytearray], offset: int, flags: int) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "preadv", preadv, raising=False)
    with pytest.raises(OSError, match="Input/output"):
        read_slice(path)


def test_where_nothing_tells_what_is_cached_everything_is_read_in_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(BODY)
    monkeypatch.setattr("sys.platform", "darwin")
    assert read_slice(path) == (BODY[10:20], 10, 2)


def test_a_read_that_is_cancelled_is_over_before_its_file_may_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(BODY)
    reading, let = threading.Event(), threading.Event()
    finished: list[str] = []

    def slow(fd: int, size: int, offset: int) -> bytes:
        reading.set()
        assert let.wait(5)
        finished.append("read")
        return b"x"

    monkeypatch.setattr("sys.platform", "other")
    monkeypatch.setattr(os, "pread", slow)

    async def inner() -> None:
        task = asyncio.ensure_future(FileSlices(0, Limits()).read(0, 10))
        await asyncio.get_running_loop().run_in_executor(None, reading.wait, 5)
        task.cancel()
        await _turns(2)
        assert not task.done()
        let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert finished == ["read"]

    asyncio.run(inner())
