"""Answers: small JSON, stored results streamed from disk, server-sent events."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from math import ceil
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from server.conditional import Selection, select
from server.connection import ABORT
from server.errors import ClientStalled
from server.limits import SOCKET_SECONDS, Limits, Slots
from server.pinned_files import SLICE_BYTES, FileSlices, give_back
from server.work import FOLLOWED
from storage.entry import JSON, Entry, Part
from storage.store import Lease

# As much as a client has to take within one send limit, 4 KiB a second with the default.
SEND_LIMIT_BYTES: Final = 64 * 1024
PING_SECONDS: Final = 15.0
EVENT_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}


def json_response(payload: JSON, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Compact JSON that no cache keeps, unless `headers` say otherwise."""
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode(errors="replace")
    return Response(
        body, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="application/json"
    )


def disposition(filename: str) -> str:
    """A Content-Disposition that offers `filename`: RFC 6266 with the encoding of RFC 8187 where it is not plain."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%' else "_"
        for letter in filename
    )
    if plain == filename:
        return f'inline; filename="{filename}"'
    return f"inline; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='', errors='replace')}"


def main_part(entry: Entry) -> Part | None:
    """The part that a body is named after, where there are others beside it; None where the whole is meant.

    So `result=1` gives the audio of a body that ends with what was said in it, and the transcript of one that begins
    with what was heard while it was made.
    """
    named = next((part for part in entry.parts if part.content_type == entry.content_type), None)
    return named if named is not None and named.length < entry.size_bytes else None


def followed_part(entry: Entry) -> Part | None:
    """The part that a body begins with and that could be followed while it was made; None where that is the whole."""
    first = entry.parts[0] if entry.parts else None
    if first is None or first.offset or first.content_type != entry.detail.get(FOLLOWED):
        return None
    return first if first.length < entry.size_bytes else None


class ResultResponse(Response):
    """A stored result, or one part of it, with ranges and preconditions.

    Owns the lease it is given and closes it however the delivery ends. Takes one of the places for downloads
    (raising TooManyDownloads) unless `held` brings a place along, which is then given back at the end.
    """

    def __init__(
        self,
        lease: Lease,
        part: Part | None,
        request: Request,
        limits: Limits,
        *,
        held: ExitStack | None = None,
        send_seconds: float = SOCKET_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        entry = lease.entry
        self._lease = lease
        self._part = part or Part("body", 0, entry.content_type, 0, entry.size_bytes)
        self._request = request
        self._limits = limits
        self._held = held
        self._send_seconds = send_seconds
        super().__init__(headers=self._described(clock()))

    def _described(self, now: float) -> dict[str, str]:
        entry, part = self._lease.entry, self._part
        left = 0 if entry.expires_at is None else max(0, int(entry.expires_at - now))
        described = {
            "Content-Type": part.content_type,
            "ETag": f'"{entry.sha256}-{part.offset}-{part.length}"',
            "Accept-Ranges": "bytes",
            "Cache-Control": f"private, immutable, max-age={left}",
            "X-Content-Type-Options": "nosniff",
        }
        if part.filename:
            described["Content-Disposition"] = disposition(part.filename)
        return described

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Raises PreconditionFailed, RangeNotSatisfiable, TooManyDownloads before anything is sent."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(give_back, self._lease, self._limits)
            if self._held is not None:
                stack.enter_context(self._held)
            chosen = select(
                self._request.method, self._request.headers, self.headers["etag"], self._part.length
            )
            if chosen.length and self._request.method != "HEAD":
                if self._held is None:
                    stack.enter_context(self._limits.downloads.slot())
                await self._start(chosen, send)
                await self._deliver(chosen, scope, receive, send)
            else:
                await self._start(chosen, send)
                await send({"type": "http.response.body", "body": b""})

    async def _start(self, chosen: Selection, send: Send) -> None:
        self.status_code = chosen.status
        if chosen.status == 304:
            del self.headers["content-type"]
            del self.headers["content-length"]
        else:
            self.headers["content-length"] = str(chosen.length)
        if chosen.status == 206:
            self.headers["content-range"] = f"bytes {chosen.start}-{chosen.stop - 1}/{self._part.length}"
        await send({"type": "http.response.start", "status": chosen.status, "headers": self.raw_headers})

    async def _deliver(self, chosen: Selection, scope: Scope, receive: Receive, send: Send) -> None:
        """Send slice by slice."""
        slices = FileSlices(self._lease.fd, self._limits)
        position, stop = self._part.offset + chosen.start, self._part.offset + chosen.stop
        seconds = send_limit(scope, self._send_seconds, min(SLICE_BYTES, chosen.length))
        gone = asyncio.create_task(until_gone(receive))
        try:
            while position < stop and not gone.done():
                body = await slices.read(position, min(SLICE_BYTES, stop - position))
                position += len(body)
                message = {"type": "http.response.body", "body": body, "more_body": position < stop}
                await timely(send(message), seconds)
        finally:
            gone.cancel()


class Chunks(Response):
    """A body of unknown length, sent as its pieces come, each when the client has taken the one before.

    The source's first piece, or its error, is awaited before the headers are sent; an error after that can only break
    the connection off, without the chunk that would end the body. A client that goes is sent nothing more; one that
    takes nothing is cut off with ClientStalled. The source is advanced by tasks of their own, so that it must not hold
    a timeout or a cancel scope over a `yield`.

    Answers one request; owner of the source, which it closes.
    """

    def __init__(
        self,
        source: AsyncIterator[bytes | memoryview],
        headers: Mapping[str, str],
        *,
        send_seconds: float = SOCKET_SECONDS,
    ) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self._source = source
        self._send_seconds = send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Raises what the source raises, and ClientStalled."""
        gone = asyncio.create_task(until_gone(receive))
        upcoming = asyncio.create_task(self._next())
        try:
            await asyncio.wait((gone, upcoming), return_when=asyncio.FIRST_COMPLETED)
            started = False
            while not gone.done():
                piece = upcoming.result()
                if not started:
                    started = True
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await self._send(piece, scope, send)
                if piece is None:
                    return
                upcoming = asyncio.create_task(self._next())
                await asyncio.wait((gone, upcoming), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            upcoming.cancel()
            await asyncio.gather(gone, upcoming, return_exceptions=True)
            if isinstance(self._source, AsyncGenerator):
                await self._source.aclose()

    async def _next(self) -> bytes | memoryview | None:
        return await anext(self._source, None)

    async def _send(self, piece: bytes | memoryview | None, scope: Scope, send: Send) -> None:
        body = b"" if piece is None else piece
        message = {"type": "http.response.body", "body": body, "more_body": piece is not None}
        await timely(send(message), send_limit(scope, self._send_seconds, max(1, len(body))))


class Presence:
    """Whether the client of a request is still there, once its body has been read. What it still sends is dropped.

    Owner of the task that listens; inner responses listen through `receive`, which tells them the same.
    """

    def __init__(self, receive: Receive) -> None:
        self._gone = asyncio.Event()
        self._told: list[Callable[[], object]] = []
        self._listening = asyncio.create_task(until_gone(receive))
        self._listening.add_done_callback(lambda _: self.end())

    @property
    def has_gone(self) -> bool:
        """Whether the client has gone, or is not to be answered any more."""
        return self._gone.is_set()

    def when_gone(self, call: Callable[[], object]) -> None:
        """Have this called when the client goes, at once where it has gone."""
        self._told.append(call)
        if self.has_gone:
            call()

    def end(self) -> None:
        """Take the client for gone."""
        self._gone.set()
        for call in self._told:
            call()

    async def receive(self) -> Message:
        """The ASGI channel of what answers this client: its going, and nothing before."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    def close(self) -> None:
        """Listen no more."""
        self._listening.cancel()


def send_limit(scope: Scope, seconds: float, octets: int) -> float | None:
    """How long a client may take over so many bytes: it grows with them, since a slow client has not stopped.

    None where the connection's own protocol ends a client that stops reading: it alone sees what is acknowledged.
    """
    if ABORT in scope.get("state", {}):
        return None
    return seconds * ceil(octets / SEND_LIMIT_BYTES)


async def timely(sending: Awaitable[None], seconds: float | None) -> None:
    """Await one send; raises ClientStalled where the client takes nothing for that long."""
    try:
        async with asyncio.timeout(seconds):
            await sending
    except TimeoutError:
        raise ClientStalled(seconds or 0.0) from None


async def until_gone(receive: Receive) -> None:
    """Return when the client has gone; what it still sends is dropped."""
    while (await receive())["type"] != "http.disconnect":
        continue


class EventStream(Response):
    """Server-sent events from pairs of event name and data, for as long as the client stays.

    The source is not advanced while the client is slow, so a source that tells the newest state skips what a slow
    client would have missed anyway. Takes one of `slots` (raising its TooMany). Closes the source at the end.
    """

    def __init__(
        self,
        source: AsyncIterator[tuple[str, str]],
        slots: Slots,
        *,
        ping_seconds: float = PING_SECONDS,
        send_seconds: float = SOCKET_SECONDS,
    ) -> None:
        super().__init__(headers=EVENT_HEADERS)
        del self.headers["content-length"]
        self._source = source
        self._slots = slots
        self._ping_seconds = ping_seconds
        self._send_seconds = send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the source ends or the client goes."""
        try:
            with self._slots.slot():
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                if scope["method"] == "HEAD" or await self._relay(scope, receive, send):
                    await send({"type": "http.response.body", "body": b""})
        finally:
            if isinstance(self._source, AsyncGenerator):
                await self._source.aclose()

    async def _relay(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Pass events on, with a comment when there are none for long; True where the source ended first."""
        gone = asyncio.create_task(until_gone(receive))
        upcoming = asyncio.create_task(self._next())
        try:
            while True:
                await asyncio.wait(
                    (gone, upcoming), timeout=self._ping_seconds, return_when=asyncio.FIRST_COMPLETED
                )
                if gone.done():
                    return False
                text = ": still here\n\n"
                if upcoming.done():
                    event = upcoming.result()
                    if event is None:
                        return True
                    text = event_text(*event)
                    upcoming = asyncio.create_task(self._next())
                message = {"type": "http.response.body", "body": text.encode(), "more_body": True}
                await timely(send(message), send_limit(scope, self._send_seconds, 1))
        finally:
            gone.cancel()
            upcoming.cancel()
            await asyncio.gather(gone, upcoming, return_exceptions=True)

    async def _next(self) -> tuple[str, str] | None:
        return await anext(self._source, None)


def event_text(name: str, text: str) -> str:
    """One event as the WHATWG HTML standard writes it; line ends within `text` become data lines of their own."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return f"event: {name}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
