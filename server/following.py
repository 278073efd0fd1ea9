"""A result sent while it is being made."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.job_book import JobBook
from server.limits import SOCKET_SECONDS, Limits
from server.pinned_files import SLICE_BYTES, FileSlices, give_back, opened
from server.responses import Chunks, Presence, ResultResponse, followed_part
from server.watch import Watch
from storage.entry import Entry
from storage.errors import NotStored
from storage.growth import Following, Reach

FOLLOW_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Tail:
    """Reads the followed part of a job's body as it is made. `changed` has to be set at each change of the job.

    Owner of the body it follows, from `has_begun` to `close`.
    """

    def __init__(
        self, job_id: str, owner: str, book: JobBook, limits: Limits, changed: asyncio.Event
    ) -> None:
        self._job_id = job_id
        self._owner = owner
        self._book = book
        self._limits = limits
        self._changed = changed
        self._following: Following | None = None

    @property
    def follows(self) -> bool:
        """Whether there is a body to read along; where all was stored before anybody looked there is none."""
        return self._following is not None

    @property
    def published(self) -> Entry | None:
        """The record of the body that was followed, once it is stored; good though it was deleted since."""
        return None if self._following is None else self._following.reach().published

    def has_begun(self) -> bool:
        """Whether some of the body can be read, or all of it is stored. Touches no disk.

        Raises JobFailed, JobCancelled, UnknownEntry, EntryExpired.
        """
        is_done = self._book.is_done(self._job_id, self._owner)
        if self._following is None:
            self._following = self._book.follow(self._job_id, self._owner)
        return is_done or (self._following is not None and _can_begin(self._following.reach()))

    async def slices(self) -> AsyncGenerator[bytes | memoryview, None]:
        """What can be read, slice by slice, until the job is done, so that whoever asks then finds it so.

        Raises NotStored where the body is given up, or where there is none to follow.
        """
        if self._following is None:
            raise NotStored(self._job_id, "There is nothing to follow; ask for this job's result.")
        following, position = self._following, 0
        slices = FileSlices(following.fd, self._limits)
        while True:
            self._changed.clear()
            reach = following.reach()
            if reach.is_over and reach.published is None:
                raise NotStored(self._job_id, "This job ended without a result, after some of it was sent.")
            left = readable(reach) - position
            if left > 0:
                piece = await slices.read(position, min(SLICE_BYTES, left))
                position += len(piece)
                yield piece
            elif reach.is_over and not self._book.is_live(self._job_id, self._owner):
                return
            else:
                await self._changed.wait()

    async def close(self) -> None:
        """Give the body back. Safe to repeat."""
        if self._following is not None:
            await give_back(self._following, self._limits)


class FollowResponse(Response):
    """The first part of a job's body from its first byte, as it is made, until all of it is stored.

    A job that fails before its first byte is answered with its own error. After that only the connection can tell: it
    is broken off, without the chunk that would end the body. Waits for the first byte on a place for waiting requests,
    and sends on a place for those who follow (raising TooManyStreams); where all is stored by the first byte, that is
    a download (raising TooManyDownloads).

    Answers one request.
    """

    def __init__(
        self,
        request: Request,
        job_id: str,
        content_type: str,
        book: JobBook,
        watch: Watch,
        limits: Limits,
        *,
        send_seconds: float = SOCKET_SECONDS,
    ) -> None:
        super().__init__(headers={"Content-Type": content_type, **FOLLOW_HEADERS})
        del self.headers["content-length"]
        self._request = request
        self._job_id = job_id
        self._owner: str = request.state.owner
        self._book = book
        self._watch = watch
        self._limits = limits
        self._send_seconds = send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Raises TooMany…, JobFailed, JobCancelled, UnknownEntry, EntryExpired before anything is sent."""
        if self._request.method == "HEAD":
            self._book.is_done(self._job_id, self._owner)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b""})
            return
        async with AsyncExitStack() as stack:
            changed = stack.enter_context(self._watch.subscribe(self._job_id))
            client = Presence(receive)
            stack.callback(client.close)
            client.when_gone(changed.set)
            tail = Tail(self._job_id, self._owner, self._book, self._limits, changed)
            stack.push_async_callback(tail.close)
            await self._begin(tail, client, changed)
            if not client.has_gone:
                answer = await self._answer(tail, stack)
                await answer(scope, client.receive, send)

    async def _begin(self, tail: Tail, client: Presence, changed: asyncio.Event) -> None:
        """Wait until there is something to send, or nobody to send it to."""
        if tail.has_begun():
            return
        with self._limits.waits.slot():
            while not (client.has_gone or tail.has_begun()):
                await changed.wait()
                changed.clear()

    async def _answer(self, tail: Tail, stack: AsyncExitStack) -> Response:
        if tail.follows:
            stack.enter_context(self._limits.followers.slot())
            return Chunks(tail.slices(), self.headers, send_seconds=self._send_seconds)
        lease = await opened(lambda: self._book.lease(self._job_id, self._owner), self._limits)
        return ResultResponse(lease, followed_part(lease.entry), self._request, self._limits)


def _can_begin(reach: Reach) -> bool:
    """Whether there is something to send; of a body that was given up nothing is begun, but its job's error awaited."""
    return readable(reach) > 0 and not (reach.is_over and reach.published is None)


def readable(reach: Reach) -> int:
    """Bytes from the start of a body that belong to the part that is followed and can be read."""
    if reach.published is None:
        return reach.offered
    part = followed_part(reach.published)
    return reach.published.size_bytes if part is None else part.length
