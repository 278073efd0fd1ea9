"""What an accepted call offers whoever answers it."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from server.calls.call import Call, Deadline
from server.errors import JobFailed
from server.jobs.errors import JobCancelled
from server.responses import Chunks, json_response
from storage.entry import Entry, Part
from storage.errors import EntryExpired, NotStored
from tests.server.calls.caller import Client, Studio
from tests.server.maker import AUDIO, PATIENCE_SECONDS, REPLAY, Maker

Answer = Callable[[Call], Awaitable[Response]]


async def pieces(call: Call, part: Part | None = None) -> bytes:
    return b"".join([bytes(piece) async for piece in call.slices(part)])


async def listen(call: Call, heard: bytearray) -> None:
    async for piece in call.slices():
        heard += piece


def replay_of(entry: Entry) -> Part:
    return next(part for part in entry.parts if part.name == "replay")


def answered(studio: Studio, maker: Maker, answer: Answer, text: bytes = b"all of it") -> Client:
    """A call that is answered so, once its job has made this text."""
    clients: list[Client] = []

    async def test() -> None:
        clients.append(Client(studio, maker, answer=answer))
        await studio.call(lambda: maker.hold(text))
        maker.finish()
        await clients[0].end()

    studio.run(test)
    return clients[0]


def test_any_part_can_be_the_answer_with_headers_of_its_own(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        return await call.result(replay_of(await call.finished()), {"song-id": call.job_id})

    client = answered(studio, maker, answer)
    assert (client.body, client.headers["content-type"]) == (REPLAY, "application/json")
    assert client.headers["song-id"] == client.job_id


@pytest.mark.parametrize("name", ["if-none-match", "if-match", "range"])
def test_no_header_for_downloads_keeps_a_result_from_the_call_that_made_it(
    studio: Studio, maker: Maker, name: str
) -> None:
    async def test() -> None:
        headers = {name: {"if-none-match": "*", "if-match": '"other"', "range": "bytes=0-1"}[name]}
        client = Client(studio, maker, headers=headers)
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await client.end()
        assert (client.status, client.body) == (200, b"all of it")

    studio.run(test)


def test_a_part_can_be_read_at_once(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        replay, audio = await call.body(replay_of(await call.finished())), await call.body()
        return json_response({"replay": replay.decode(), "audio": audio.decode()})

    assert (
        answered(studio, maker, answer).body == b'{"replay":"{\\"text\\": \\"replay\\"}","audio":"all of it"}'
    )


def test_a_file_shorter_than_its_record_is_an_error(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(call: Call) -> Response:
        monkeypatch.setattr(os, "pread", lambda fd, size, offset: b"")
        return Response(await call.body())

    with pytest.raises(EOFError, match="shorter than its record"):
        answered(studio, maker, answer)


def test_any_part_can_be_read_in_slices_once_it_is_stored(studio: Studio, maker: Maker) -> None:
    read: list[bytes] = []

    async def answer(call: Call) -> Response:
        entry = await call.finished()
        read.extend([await pieces(call), await pieces(call, replay_of(entry))])
        return Response()

    answered(studio, maker, answer)
    assert read == [b"all of it", REPLAY]


def test_what_was_followed_can_be_read_again(studio: Studio, maker: Maker) -> None:
    read: list[object] = []

    async def answer(call: Call) -> Response:
        read.append(await call.begun())
        maker.finish()
        read.extend([await pieces(call), await pieces(call)])
        read.append((await call.finished()).id == call.job_id)
        return await call.result()

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        await studio.call(lambda: maker.offer(b"all of it"))
        await client.end()
        assert (client.body, read) == (b"all of it", [True, b"all of it", b"all of it", True])

    studio.run(test)


def test_of_a_job_that_cannot_be_followed_the_end_is_waited_for(studio: Studio) -> None:
    begun: list[bool] = []

    async def answer(call: Call) -> Response:
        begun.append(await call.begun())
        return Chunks(call.slices(), {"Content-Type": AUDIO})

    client = answered(studio, Maker(followed=""), answer)
    assert (begun, client.body, client.ended_properly) == ([False], b"all of it", True)


@pytest.mark.parametrize("deadline", [0.0, float("inf")])
def test_it_can_be_asked_whether_the_job_ends_soon_and_no_deadline_ends_that(
    studio: Studio, maker: Maker, deadline: float
) -> None:
    told: list[bool] = []

    async def answer(call: Call) -> Response:
        assert await call.begun()
        call._deadline = Deadline(at=deadline, seconds=30.0)
        # Beyond the deadline it is not waited for, else as long as is said.
        told.append(await call.ends_within(PATIENCE_SECONDS if deadline == 0 else 0.001))
        maker.finish()
        call._deadline = Deadline(at=float("inf"), seconds=30.0)
        told.append(await call.ends_within(PATIENCE_SECONDS))
        return Chunks(call.slices(), {"Content-Type": AUDIO})

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        await studio.call(lambda: maker.offer(b"all of it"))
        await client.end()
        assert (client.body, told) == (b"all of it", [False, True])

    studio.run(test)


def test_whoever_asks_whether_it_ends_soon_is_told_how_it_failed(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        assert await call.begun()
        maker.fail(MemoryError())
        with pytest.raises(JobFailed):
            await call.ends_within(PATIENCE_SECONDS)
        return Response(b"failed")

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        await studio.call(lambda: maker.offer(b"a part"))
        await client.end()
        assert client.body == b"failed"

    studio.run(test)


def test_an_empty_body_is_an_empty_answer(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        await call.begun()
        return Chunks(call.slices(), {"Content-Type": AUDIO})

    client = answered(studio, maker, answer, b"")
    assert (client.status, client.body, client.ended_properly) == (200, b"", True)


@pytest.mark.parametrize(
    ("end", "error"), [(lambda maker: maker.fail(MemoryError()), JobFailed), (Maker.heed, JobCancelled)]
)
def test_a_job_that_fails_on_the_way_is_told_as_it_failed(
    studio: Studio, maker: Maker, end: Callable[[Maker], None], error: type[Exception]
) -> None:
    async def answer(call: Call) -> Response:
        assert await call.begun()
        heard = bytearray()
        with pytest.raises(error):
            await listen(call, heard)
        return Response(bytes(heard))

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        job_id = await client.accepted()
        await studio.call(lambda: maker.offer(b"one"))
        if error is JobCancelled:
            studio.parts.book.cancel(job_id, "")
        end(maker)
        await client.end()
        assert client.body == b"one"

    studio.run(test)


def test_a_result_deleted_before_it_is_read_is_told_so(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        await call.finished()
        await studio.call(lambda: studio.parts.book.delete(call.job_id, ""))
        return await call.result()

    async def test() -> None:
        maker.finish()
        with pytest.raises(EntryExpired):
            await Client(studio, maker, answer=answer).end()

    studio.run(test)


@pytest.mark.parametrize("is_followed", [False, True], ids=["stored", "followed"])
def test_a_result_that_is_deleted_while_it_is_sent_is_sent_and_told_of(
    studio: Studio, maker: Maker, is_followed: bool
) -> None:
    told: list[Entry] = []

    async def pieces_and_entry(call: Call) -> AsyncIterator[bytes | memoryview]:
        async for piece in call.slices():
            if not is_followed:
                await studio.call(lambda: studio.parts.book.delete(call.job_id, ""))
            yield piece
        if is_followed:
            await studio.call(lambda: studio.parts.book.delete(call.job_id, ""))
        told.append(await call.finished())

    async def answer(call: Call) -> Response:
        await (call.begun() if is_followed else call.finished())
        return Chunks(pieces_and_entry(call), {})

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        if is_followed:
            await studio.call(lambda: maker.offer(b"all of it"))
            await client.heard(b"all of it")
        else:
            await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await client.end()
        assert (client.body, client.ended_properly) == (b"all of it", True)
        assert (told[0].id, told[0].content_type) == (client.job_id, AUDIO)

    studio.run(test)


def test_what_is_open_is_given_back_where_no_answer_comes_of_it(studio: Studio, maker: Maker) -> None:
    async def answer(call: Call) -> Response:
        await call.begun()
        await call.result()  # which nobody sends
        raise NotStored(call.job_id, "Something went wrong.")

    async def test() -> None:
        maker.finish()
        client = Client(studio, maker, answer=answer)
        with pytest.raises(NotStored, match="Something went wrong"):
            await client.end()
        await studio.call(lambda: studio.parts.book.delete(client.job_id, ""))
        assert studio.parts.store.audit() == []

    studio.run(test)


def test_whoever_waits_is_told_at_once_that_the_client_has_gone(studio: Studio, maker: Maker) -> None:
    told: list[type[BaseException]] = []

    async def answer(call: Call) -> Response:
        for wait in (call.finished, call.begun, call.lease, call.result, call.body):
            try:
                await wait()
            except ClientDisconnect as error:
                told.append(type(error))
        raise ClientDisconnect

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        job_id = await client.accepted()
        await client.leave()
        assert told == [ClientDisconnect] * 5
        studio.attendance.use(job_id)
        maker.finish()
        await studio.ended(job_id)

    studio.run(test)
