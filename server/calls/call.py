"""One accepted synchronous call: it waits for its job, and reads what the job has made."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from server.calls.attendance import Attendance
from server.errors import DeadlineExceeded
from server.following import Tail
from server.job_book import JobBook
from server.limits import Limits
from server.pinned_files import SLICE_BYTES, FileSlices, give_back, opened, run_to_its_end
from server.responses import Presence, ResultResponse, followed_part, main_part
from storage.entry import Entry, Part
from storage.errors import NotStored
from storage.store import Lease


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call is over: `at`, in the running loop's seconds; `seconds` after its request came."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts of the server that every call needs."""

    book: JobBook
    limits: Limits
    attendance: Attendance


class Call:
    """A call whose job was accepted; whoever answers it is given this. Good until the answer has been sent.

    Every wait ends with ClientDisconnect where the client goes. Owner, through its stack, of all that it opens.
    """

    def __init__(
        self,
        job_id: str,
        request: Request,
        client: Presence,
        changed: asyncio.Event,
        deadline: Deadline,
        around: Surroundings,
        stack: AsyncExitStack,
    ) -> None:
        self.job_id: Final = job_id
        self._owner: Final[str] = request.state.owner
        self._request = request
        self._client = client
        self._changed = changed
        self._deadline = deadline
        self._book, self._limits = around.book, around.limits
        self._attendance = around.attendance
        self._stack = stack
        self._lease: Lease | None = None
        self._tail = Tail(job_id, self._owner, self._book, self._limits, changed)
        stack.push_async_callback(self._tail.close)

    async def finished(self) -> Entry:
        """The record of the stored result, once the job is done. At once where it is; the deadline is no matter then.

        Raises JobFailed, JobCancelled, DeadlineExceeded, ClientDisconnect; UnknownEntry, EntryExpired where the result
        was deleted meanwhile, before this call has opened it.
        """
        held = self._tail.published if self._lease is None else self._lease.entry
        if held is not None and not self._book.is_live(self.job_id, self._owner):
            return held
        await self._until(lambda: self._book.is_done(self.job_id, self._owner))
        return self._book.stored(self.job_id, self._owner)

    async def begun(self) -> bool:
        """Wait until there is something to follow (True) or all is stored (False). Raises as `finished`.

        Of a job that cannot be followed, the end is waited for.
        """
        if not self._book.followed(self.job_id, self._owner):
            await self.finished()
            return False
        await self._until(self._tail.has_begun)
        return self._tail.follows

    async def ends_within(self, seconds: float) -> bool:
        """Whether the job is done so soon, and before the deadline, which ends nothing here.

        Raises JobFailed, JobCancelled, ClientDisconnect.
        """
        soon = asyncio.get_running_loop().time() + seconds
        try:
            await self._wait(
                lambda: self._book.is_done(self.job_id, self._owner), min(soon, self._deadline.at)
            )
        except TimeoutError:
            return False
        return True

    async def slices(self, part: Part | None = None) -> AsyncGenerator[bytes | memoryview, None]:
        """A part, in pieces of at most 1 MiB; what is followed unless another is named.

        After `begun` said so, the followed part as it grows; it ends when the job is done. Else the part as it is
        stored. The deadline does not end it. Raises JobFailed, JobCancelled where the job fails on the way.
        """
        if part is not None or not self._tail.follows:
            async for piece in self._stored_slices(part):
                yield piece
            return
        try:
            async for piece in self._tail.slices():
                yield piece
        except NotStored:
            await self._raise_failure()
            raise

    async def result(self, part: Part | None = None, headers: Mapping[str, str] | None = None) -> Response:
        """A response with a part of the stored result; unless one is named, what the result is named after.

        Waits for the job as `finished`. `headers` are set beside those of every result.
        """
        lease = await self.lease()
        named = main_part(lease.entry) if part is None else part
        # The call itself holds the place that this takes.
        answer = ResultResponse(lease, named, self._request, self._limits, held=ExitStack())
        answer.headers.update(headers or {})
        return answer

    async def body(self, part: Part | None = None) -> bytes:
        """A part of the stored result, read at once, so a small one; chosen as by `result`."""
        lease = await self.lease()
        named = _span(lease.entry, main_part(lease.entry) if part is None else part)
        return await run_to_its_end(lambda: _read(lease.fd, named), self._limits)

    async def lease(self) -> Lease:
        """The stored result, opened once and open until the call is over. Waits for the job as `finished`."""
        await self.finished()
        if self._lease is None:
            lease = await opened(lambda: self._book.lease(self.job_id, self._owner), self._limits)
            self._stack.push_async_callback(give_back, lease, self._limits)
            self._lease = lease
        return self._lease

    async def _stored_slices(self, part: Part | None) -> AsyncGenerator[bytes | memoryview, None]:
        lease = await self.lease()
        named = part or followed_part(lease.entry) or main_part(lease.entry)
        span = _span(lease.entry, named)
        slices, position, stop = FileSlices(lease.fd, self._limits), span.offset, span.offset + span.length
        while position < stop:
            piece = await slices.read(position, min(SLICE_BYTES, stop - position))
            position += len(piece)
            yield piece

    async def _until(self, is_reached: Callable[[], bool]) -> None:
        """Wait for that, as long as the call may. What was reached is reached, however late."""
        try:
            await self._wait(is_reached, self._deadline.at)
        except TimeoutError:
            # Told with the job's id, so that the client may come for it whenever it likes.
            self._attendance.answered(self.job_id)
            raise DeadlineExceeded(self.job_id, self._deadline.seconds) from None

    async def _wait(self, is_reached: Callable[[], bool], until: float) -> None:
        """Wait for that until a time of the loop's; TimeoutError."""
        async with asyncio.timeout_at(until):
            while not is_reached():
                await self._news()

    async def _news(self) -> None:
        """The job's next change, or one since it was looked at. Raises ClientDisconnect."""
        if self._client.has_gone:
            raise ClientDisconnect
        await self._changed.wait()
        self._changed.clear()

    async def _raise_failure(self) -> None:
        """Raise how the job failed whose body was given up, once that is recorded."""
        while self._book.is_live(self.job_id, self._owner):
            await self._news()
        self._book.is_done(self.job_id, self._owner)


def _span(entry: Entry, part: Part | None) -> Part:
    return part or Part("body", 0, entry.content_type, 0, entry.size_bytes)


def _read(fd: int, part: Part) -> bytes:
    """All of a part. Raises EOFError where the file is shorter."""
    pieces: list[bytes] = []
    position, stop = part.offset, part.offset + part.length
    while position < stop:
        piece = os.pread(fd, stop - position, position)
        if not piece:
            raise EOFError("A stored result is shorter than its record says.")
        pieces.append(piece)
        position += len(piece)
    return b"".join(pieces)
