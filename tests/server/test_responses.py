import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from starlette.requests import Request
from starlette.types import Message, Send

from server.errors import (
    ClientStalled,
    PreconditionFailed,
    RangeNotSatisfiable,
    TooManyDownloads,
    TooManyStreams,
)
from server.limits import Limits, Slots
from server.pinned_files import SLICE_BYTES
from server.responses import (
    Chunks,
    EventStream,
    Presence,
    ResultResponse,
    disposition,
    event_text,
    followed_part,
    json_response,
    main_part,
)
from server.work import FOLLOWED
from storage.entry import Entry, EntryState, Part
from storage.store import Lease
from tests.server.recorded import Recorded

Returned = TypeVar("Returned")
BODY = bytes(range(256)) * 8000
SHA256 = "ab" * 32
REPLAY = Part("replay", 0, "application/json", 0, 100)
AUDIO = Part("audio", 0, "audio/mpeg", 100, 5000, 1.5, "Été “live”.mp3")
SPOKEN = Part("audio", 0, "audio/mpeg", 0, 5000)
SAID = Part("replay", 0, "application/json", 5000, 200)


class Exchange(Recorded):
    """One request to a response, in memory."""

    def __init__(self, method: str = "GET", headers: dict[str, str] | None = None) -> None:
        raw = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        self.request = Request({"type": "http", "method": method, "path": "/job", "headers": raw})
        super().__init__()
        self.gone = asyncio.Event()
        self.on_send: Callable[[Message], Awaitable[None]] | None = None

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if self.on_send is not None:
            await self.on_send(message)


class Stored:
    """A stored result on disk, its lease and whether that was given back."""

    def __init__(self, path: Path, parts: Sequence[Part] = ()) -> None:
        path.write_bytes(BODY)
        entry = Entry(
            "0" * 16,
            EntryState.STORED,
            "",
            0.0,
            expires_at=1060.5,
            content_type="multipart/mixed; boundary=x",
            size_bytes=len(BODY),
            sha256=SHA256,
            parts=tuple(parts),
        )
        self.releases = 0
        self.limits = Limits()
        self.lease = Lease(entry, os.open(path, os.O_RDONLY), self._release)

    def _release(self) -> None:
        self.releases += 1

    def respond(
        self,
        exchange: Exchange,
        part: Part | None = None,
        held: ExitStack | None = None,
        send_seconds: float = 5,
    ) -> Awaitable[None]:
        response = ResultResponse(
            self.lease,
            part,
            exchange.request,
            self.limits,
            held=held,
            send_seconds=send_seconds,
            clock=lambda: 1000.0,
        )
        return response(exchange.request.scope, exchange.receive, exchange.send)


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "body", [REPLAY, AUDIO])


def run(stored: Stored, exchange: Exchange, part: Part | None = None) -> Exchange:
    async def inner() -> None:
        await stored.respond(exchange, part)

    try:
        asyncio.run(inner())
    finally:
        assert stored.releases == 1
        assert stored.limits.downloads.held == 0
    return exchange


def test_the_whole_result_is_sent_with_what_describes_it(stored: Stored) -> None:
    got = run(stored, Exchange())
    assert (got.status, got.body) == (200, BODY)
    assert got.headers == {
        "content-type": "multipart/mixed; boundary=x",
        "etag": f'"{SHA256}-0-{len(BODY)}"',
        "accept-ranges": "bytes",
        "cache-control": "private, immutable, max-age=60",
        "x-content-type-options": "nosniff",
        "content-length": str(len(BODY)),
    }
    assert got.sent[-1]["more_body"] is False
    assert max(len(message["body"]) for message in got.sent[1:]) <= SLICE_BYTES


@pytest.mark.parametrize(
    ("content_type", "parts", "main"),
    [
        ("audio/mpeg", (SPOKEN, SAID), SPOKEN),
        ("audio/mpeg", (replace(SPOKEN, length=5200),), None),
        ("audio/mpeg", (SAID, replace(SPOKEN, offset=200)), replace(SPOKEN, offset=200)),
        ("multipart/mixed", (SPOKEN, SAID), None),
        ("audio/mpeg", (), None),
    ],
)
def test_a_body_may_hold_the_part_it_is_named_after(
    stored: Stored, content_type: str, parts: tuple[Part, ...], main: Part | None
) -> None:
    entry = stored.lease.entry.evolve(content_type=content_type, parts=parts, size_bytes=5200)
    assert main_part(entry) == main
    stored.lease.close()


