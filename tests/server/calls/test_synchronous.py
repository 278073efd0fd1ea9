"""A synchronous call answers with its job's result, is refused before it costs anything, and ends with its deadline."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from engine.errors import InvalidRequest
from server.calls.call import Call, Deadline
from server.errors import (
    BodyTooLarge,
    DeadlineExceeded,
    InvalidJson,
    JobFailed,
    TooManyStreams,
    TooManySynchronous,
    TooManyUploads,
    UnsupportedMedia,
)
from server.jobs.errors import INTERRUPTED_CODE, InputsFull, QueueFull
from server.responses import Chunks
from server.work import Prepared
from storage.entry import JSON
from storage.errors import StoreFull
from tests.server.calls.caller import DEADLINE_SECONDS, Client, Studio, streamed
from tests.server.calls.conftest import MakeStudio
from tests.server.maker import AUDIO, PATIENCE_SECONDS, Maker
from tests.server.recorded import Recorded


def rejected(studio: Studio) -> int:
    return studio.parts.queue.snapshot().rejected


def all_places(studio: Studio, there: ExitStack, free: int = 0) -> None:
    for _ in range(studio.parts.limits.synchronous.total - free):
        there.enter_context(studio.parts.limits.synchronous.slot())


def test_the_answer_is_the_stored_result(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        await studio.call(lambda: maker.hold(b"all of it"))
        assert studio.parts.board.http()["synchronous_waiters"] == 1
        maker.finish()
        await client.end()
        assert (client.status, client.body, client.headers["content-type"]) == (200, b"all of it", AUDIO)
        assert client.ended_properly
        assert studio.status(client.job_id) == "done"
        assert studio.parts.store.usage().files == 1  # stored once, and served from there

    studio.run(test)


def test_after_its_answer_nobody_listens_whether_the_client_goes(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        await client.accepted()
        assert not client.unheard.is_set()
        maker.finish()
        await client.end()
        await asyncio.wait_for(client.unheard.wait(), PATIENCE_SECONDS)
        assert not client.gone.is_set()

    studio.run(test)


def test_what_is_made_is_sent_as_it_grows(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker, answer=streamed)
        await studio.call(lambda: maker.offer(b"one"))
        await client.heard(b"one")
        await studio.call(lambda: maker.offer(b"two"))
        await client.heard(b"onetwo")
        assert not client.ended_properly
        maker.finish()
        await client.end()
        assert (client.body, client.ended_properly) == (b"onetwo", True)

    studio.run(test)


def test_the_place_is_held_until_the_last_byte_is_sent(studio: Studio, maker: Maker) -> None:
    held: list[tuple[int, int]] = []

    async def look(message: Message) -> None:
        held.append((studio.parts.limits.synchronous.held, studio.parts.limits.downloads.held))

    async def test() -> None:
        client = Client(studio, maker)
        client.on_send = look
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await client.end()
        assert held == [(1, 0)] * len(client.sent)
        assert studio.parts.limits.synchronous.held == 0

    studio.run(test)


def test_a_body_that_says_it_is_too_large_is_not_read(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker, upload=1001)
        with pytest.raises(BodyTooLarge):
            await client.end()
        assert (client.read, studio.pending) == (False, 0)

    studio.run(test)


def test_where_all_places_are_taken_it_is_told_before_the_body_is_read(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there)
            client = Client(studio, maker)
            with pytest.raises(TooManySynchronous):
                await client.end()
        assert (client.read, client.job_id, rejected(studio), studio.pending) == (False, "", 1, 0)

    studio.run(test)


def test_places_taken_while_the_body_is_read_refuse_it_too(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        client.reading = asyncio.Event()
        await client.started.wait()
        with ExitStack() as there:
            all_places(studio, there)
            client.reading.set()
            with pytest.raises(TooManySynchronous):
                await client.end()
        assert (client.read, client.job_id, rejected(studio), studio.pending) == (True, "", 1, 0)

    studio.run(test)


def test_a_full_queue_refuses_before_the_body_is_read(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(YUE2_QUEUE_LIMIT="1")

    async def test() -> None:
        first = Client(studio, maker)
        await first.accepted()
        second = Client(studio, Maker(), body=b"other")
        with pytest.raises(QueueFull):
            await second.end()
        assert (second.read, rejected(studio)) == (False, 1)
        maker.finish()
        await first.end()

    studio.run(test)


def test_a_queue_that_fills_while_the_body_is_read_refuses_and_gives_the_place_back(
    make_studio: MakeStudio, maker: Maker
) -> None:
    studio = make_studio(YUE2_QUEUE_LIMIT="1")

    async def test() -> None:
        late = Client(studio, Maker(), body=b"late")
        late.reading = asyncio.Event()
        await late.started.wait()
        first = Client(studio, maker)
        await first.accepted()
        late.reading.set()
        with pytest.raises(QueueFull):
            await late.end()
        assert (late.job_id, studio.parts.limits.synchronous.held, rejected(studio)) == ("", 1, 1)
        maker.finish()
        await first.end()

    studio.run(test)


def test_an_upload_counts_by_what_it_says_of_its_size(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.parts.queue, "_most_input_bytes", 50)

    async def test() -> None:
        client = Client(studio, maker, upload=51)
        with pytest.raises(InputsFull):
            await client.end()
        assert (client.read, rejected(studio)) == (False, 1)

    studio.run(test)


def test_one_that_finds_no_place_for_its_upload_counts_as_refused(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        client.read_error = TooManyUploads("uploads", 2)
        with pytest.raises(TooManyUploads):
            await client.end()
        assert (rejected(studio), studio.pending) == (1, 0)

    studio.run(test)


def test_one_that_finds_no_turn_to_be_checked_counts_as_refused(studio: Studio, maker: Maker) -> None:
    preparations = studio.parts.limits.preparations

    async def test() -> None:
        for client in (Client(studio, maker), JsonClient(studio, maker, b'{"name": "Ada"}')):
            with ExitStack() as there:
                for _ in range(preparations.total):
                    there.enter_context(preparations.slot())
                with pytest.raises(TooManyStreams):
                    await client.end()
        assert (rejected(studio), studio.pending, studio.parts.limits.synchronous.held) == (2, 0, 0)

    studio.run(test)


def test_a_late_job_goes_on_and_its_call_is_told_where(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(deadline_seconds=0.05)

    async def test() -> None:
        client = Client(studio, maker)
        with pytest.raises(DeadlineExceeded) as late:
            await client.end()
        assert (late.value.job_id, client.job_id in str(late.value)) == (client.job_id, True)
        assert (studio.timers.pending, studio.pending) == ([], 1)  # never given up
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await studio.ended(client.job_id)
        retry = Client(studio, Maker(), attempt=1)
        await retry.end()
        assert (retry.body, retry.job_id) == (b"all of it", client.job_id)

    studio.run(test)


def test_the_time_in_the_queue_and_for_the_body_counts(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(deadline_seconds=0.05)
    first = Maker()

    async def test() -> None:
        blocker = studio.parts.gate.admit(first.prepared(), "", "").job_id
        client = Client(studio, maker)
        with pytest.raises(DeadlineExceeded):
            await client.end()
        assert studio.status(client.job_id) == "queued"
        slow = Client(studio, Maker(), body=b"slow")
        slow.reading = asyncio.Event()
        asyncio.get_running_loop().call_later(0.06, slow.reading.set)
        with pytest.raises(DeadlineExceeded):
            await slow.end()
        assert studio.pending == 3
        slow.maker.finish()
        first.finish()
        maker.finish()
        await studio.ended(blocker)
        await studio.ended(slow.job_id)

    studio.run(test)


def test_the_deadline_counts_from_when_the_request_came(studio: Studio, maker: Maker) -> None:
    ends_at: list[float] = []

    async def answer(call: Call) -> Response:
        ends_at.append(call._deadline.at)
        return await call.result()

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        client.reading = asyncio.Event()
        await client.started.wait()
        came = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() == came:
            await studio.call(lambda: None)
        client.reading.set()
        maker.finish()
        await client.end()
        assert ends_at[0] <= came + DEADLINE_SECONDS

    studio.run(test)


def test_a_full_store_is_told_before_that_all_places_are_taken(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(YUE2_RESULT_MAX_FILES="1")

    async def test() -> None:
        maker.finish()
        await Client(studio, maker).end()
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(StoreFull):
                await Client(studio, Maker(), body=b"other").end()
        assert rejected(studio) == 1

    studio.run(test)


def test_what_a_body_took_is_given_back_while_its_call_waits(studio: Studio, maker: Maker) -> None:
    given_back: list[str] = []

    async def test() -> None:
        client = Client(studio, maker)
        client.on_read = lambda held: held.callback(given_back.append, "upload")
        await client.accepted()
        await studio.call(lambda: maker.hold(b"all of it"))
        assert given_back == ["upload"]
        maker.finish()
        await client.end()

    studio.run(test)


def test_a_client_that_waits_less_is_answered_sooner(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        for header, attempt in (("x-stainless-read-timeout", 0), ("x-stainless-timeout", 1)):
            client = Client(studio, maker, attempt=attempt, headers={header: "0.1"})
            with pytest.raises(DeadlineExceeded, match=r"0\.05 seconds"):
                await client.end()
        assert studio.pending == 1
        maker.finish()
        await studio.ended(client.job_id)

    studio.run(test)


def test_a_stream_that_has_begun_is_not_cut_by_the_deadline(studio: Studio, maker: Maker) -> None:
    async def late(call: Call) -> Response:
        assert await call.begun()
        call._deadline = Deadline(at=0.0, seconds=30.0)
        return Chunks(told_to_the_end(call), {})

    async def told_to_the_end(call: Call) -> AsyncIterator[bytes | memoryview]:
        async for piece in call.slices():
            yield piece
        yield (await call.finished()).content_type.encode()

    async def test() -> None:
        client = Client(studio, maker, answer=late)
        await studio.call(lambda: maker.offer(b"one"))
        await client.heard(b"one")
        await studio.call(lambda: maker.offer(b"two"))
        await client.heard(b"onetwo")
        maker.finish()
        await client.end()
        assert (client.body, client.ended_properly) == (b"onetwo" + AUDIO.encode(), True)

    studio.run(test)


def test_where_the_queue_closes_whoever_waits_is_told_at_once(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        clients = [Client(studio, maker)]
        await studio.call(lambda: maker.hold(b""))  # it runs
        clients += [Client(studio, Maker(), body=b"%d" % number) for number in range(7)]
        for client in clients:
            await client.accepted()
        assert studio.parts.limits.synchronous.held == 8
        await studio.call(studio.parts.book.close)
        maker.heed()
        for client in clients:
            with pytest.raises(JobFailed) as failed:
                await client.end()
            assert failed.value.code == INTERRUPTED_CODE
        assert studio.timers.pending == []

    studio.run(test)


def test_calls_that_are_cut_off_by_the_stop_leave_no_timer(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        await client.accepted()
        await studio.attendance.close()
        client.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await client.end()
        assert studio.timers.pending == []
        maker.finish()
        await studio.ended(client.job_id)

    studio.run(test)


class JsonClient(Recorded):
    """A request whose body is JSON, answered with what was asked."""

    def __init__(
        self, studio: Studio, maker: Maker, body: bytes, kind: str = "application/json", attempt: int = 0
    ) -> None:
        super().__init__()
        self._bodies, self._maker, self._calls = [body], maker, studio.calls
        sent = {"content-type": kind, "content-length": len(body), "x-stainless-retry-count": attempt}
        self._headers = [(name.encode(), str(value).encode()) for name, value in sent.items()]
        self._state: dict[str, object] = {"owner": ""}

    @property
    def job_id(self) -> str:
        """The job that was accepted for it."""
        return str(self._state["accepted_job"])

    async def end(self) -> None:
        """Ask, and wait for the answer."""
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "query_string": b"",
            "headers": self._headers,
            "state": self._state,
        }
        request = Request(scope, self._receive)
        answer = await self._calls.answer_json(request, read_name, self._prepare, greeting)
        await answer(scope, self._receive, self._send)

    def _prepare(self, name: str) -> Prepared:
        return self._maker.prepared()

    async def _receive(self) -> Message:
        if not self._bodies:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": self._bodies.pop(), "more_body": False}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)


def read_name(payload: dict[str, JSON]) -> str:
    if "name" not in payload:
        raise InvalidRequest("name", "A name is needed.")
    return str(payload["name"])


async def greeting(call: Call, name: str) -> Response:
    return await call.result(headers={"X-Name": name})


def test_a_json_body_is_read_once_for_the_job_and_for_the_answer(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        maker.finish()
        client = JsonClient(studio, maker, json.dumps({"name": "Ada"}).encode())
        await client.end()
        assert (client.status, client.headers["x-name"]) == (200, "Ada")

    studio.run(test)


@pytest.mark.parametrize("is_same", [True, False])
def test_of_json_calls_that_were_refused_it_is_known_what_they_sent(studio: Studio, is_same: bool) -> None:
    """So that nobody's retry is taken for that of another call, which happens to be as long."""

    async def ended(body: bytes, attempt: int = 0) -> str:
        maker = Maker()
        maker.finish()
        client = JsonClient(studio, maker, body, attempt=attempt)
        await client.end()
        return client.job_id

    async def test() -> None:
        first = await ended(b'{"name": "Ada"}')
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(TooManySynchronous):
                await JsonClient(studio, Maker(), b'{"name": "Ada"}' if is_same else b'{"name": "Eve"}').end()
        retry = await ended(b'{"name": "Ada"}', attempt=1)
        assert (retry == first) == (not is_same)

    studio.run(test)


@pytest.mark.parametrize(
    ("body", "kind", "error"),
    [
        (b"[]", "application/json", InvalidJson),
        (b"{}", "application/json", InvalidRequest),
        (b"{}", "text/plain", UnsupportedMedia),
    ],
)
def test_what_cannot_be_read_makes_no_job(
    studio: Studio, maker: Maker, body: bytes, kind: str, error: type[Exception]
) -> None:
    async def test() -> None:
        with pytest.raises(error):
            await JsonClient(studio, maker, body, kind).end()
        assert (studio.pending, studio.parts.limits.synchronous.held) == (0, 0)

    studio.run(test)
