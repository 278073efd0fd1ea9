"""What a client has begun that goes: nothing, a job that is given up in time, or a result that stays."""

import threading

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message

from server.calls.call import Call
from server.errors import TooManyStreams
from server.jobs.errors import JobCancelled
from server.responses import Chunks
from storage.store import Lease
from tests.server.calls.caller import Client, Studio, streamed
from tests.server.maker import PATIENCE_SECONDS, Maker

KEY = {"idempotency-key": "k"}


def rejected(studio: Studio) -> int:
    return studio.parts.queue.snapshot().rejected


def test_a_client_that_goes_while_its_body_is_read_begins_nothing(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        client.read_error = ClientDisconnect()
        with pytest.raises(ClientDisconnect):
            await client.end()
        assert (studio.pending, len(studio.recent), rejected(studio)) == (0, 0, 0)

    studio.run(test)


def test_a_client_that_goes_before_its_job_is_made_begins_nothing(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        client.gone.set()
        with pytest.raises(ClientDisconnect):
            await client.end()
        assert (studio.pending, len(studio.recent), studio.timers.pending) == (0, 0, [])

    studio.run(test)


@pytest.mark.parametrize("state", ["waiting", "running", "streaming"])
def test_a_job_whose_client_has_gone_is_cancelled_after_20_seconds(
    studio: Studio, maker: Maker, state: str
) -> None:
    async def test() -> None:
        blocker = Maker()
        other = Client(studio, blocker, body=b"before") if state == "waiting" else None
        if other is not None:
            await other.accepted()
        client = Client(studio, maker, answer=streamed)
        job_id = await client.accepted()
        if state == "streaming":
            await studio.call(lambda: maker.offer(b"one"))
            await client.heard(b"one")
        await client.leave()
        assert [timer.seconds for timer in studio.timers.pending] == [20.0]
        assert studio.status(job_id) in ("queued", "running")
        await studio.give_up()
        maker.heed()
        if other is not None:
            blocker.finish()
            await other.end()
        await studio.ended(job_id)
        assert (studio.status(job_id), studio.parts.queue.snapshot().cancelled) == ("cancelled", 1)
        assert studio.parts.store.find(job_id).detail["status"] == "cancelled"

    studio.run(test)


@pytest.mark.parametrize("headers", [{}, KEY], ids=["fingerprint", "key"])
def test_a_late_retry_of_what_was_given_up_makes_a_new_job(
    studio: Studio, maker: Maker, headers: dict[str, str]
) -> None:
    async def test() -> None:
        client = Client(studio, maker, headers=headers)
        job_id = await client.accepted()
        await client.leave()
        await studio.give_up()
        late_maker = Maker()
        late = Client(studio, late_maker, attempt=1, headers=headers)  # while the first still stops
        assert await late.accepted() != job_id
        maker.heed()
        late_maker.finish()
        await late.end()
        assert (studio.status(job_id), studio.status(late.job_id)) == ("cancelled", "done")

    studio.run(test)


@pytest.mark.parametrize("is_lost", [False, True], ids=["told", "its client has gone"])
def test_a_job_that_goes_on_after_its_client_was_told_of_an_error_is_kept(
    studio: Studio, maker: Maker, is_lost: bool
) -> None:
    async def answer(call: Call) -> Response:
        raise ClientDisconnect if is_lost else TooManyStreams("requests being checked", 32)

    async def test() -> None:
        client = Client(studio, maker, answer=answer)
        with pytest.raises((ClientDisconnect, TooManyStreams)):
            await client.end()
        assert len(studio.timers.pending) == is_lost
        studio.attendance.use(client.job_id)
        maker.finish()
        await studio.ended(client.job_id)

    studio.run(test)


@pytest.mark.parametrize("headers", [{}, KEY], ids=["fingerprint", "key"])
def test_a_late_retry_finds_what_was_given_up_and_is_done_all_the_same(
    studio: Studio, maker: Maker, headers: dict[str, str]
) -> None:
    async def test() -> None:
        client = Client(studio, maker, headers=headers)
        job_id = await client.accepted()
        await studio.call(lambda: maker.hold(b"all of it"))
        await client.leave()
        await studio.give_up()
        maker.finish()  # without another look whether it was cancelled
        await studio.ended(job_id)
        late = Client(studio, Maker(), attempt=1, headers=headers)
        await late.end()
        assert (late.job_id, late.body) == (job_id, b"all of it")

    studio.run(test)


def test_the_second_to_go_is_the_one_that_counts(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        retry = Client(studio, Maker(), attempt=1)
        await retry.accepted()
        await first.leave()
        assert studio.timers.pending == []
        await retry.leave()
        assert len(studio.timers.pending) == 1
        await studio.give_up()
        maker.heed()
        await studio.ended(job_id)
        assert studio.status(job_id) == "cancelled"

    studio.run(test)


def test_a_handle_that_is_used_keeps_the_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        job_id = await client.accepted()
        await client.leave()
        studio.attendance.use(job_id)
        assert studio.timers.pending == []
        maker.finish()
        await studio.ended(job_id)
        assert studio.status(job_id) == "done"

    studio.run(test)


def test_a_job_that_ends_meanwhile_is_left_as_it_is(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        job_id = await client.accepted()
        await client.leave()
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await studio.ended(job_id)
        await studio.give_up()
        assert (studio.status(job_id), studio.parts.queue.snapshot().cancelled) == ("done", 0)
        retry = Client(studio, Maker(), attempt=1)
        await retry.end()
        assert (retry.job_id, retry.body) == (job_id, b"all of it")

    studio.run(test)


def test_a_result_whose_download_is_broken_off_stays(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)

        async def go(message: Message) -> None:
            client.gone.set()
            await client.pause()

        await studio.call(lambda: maker.hold(bytes(3 << 20)))
        client.on_send = go
        maker.finish()
        await client.end()
        assert (client.ended_properly, studio.status(client.job_id)) == (False, "done")
        await studio.give_up()
        retry = Client(studio, Maker(), attempt=1)
        await retry.end()
        assert (len(retry.body), retry.job_id) == (3 << 20, client.job_id)

    studio.run(test)


def test_a_client_that_goes_while_its_result_is_opened_leaves_no_file_open(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, let = threading.Event(), threading.Event()
    lease = studio.parts.book.lease

    def slow(job_id: str, owner: str) -> Lease:
        opening.set()
        assert let.wait(PATIENCE_SECONDS)
        return lease(job_id, owner)

    async def answer(call: Call) -> Response:
        await call.finished()
        return Chunks(call.slices(), {})

    async def test() -> None:
        monkeypatch.setattr(studio.parts.book, "lease", slow)
        client = Client(studio, maker, answer=answer)
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await studio.call(opening.wait)
        client.gone.set()
        await client.pause()
        let.set()
        await client.leave()
        await studio.call(lambda: studio.parts.book.delete(client.job_id, ""))
        assert studio.parts.store.usage().files == 0  # deleted, and held by nobody

    studio.run(test)


def test_a_job_that_its_user_cancels_is_told_as_cancelled(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        studio.parts.book.cancel(await client.accepted(), "")
        maker.heed()
        with pytest.raises(JobCancelled):
            await client.end()

    studio.run(test)