@pytest.mark.parametrize(
    ("followed", "parts", "begun"),
    [
        ("audio/mpeg", (SPOKEN, SAID), SPOKEN),
        ("application/json", (SAID, SPOKEN), None),
        ("application/json", (replace(SAID, offset=0), SPOKEN), replace(SAID, offset=0)),
        ("audio/mpeg", (replace(SPOKEN, length=5200),), None),
        ("", (SPOKEN, SAID), None),
        ("audio/mpeg", (), None),
    ],
)
def test_a_body_may_begin_with_the_part_that_was_followed(
    stored: Stored, followed: str, parts: tuple[Part, ...], begun: Part | None
) -> None:
    detail = {FOLLOWED: followed} if followed else {}
    entry = stored.lease.entry.evolve(content_type="audio/mpeg", parts=parts, size_bytes=5200, detail=detail)
    assert followed_part(entry) == begun
    stored.lease.close()


def test_one_part_is_a_resource_of_its_own(stored: Stored) -> None:
    got = run(stored, Exchange(), AUDIO)
    assert (got.status, got.body) == (200, BODY[100:5100])
    assert got.headers["etag"] == f'"{SHA256}-100-5000"'
    assert got.headers["content-type"] == "audio/mpeg"
    assert got.headers["content-disposition"] == (
        "inline; filename=\"_t_ _live_.mp3\"; filename*=UTF-8''%C3%89t%C3%A9%20%E2%80%9Clive%E2%80%9D.mp3"
    )


def test_a_range_is_counted_within_the_part(stored: Stored) -> None:
    got = run(stored, Exchange(headers={"Range": "bytes=10-19"}), AUDIO)
    assert (got.status, got.body) == (206, BODY[110:120])
    assert got.headers["content-range"] == "bytes 10-19/5000"
    assert got.headers["content-length"] == "10"


def test_a_range_does_not_reach_beyond_the_part(stored: Stored) -> None:
    got = run(stored, Exchange(headers={"Range": "bytes=4990-9999"}), AUDIO)
    assert (got.headers["content-range"], got.body) == ("bytes 4990-4999/5000", BODY[5090:5100])


def test_head_describes_and_sends_nothing_and_takes_no_place(stored: Stored) -> None:
    with ExitStack() as stack:
        for _ in range(stored.limits.downloads.total):
            stack.enter_context(stored.limits.downloads.slot())
        exchange = Exchange("HEAD")

        async def inner() -> None:
            await stored.respond(exchange)

        asyncio.run(inner())
    assert (exchange.status, exchange.body) == (200, b"")
    assert exchange.headers["content-length"] == str(len(BODY))
    assert stored.releases == 1


def test_what_the_client_has_is_not_sent_again(stored: Stored) -> None:
    got = run(stored, Exchange(headers={"If-None-Match": f'"{SHA256}-100-5000"'}), AUDIO)
    assert (got.status, got.body) == (304, b"")
    assert got.headers["etag"] == f'"{SHA256}-100-5000"'
    assert "content-length" not in got.headers


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [({"Range": "bytes=9999999-"}, RangeNotSatisfiable), ({"If-Match": '"other"'}, PreconditionFailed)],
)
def test_a_refusal_comes_before_anything_is_sent(
    stored: Stored, headers: dict[str, str], refusal: type[Exception]
) -> None:
    exchange = Exchange(headers=headers)
    with pytest.raises(refusal):
        run(stored, exchange)
    assert exchange.sent == []


def test_one_download_too_many_is_refused_and_its_lease_given_back(stored: Stored) -> None:
    exchange = Exchange()

    async def inner() -> None:
        with ExitStack() as stack:
            for _ in range(stored.limits.downloads.total):
                stack.enter_context(stored.limits.downloads.slot())
            await stored.respond(exchange)

    with pytest.raises(TooManyDownloads):
        asyncio.run(inner())
    assert (stored.releases, exchange.sent) == (1, [])


