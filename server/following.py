"""A result sent while it is being made."""

import asyncio
from contextlib import AsyncExitStack
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.errors import JobFailed
from server.job_book import JobBook
from server.jobs.errors import JobCancelled
from server.jobs.job import JobState
from server.limits import SOCKET_SECONDS, Limits
from server.responses import (
    SLICE_BYTES,
    FileSlices,
    ResultResponse,
    followed_part,
    send_limit,
    timely,
    until_gone,
)
from server.watch import Watch
from storage.errors import NotStored
from storage.growth import Following, Reach

FOLLOW_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class FollowResponse(Response):
    """The first part of a job's body from its first byte, as it is made, until all of it is stored.

    A job that fails before its first byte is answered with its own error. After that only the connection can tell: it
    is broken off, without the chunk that would end the body. Waits for the first byte on a place for waiting requests,
    and sends on a place for those who follow (raising TooManyStreams); where all is stored by the first byte, that is
    a download (raising TooManyDownloads).

    Answers one request; owner of the body it follows.
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
        self._following: Following | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Raises TooMany…, JobFailed, JobCancelled, UnknownEntry, EntryExpired before anything is sent."""
        if self._request.method == "HEAD":
            self._is_done()
            await self._start(send)
            await send({"type": "http.response.body", "body": b""})
            return
        gone = asyncio.create_task(until_gone(receive))
        try:
            is_stored = await self._follow(gone, send)
        finally:
            gone.cancel()
        if is_stored:
            lease = await self._limits.run(lambda: self._book.lease(self._job_id, self._owner))
            whole = ResultResponse(lease, followed_part(lease.entry), self._request, self._limits)
            await whole(scope, receive, send)

    async def _follow(self, gone: "asyncio.Task[None]", send: Send) -> bool:
        """Send what is made until that ends or the client goes; True where nothing was sent, since all is stored."""
        async with AsyncExitStack() as stack:
            changed = stack.enter_context(self._watch.subscribe(self._job_id))
            gone.add_done_callback(lambda _: changed.set())
            if not self._has_begun(stack):
                with self._limits.waits.slot():
                    while not (gone.done() or self._has_begun(stack)):
                        await changed.wait()
                        changed.clear()
            if gone.done():
                return False
            if self._following is None:
                return True
            stack.enter_context(self._limits.followers.slot())
            await self._start(send)
            await self._deliver(self._following, changed, gone, send)
            return False

    def _has_begun(self, stack: AsyncExitStack) -> bool:
        """Whether some of the body can be read, or all of it is stored. Raises as a call does."""
        is_done = self._is_done()
        if self._following is None:
            self._following = self._book.follow(self._job_id, self._owner)
            if self._following is not None:
                stack.push_async_callback(self._give_back, self._following)
        return is_done or (self._following is not None and _can_begin(self._following.reach()))

    def _is_done(self) -> bool:
        job = self._book.describe(self._job_id, self._owner)
        if job["status"] == JobState.FAILED:
            raise JobFailed(str(job["code"]), str(job["error"]))
        if job["status"] == JobState.CANCELLED:
            raise JobCancelled
        return job["status"] == JobState.DONE

    async def _give_back(self, following: Following) -> None:
        """Close it in the pool, whatever has ended the delivery: the last reader may unlink a large file."""
        with anyio.CancelScope(shield=True):
            await self._limits.run_reserved(following.close)

    async def _start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

    async def _deliver(
        self, following: Following, changed: asyncio.Event, gone: "asyncio.Task[None]", send: Send
    ) -> None:
        """Send slice by slice what can be read, and the end when the job is done, so that whoever asks then finds it so.

        Raises NotStored where the body is given up, ClientStalled.
        """
        slices, position = FileSlices(following.fd, self._limits), 0
        while not gone.done():
            changed.clear()
            reach = following.reach()
            if reach.is_over and reach.published is None:
                raise NotStored(self._job_id, "This job ended without a result, after some of it was sent.")
            left = readable(reach) - position
            if left > 0:
                body = await slices.read(position, min(SLICE_BYTES, left))
                position += len(body)
                message = {"type": "http.response.body", "body": body, "more_body": True}
                await timely(send(message), send_limit(self._send_seconds, len(body)))
            elif reach.is_over and not self._book.is_live(self._job_id, self._owner):
                await send({"type": "http.response.body", "body": b""})
                return
            else:
                await changed.wait()


def _can_begin(reach: Reach) -> bool:
    """Whether there is something to send; of a body that was given up nothing is begun, but its job's error awaited."""
    return readable(reach) > 0 and not (reach.is_over and reach.published is None)


def readable(reach: Reach) -> int:
    """Bytes from the start of a body that belong to the part that is followed and can be read."""
    if reach.published is None:
        return reach.offered
    part = followed_part(reach.published)
    return reach.published.size_bytes if part is None else part.length