def test_a_place_brought_along_is_used_and_given_back(stored: Stored) -> None:
    exchange = Exchange()
    seen: list[tuple[int, int]] = []

    async def inner() -> None:
        with ExitStack() as stack:
            stack.enter_context(stored.limits.synchronous.slot())
            held = stack.pop_all()

        async def watch(message: Message) -> None:
            seen.append((stored.limits.synchronous.held, stored.limits.downloads.held))

        exchange.on_send = watch
        await stored.respond(exchange, held=held)

    asyncio.run(inner())
    assert set(seen) == {(1, 0)}
    assert stored.limits.synchronous.held == 0


def test_a_client_that_goes_ends_the_delivery(stored: Stored) -> None:
    exchange = Exchange()

    async def leave(message: Message) -> None:
        exchange.gone.set()
        await asyncio.wait_for(asyncio.shield(asyncio.create_task(_turns(3))), 5)

    exchange.on_send = leave
    got = run(stored, exchange)
    assert len(got.body) <= SLICE_BYTES
    assert got.sent[-1]["more_body"] is True


async def _turns(count: int) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.get_running_loop().run_in_executor(None, int)


def test_a_client_that_takes_nothing_is_given_up(stored: Stored) -> None:
    exchange = Exchange()

    async def stall(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    exchange.on_send = stall

    async def inner() -> None:
        await stored.respond(exchange, AUDIO, send_seconds=0.01)

    with pytest.raises(ClientStalled):
        asyncio.run(inner())
    assert (stored.releases, stored.limits.downloads.held) == (1, 0)


def test_a_server_that_stops_gives_the_lease_back(stored: Stored) -> None:
    exchange = Exchange()
    reached = threading.Event()

    async def inner() -> None:
        async def stall(message: Message) -> None:
            reached.set()
            await asyncio.Event().wait()

        exchange.on_send = stall
        task = asyncio.ensure_future(stored.respond(exchange))
        await asyncio.get_running_loop().run_in_executor(None, reached.wait, 5)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(inner())
    assert (stored.releases, stored.limits.downloads.held) == (1, 0)


def test_a_file_shorter_than_its_record_is_an_error(stored: Stored, tmp_path: Path) -> None:
    os.truncate(tmp_path / "body", 50)
    with pytest.raises(EOFError):
        run(stored, Exchange(), AUDIO)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("song.mp3", 'inline; filename="song.mp3"'),
        ('a"b\\c.mp3', "inline; filename=\"a_b_c.mp3\"; filename*=UTF-8''a%22b%5Cc.mp3"),
        ("a\r\nX: y.mp3", "inline; filename=\"a__X: y.mp3\"; filename*=UTF-8''a%0D%0AX%3A%20y.mp3"),
        ("100%.mp3", "inline; filename=\"100_.mp3\"; filename*=UTF-8''100%25.mp3"),
    ],
)
def test_file_names_are_plain_or_encoded(name: str, header: str) -> None:
    assert disposition(name) == header


def test_json_is_compact_and_not_kept() -> None:
    response = json_response({"a": [1, None, "é\ud800"]}, 202, {"X-Test": "1"})
    assert response.body == '{"a":[1,null,"é?"]}'.encode()
    assert response.status_code == 202
    assert dict(response.headers) == {
        "cache-control": "no-store",
        "x-test": "1",
        "content-length": "20",
        "content-type": "application/json",
    }
    assert json_response({}, headers={"Cache-Control": "max-age=5"}).headers["cache-control"] == "max-age=5"
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_response({"a": float("nan")})


class Source:
    """Events handed out one by one; tells when it is closed."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self.closed = False

    async def events(self) -> AsyncIterator[tuple[str, str]]:
        try:
            while (event := await self.waiting.get()) is not None:
                yield event
        finally:
            self.closed = True


def stream(
    drive: Callable[[Exchange, Source, asyncio.Queue[str]], Awaitable[None]], ping_seconds: float = 60
) -> tuple[Exchange, Source, int]:
    """Serve a stream while `drive` plays its client; it sees the texts that were sent."""

    async def inner() -> tuple[Exchange, Source, int]:
        exchange, source, slots = Exchange(), Source(), Slots(1, "event streams", TooManyStreams)
        texts: asyncio.Queue[str] = asyncio.Queue()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.body":
                texts.put_nowait(message["body"].decode())

        exchange.on_send = note
        response = EventStream(source.events(), slots, ping_seconds=ping_seconds)
        serving = asyncio.ensure_future(response(exchange.request.scope, exchange.receive, exchange.send))
        await drive(exchange, source, texts)
        await asyncio.wait_for(serving, 5)
        return exchange, source, slots.held

    return asyncio.run(inner())


def test_events_go_out_as_they_come_until_the_source_ends() -> None:
    async def drive(exchange: Exchange, source: Source, texts: asyncio.Queue[str]) -> None:
        for event in (("job", '{"status":"queued"}'), ("job", "two\nlines")):
            source.waiting.put_nowait(event)
            assert await asyncio.wait_for(texts.get(), 5) == event_text(*event)
        source.waiting.put_nowait(None)

    exchange, source, held = stream(drive)
    assert exchange.headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
    }
    assert exchange.sent[-1] == {"type": "http.response.body", "body": b""}
    assert (source.closed, held) == (True, 0)


def test_silence_is_filled_with_comments() -> None:
    async def drive(exchange: Exchange, source: Source, texts: asyncio.Queue[str]) -> None:
        for _ in range(2):
            assert (await asyncio.wait_for(texts.get(), 5)).startswith(":")
        source.waiting.put_nowait(("job", "late"))
        while (text := await asyncio.wait_for(texts.get(), 5)).startswith(":"):
            continue
        assert text == "event: job\ndata: late\n\n"
        source.waiting.put_nowait(None)

    assert stream(drive, ping_seconds=0.01)[1].closed


def test_a_client_that_goes_ends_the_stream_and_closes_the_source() -> None:
    async def drive(exchange: Exchange, source: Source, texts: asyncio.Queue[str]) -> None:
        source.waiting.put_nowait(("job", "one"))
        await asyncio.wait_for(texts.get(), 5)
        exchange.gone.set()

    exchange, source, held = stream(drive)
    assert (source.closed, held) == (True, 0)
    assert exchange.sent[-1]["more_body"] is True


def test_an_error_of_the_source_is_the_streams() -> None:
    async def broken() -> AsyncIterator[tuple[str, str]]:
        yield "job", "one"
        raise ValueError("no more")

    async def inner(send: Send, exchange: Exchange) -> None:
        await EventStream(broken(), Slots(1, "x", TooManyStreams))(
            exchange.request.scope, exchange.receive, send
        )

    async def outer() -> None:
        exchange = Exchange()
        await inner(exchange.send, exchange)

    with pytest.raises(ValueError, match="no more"):
        asyncio.run(outer())


def test_one_stream_too_many_is_refused_and_its_source_closed() -> None:
    async def inner() -> Exchange:
        exchange, slots = Exchange(), Slots(0, "event streams", TooManyStreams)
        with pytest.raises(TooManyStreams):
            await EventStream(Source().events(), slots)(
                exchange.request.scope, exchange.receive, exchange.send
            )
        return exchange

    assert asyncio.run(inner()).sent == []


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\rb"])
def test_no_line_end_leaves_its_event(text: str) -> None:
    assert event_text("log", text) == "event: log\ndata: a\ndata: b\n\n"


class Pieces:
    """Pieces of a body handed out one by one; tells how many were asked for, and when it is closed."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.asked = 0
        self.closed = False

    def give(self, *pieces: bytes | Exception | None) -> None:
        for piece in pieces:
            self.waiting.put_nowait(piece)

    async def all(self) -> AsyncIterator[bytes]:
        try:
            self.asked += 1
            while (piece := await self.waiting.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
                self.asked += 1
        finally:
            self.closed = True


def chunked(
    pieces: Pieces,
    drive: Callable[[Exchange], Awaitable[None]] | None = None,
    exchange: Exchange | None = None,
    send_seconds: float = 5.0,
) -> Exchange:
    """The answer that these pieces make, while `drive` plays the client."""
    played = exchange or Exchange()

    async def inner() -> None:
        response = Chunks(pieces.all(), {"Content-Type": "audio/mpeg"}, send_seconds=send_seconds)
        serving = asyncio.ensure_future(response(played.request.scope, played.receive, played.send))
        if drive is not None:
            await drive(played)
        try:
            await asyncio.wait_for(serving, 5)
        finally:
            # Here, since the end of the loop closes every generator.
            assert pieces.closed

    asyncio.run(inner())
    return played


def test_pieces_are_sent_as_they_come_and_ended_properly() -> None:
    pieces = Pieces()
    pieces.give(b"one", b"two", None)
    got = chunked(pieces)
    assert [message.get("body") for message in got.sent[1:]] == [b"one", b"two", b""]
    assert [message["more_body"] for message in got.sent[1:]] == [True, True, False]
    assert (got.status, got.headers) == (200, {"content-type": "audio/mpeg"})


def test_a_piece_is_asked_for_when_the_one_before_was_taken() -> None:
    pieces, asked = Pieces(), []
    pieces.give(b"one", b"two", None)
    exchange = Exchange()

    async def look(message: Message) -> None:
        await _turns(2)
        asked.append(pieces.asked)

    exchange.on_send = look
    chunked(pieces, exchange=exchange)
    assert asked == [1, 1, 2, 3]  # the headers, two pieces, the end


def test_an_error_before_the_first_piece_leaves_the_answer_open() -> None:
    pieces, exchange = Pieces(), Exchange()
    pieces.give(ValueError("nothing came"))
    with pytest.raises(ValueError, match="nothing came"):
        chunked(pieces, exchange=exchange)
    assert exchange.sent == []


def test_an_error_after_it_leaves_the_body_without_an_end() -> None:
    pieces, exchange = Pieces(), Exchange()
    pieces.give(b"one", ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        chunked(pieces, exchange=exchange)
    assert (exchange.body, exchange.sent[-1]["more_body"]) == (b"one", True)


@pytest.mark.parametrize("sent", [b"", b"one"], ids=["before the first piece", "between two pieces"])
def test_a_client_that_goes_is_sent_nothing_more(sent: bytes) -> None:
    pieces = Pieces()

    async def drive(exchange: Exchange) -> None:
        arrived = asyncio.Event()

        async def note(message: Message) -> None:
            arrived.set()

        exchange.on_send = note
        if sent:
            pieces.give(sent)
            await asyncio.wait_for(arrived.wait(), 5)
        exchange.gone.set()

    got = chunked(pieces, drive)
    assert got.body == sent if sent else got.sent == []


def test_a_client_that_takes_no_piece_is_given_up() -> None:
    pieces, exchange = Pieces(), Exchange()
    pieces.give(b"one", b"two")

    async def stall(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    exchange.on_send = stall
    with pytest.raises(ClientStalled):
        chunked(pieces, exchange=exchange, send_seconds=0.01)


def test_presence_tells_all_who_ask_when_the_client_goes() -> None:
    told: list[str] = []

    async def inner() -> None:
        exchange = Exchange()
        presence = Presence(exchange.receive)
        presence.when_gone(lambda: told.append("early"))
        listening = asyncio.create_task(presence.receive())
        await _turns(2)
        assert (presence.has_gone, listening.done(), told) == (False, False, [])
        exchange.gone.set()
        assert await asyncio.wait_for(listening, 5) == {"type": "http.disconnect"}
        presence.when_gone(lambda: told.append("late"))
        assert (presence.has_gone, told) == (True, ["early", "late"])
        presence.close()

    asyncio.run(inner())


def test_a_client_can_be_taken_for_gone() -> None:
    async def inner() -> bool:
        presence = Presence(Exchange().receive)
        presence.end()
        await asyncio.wait_for(presence.receive(), 5)
        presence.close()
        return presence.has_gone

    assert asyncio.run(inner())
