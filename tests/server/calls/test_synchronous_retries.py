"""All attempts at one call find one job, by what they send or by their Idempotency-Key."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from engine.errors import InvalidRequest
from server.calls.call import Call
from server.connection import ABORT
from server.errors import (
    IdempotencyMismatch,
    JobFailed,
    TooManyStreams,
    TooManySynchronous,
)
from server.jobs.errors import QueueFull
from tests.server.calls.caller import Client, Studio, streamed, whole
from tests.server.calls.conftest import MakeStudio
from tests.server.maker import PATIENCE_SECONDS, Maker

KEY = {"idempotency-key": "k"}


def rejected(studio: Studio) -> int:
    return studio.parts.queue.snapshot().rejected


def all_places(studio: Studio, there: ExitStack, free: int = 0) -> None:
    for _ in range(studio.parts.limits.synchronous.total - free):
        there.enter_context(studio.parts.limits.synchronous.slot())


def test_a_retry_finds_the_job_that_runs(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        await first.leave()
        retry = Client(studio, Maker(), attempt=1)
        assert await retry.accepted() == job_id
        assert (studio.pending, studio.timers.pending) == (1, [])
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await retry.end()
        assert retry.body == b"all of it"

    studio.run(test)


def test_a_retry_finds_a_job_that_takes_longer_than_calls_are_remembered(
    studio: Studio, maker: Maker
) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        studio.now += 3600
        await first.leave()
        studio.now += 600
        retry = Client(studio, Maker(), attempt=1)
        assert await retry.accepted() == job_id
        maker.finish()
        await retry.end()

    studio.run(test)


def test_a_retry_of_a_large_body_is_known_by_all_of_it(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker, body=bytes(200_000))
        maker.finish()
        await first.end()
        retry = Client(studio, Maker(), body=bytes(200_000), attempt=1)
        await retry.end()
        other_maker = Maker()
        other = Client(studio, other_maker, body=bytes(200_000) + b"x", attempt=1)
        other_maker.finish()
        await other.end()
        assert retry.job_id == first.job_id != other.job_id

    studio.run(test)


def test_a_retry_finds_the_result_of_a_job_that_is_done(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker, answer=streamed)
        await studio.call(lambda: maker.offer(b"all of it"))
        maker.finish()
        await first.end()
        retry = Client(studio, Maker(), attempt=2, answer=streamed)
        await retry.end()
        assert (retry.job_id, retry.body) == (first.job_id, b"all of it")
        assert studio.parts.queue.snapshot().completed == 1

    studio.run(test)


def test_a_retry_of_a_stream_gets_all_of_it_again(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker, answer=streamed)
        await studio.call(lambda: maker.offer(b"one"))
        await first.heard(b"one")
        await first.leave()
        retry = Client(studio, Maker(), attempt=1, answer=streamed)
        await retry.heard(b"one")
        await studio.call(lambda: maker.offer(b"two"))
        maker.finish()
        await retry.end()
        assert (retry.body, retry.job_id) == (b"onetwo", first.job_id)

    studio.run(test)


def test_a_retry_passes_a_full_queue_and_full_store(
    make_studio: MakeStudio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = make_studio(YUE2_QUEUE_LIMIT="1", YUE2_RESULT_MAX_FILES="1")

    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        await studio.call(lambda: maker.hold(b"all of it"))  # staged, so that the store is full too
        retry = Client(studio, Maker(), attempt=1)
        assert await retry.accepted() == job_id
        maker.finish()
        await first.end()
        await retry.end()
        assert (first.body, retry.body, rejected(studio)) == (b"all of it", b"all of it", 0)

    studio.run(test)


def test_a_retry_of_what_was_refused_is_refused_as_any_other(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(YUE2_QUEUE_LIMIT="1")

    async def test() -> None:
        first = Client(studio, maker)
        await first.accepted()
        for attempt in (0, 1):
            with pytest.raises(QueueFull):
                await Client(studio, Maker(), body=b"other", attempt=attempt).end()
        assert rejected(studio) == 2
        maker.finish()
        await first.end()
        later = Maker()
        third = Client(studio, later, body=b"other", attempt=2)
        later.finish()
        await third.end()
        assert third.job_id not in ("", first.job_id)

    studio.run(test)


async def done(studio: Studio, **sent: Any) -> Client:
    """A call whose job ends at once."""
    maker = Maker()
    maker.finish()
    client = Client(studio, maker, **sent)
    await client.end()
    return client


@pytest.mark.parametrize("where", ["places", "queue", "turn", "body"])
def test_the_retry_of_a_new_call_that_was_refused_makes_its_job(make_studio: MakeStudio, where: str) -> None:
    """Though an earlier call, answered long ago, has sent the same."""
    studio = make_studio(YUE2_QUEUE_LIMIT="1")

    async def refused(there: ExitStack) -> Client:
        if where == "places":
            all_places(studio, there)
        elif where == "turn":
            for _ in range(studio.parts.limits.preparations.total):
                there.enter_context(studio.parts.limits.preparations.slot())
        client = Client(studio, Maker())
        if where == "body":
            client.read_error = ClientDisconnect()
        elif where == "queue":
            client.reading = asyncio.Event()
            await client.started.wait()
            other = Maker()
            studio.parts.gate.admit(other.prepared(), "", "")
            client.reading.set()
            there.callback(other.finish)
        return client

    async def test() -> None:
        old = await done(studio)
        refusals = (TooManySynchronous, QueueFull, TooManyStreams, ClientDisconnect)
        with ExitStack() as there, pytest.raises(refusals):
            await (await refused(there)).end()
        while studio.pending:
            await studio.call(lambda: None)
        new = await done(studio, attempt=1)
        assert new.job_id not in ("", old.job_id)
        again = await done(studio, attempt=2)  # it had not got all of it
        assert again.job_id == new.job_id

    studio.run(test)


def test_what_was_refused_before_a_call_came_takes_no_retry_from_it(studio: Studio) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(TooManySynchronous):
                await Client(studio, Maker()).end()
        first = await done(studio)
        assert (await done(studio, attempt=1)).job_id == first.job_id

    studio.run(test)


def test_what_was_refused_of_another_length_takes_no_retry_from_a_call(studio: Studio) -> None:
    async def test() -> None:
        first = await done(studio, headers={"content-length": "10"})
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(TooManySynchronous):
                await Client(studio, Maker(), headers={"content-length": "11"}).end()
        assert (await done(studio, attempt=1, headers={"content-length": "10"})).job_id == first.job_id

    studio.run(test)


def test_a_retry_of_what_is_not_answered_is_one_of_it_whatever_was_refused(
    studio: Studio, maker: Maker
) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        await first.leave()
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(TooManySynchronous):
                await Client(studio, Maker()).end()
        retry = Client(studio, Maker(), attempt=1)
        assert await retry.accepted() == job_id
        maker.finish()
        await retry.end()

    studio.run(test)


def test_a_retry_that_may_be_anothers_takes_nobodys_place(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker)  # which waits
            await first.accepted()
            for attempt in (0, 1):  # the same asked anew, by someone whom there is no room for
                with pytest.raises(TooManySynchronous):
                    await Client(studio, Maker(), attempt=attempt).end()
            assert not first.task.done()
            maker.finish()
            await first.end()
            assert first.status == 200

    studio.run(test)


def test_after_a_refusal_the_retry_of_a_call_whose_job_failed_makes_its_own(
    studio: Studio, maker: Maker
) -> None:
    async def test() -> None:
        maker.fail(MemoryError())
        with pytest.raises(JobFailed):
            await Client(studio, maker).end()
        with ExitStack() as there:
            all_places(studio, there)
            with pytest.raises(TooManySynchronous):
                await Client(studio, Maker()).end()
        assert (await done(studio, attempt=1)).status == 200

    studio.run(test)


def test_a_first_attempt_that_its_retry_has_overtaken_finds_its_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        slow = Client(studio, Maker())
        slow.reading = asyncio.Event()
        await slow.started.wait()
        retry = Client(studio, maker, attempt=1)
        job_id = await retry.accepted()
        slow.reading.set()
        assert await slow.accepted() == job_id
        maker.finish()
        await retry.end()
        await slow.end()
        assert studio.parts.queue.snapshot().completed == 1

    studio.run(test)


@pytest.mark.parametrize(
    "other",
    [
        lambda studio, maker: Client(studio, maker, attempt=1, body=b"other"),
        lambda studio, maker: Client(studio, maker, attempt=1, query=b"output_format=pcm_48000"),
        lambda studio, maker: Client(studio, maker, attempt=1, path="/v1/music"),
        lambda studio, maker: Client(studio, maker, attempt=1, owner="else"),
    ],
    ids=["body", "query", "path", "owner"],
)
def test_a_retry_of_another_call_makes_its_own_job(
    studio: Studio, maker: Maker, other: Callable[[Studio, Maker], Client]
) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        await first.accepted()
        maker.finish()
        await first.end()
        second_maker = Maker()
        second = other(studio, second_maker)
        second_maker.finish()
        await second.end()
        assert second.job_id not in ("", first.job_id)

    studio.run(test)


def test_the_same_asked_anew_is_a_new_job_and_the_one_that_retries_find(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        maker.finish()
        await first.end()
        second_maker = Maker()
        second = Client(studio, second_maker)
        second_maker.finish()
        await second.end()
        retry = Client(studio, Maker(), attempt=1)
        await retry.end()
        assert second.job_id != first.job_id
        assert retry.job_id == second.job_id

    studio.run(test)


def test_the_same_asked_several_times_at_once_is_as_many_jobs(studio: Studio) -> None:
    async def test() -> None:
        clients = [Client(studio, Maker()) for _ in range(3)]
        for client in clients:
            await client.accepted()
        assert len({client.job_id for client in clients}) == studio.pending == 3
        for client in clients:
            client.maker.finish()
        for client in clients:
            await client.end()

    studio.run(test)


def test_after_fifteen_minutes_a_retry_is_none(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        maker.finish()
        await first.end()
        studio.now += 901.0
        late_maker = Maker()
        late = Client(studio, late_maker, attempt=1)
        late_maker.finish()
        await late.end()
        assert late.job_id != first.job_id

    studio.run(test)


def test_a_retry_of_what_was_deleted_makes_a_new_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        maker.finish()
        await first.end()
        await studio.call(lambda: studio.parts.book.delete(first.job_id, ""))
        again_maker = Maker()
        again = Client(studio, again_maker, attempt=1)
        again_maker.finish()
        await again.end()
        assert again.job_id != first.job_id

    studio.run(test)


def test_a_retry_of_a_failed_job_is_told_the_same(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        maker.fail(MemoryError())
        told: list[tuple[str, str, str]] = []
        for client in (first, Client(studio, Maker(), attempt=1)):
            with pytest.raises(JobFailed) as failed:
                await client.end()
            told.append((client.job_id, failed.value.code, str(failed.value)))
        assert told[0] == told[1]
        assert told[0][1] == "out_of_memory"

    studio.run(test)


def test_attempts_at_once_make_one_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        clients = [Client(studio, maker, attempt=attempt) for attempt in (1, 1, 2, 3)]
        ids = {await client.accepted() for client in clients}
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        for client in clients:
            await client.end()
        assert len(ids) == 1
        assert {client.body for client in clients} == {b"all of it"}
        assert studio.parts.queue.snapshot().completed == 1

    studio.run(test)


def test_a_retry_that_comes_while_the_first_attempt_is_checked_waits_for_its_job(
    studio: Studio, maker: Maker
) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        first.preparing.clear()
        await first.started.wait()
        await studio.call(first.in_preparation.wait)
        retry = Client(studio, Maker(), attempt=1)
        await retry.started.wait()
        assert studio.pending == 0
        first.preparing.set()
        assert await retry.accepted() == await first.accepted()
        maker.finish()
        await first.end()
        await retry.end()

    studio.run(test)


def test_where_the_first_attempt_goes_while_it_is_checked_the_retry_makes_the_job(
    studio: Studio, maker: Maker
) -> None:
    async def test() -> None:
        first = Client(studio, Maker())
        first.preparing.clear()
        await first.started.wait()
        await studio.call(first.in_preparation.wait)
        retry = Client(studio, maker, attempt=1)
        await retry.started.wait()
        first.gone.set()
        first.preparing.set()
        with pytest.raises(ClientDisconnect):
            await first.end()
        await retry.accepted()
        maker.finish()
        await retry.end()
        assert (first.job_id, studio.parts.queue.snapshot().completed) == ("", 1)

    studio.run(test)


def test_a_retry_takes_the_place_of_the_attempt_before_it(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker)  # whose going nobody has noticed
            job_id = await first.accepted()
            retry = Client(studio, Maker(), attempt=1)
            assert await retry.accepted() == job_id
            with pytest.raises(TooManySynchronous):
                await first.end()
            assert (rejected(studio), first.sent) == (0, [])
            maker.finish()
            await retry.end()
            assert retry.status == 200

    studio.run(test)


def test_an_attempt_that_was_being_sent_is_broken_off_for_its_retry(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker, answer=streamed)
            await studio.call(lambda: maker.offer(b"one"))
            await first.heard(b"one")
            retry = Client(studio, Maker(), attempt=1, answer=streamed)
            await retry.heard(b"one")
            with pytest.raises(TooManySynchronous):  # the edge ends the connection
                await first.end()
            maker.finish()
            await retry.end()
            assert (first.ended_properly, retry.ended_properly) == (False, True)

    studio.run(test)


@pytest.mark.parametrize("answer", [whole, streamed])
def test_an_attempt_whose_client_reads_nothing_is_ended_at_once_for_its_retry(
    studio: Studio, maker: Maker, answer: Callable[[Call], Awaitable[Response]]
) -> None:
    async def test() -> None:
        ended, sending = asyncio.Event(), asyncio.Event()

        async def stuck(message: Message) -> None:
            if message["type"] == "http.response.body":
                sending.set()
                await ended.wait()

        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker, answer=answer)
            first.on_send = stuck
            first.state[ABORT] = ended.set  # as the protocol ends a connection: what waits to be sent goes on
            await studio.call(lambda: maker.offer(bytes(3 << 20)))
            if answer is whole:
                maker.finish()
            await asyncio.wait_for(sending.wait(), PATIENCE_SECONDS)
            retry = Client(studio, Maker(), attempt=1, answer=answer)
            with pytest.raises(TooManySynchronous):
                await first.end()
            assert (ended.is_set(), first.ended_properly, len(first.body)) == (True, False, 1 << 20)
            if answer is streamed:
                maker.finish()
            await retry.end()
            assert len(retry.body) == 3 << 20

    studio.run(test)


def test_a_lost_place_ends_nothing_that_was_all_sent(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        let, sent = asyncio.Event(), asyncio.Event()

        async def answer(call: Call) -> Response:
            return Lingering(await call.result(), sent, let)

        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker, answer=answer)
            maker.finish()
            await asyncio.wait_for(sent.wait(), PATIENCE_SECONDS)
            retry = Client(studio, Maker(), attempt=1)
            await retry.end()
            let.set()
            await first.end()
            assert (first.ended_properly, retry.ended_properly) == (True, True)

    studio.run(test)


class Lingering(Response):
    """An answer that is all sent and stays a while."""

    def __init__(self, answer: Response, sent: asyncio.Event, let: asyncio.Event) -> None:
        super().__init__()
        self._answer, self._sent, self._let = answer, sent, let

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, and stay."""
        await self._answer(scope, receive, send)
        self._sent.set()
        await self._let.wait()


def test_a_retry_that_finds_no_place_keeps_its_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker)
        job_id = await first.accepted()
        await first.leave()
        before = studio.timers.pending[0]
        with ExitStack() as there:
            all_places(studio, there)
            retry = Client(studio, Maker(), attempt=1)
            with pytest.raises(TooManySynchronous):
                await retry.end()
        assert (retry.job_id, rejected(studio), len(studio.timers.pending)) == ("", 1, 1)
        assert studio.timers.pending[0] is not before  # its time begins anew
        again = Client(studio, Maker(), attempt=2)
        assert await again.accepted() == job_id
        maker.finish()
        await again.end()

    studio.run(test)


def test_a_known_key_finds_its_job_whatever_else_is_full(make_studio: MakeStudio, maker: Maker) -> None:
    studio = make_studio(YUE2_QUEUE_LIMIT="1")

    async def test() -> None:
        first = Client(studio, maker, headers=KEY)
        job_id = await first.accepted()
        again = Client(studio, Maker(), headers=KEY, attempt=1)
        assert await again.accepted() == job_id
        maker.finish()
        await first.end()
        await again.end()
        late = Client(studio, Maker(), headers=KEY)
        await late.end()
        assert (late.job_id, late.status, rejected(studio)) == (job_id, 200, 0)

    studio.run(test)


def test_first_attempts_with_one_key_at_once_make_one_job(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        clients = [Client(studio, maker, headers=KEY) for _ in range(3)]
        assert len({await client.accepted() for client in clients}) == studio.pending == 1
        maker.finish()
        for client in clients:
            await client.end()

    studio.run(test)


def test_a_retry_with_a_key_attends_its_job_while_it_is_being_checked(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker, headers=KEY)
        job_id = await first.accepted()
        await first.leave()
        retry = Client(studio, maker, headers=KEY, attempt=1)
        retry.preparing.clear()
        await studio.call(retry.in_preparation.wait)
        assert studio.timers.pending == []
        retry.preparing.set()
        assert await retry.accepted() == job_id
        maker.finish()
        await retry.end()

    studio.run(test)


def test_a_key_of_another_request_is_refused(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        first = Client(studio, maker, headers=KEY)
        await first.accepted()
        other = Client(studio, Maker(digest="other"), headers=KEY)
        with pytest.raises(IdempotencyMismatch):
            await other.end()
        assert (other.job_id, studio.pending) == ("", 1)
        maker.finish()
        await first.end()

    studio.run(test)


def test_a_malformed_key_is_refused_before_the_body_is_read(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker, headers={"idempotency-key": "two words"})
        with pytest.raises(InvalidRequest, match="Idempotency-Key"):
            await client.end()
        assert not client.read

    studio.run(test)


def test_a_key_of_a_job_that_was_not_synchronous_never_gives_it_up(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.parts.gate.admit(maker.prepared(), "", "k").job_id
        client = Client(studio, Maker(), headers=KEY)
        assert await client.accepted() == job_id
        await client.leave()
        assert studio.timers.pending == []
        maker.finish()
        await studio.ended(job_id)

    studio.run(test)


def test_a_retry_with_a_key_takes_the_place_of_the_attempt_before_it(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        with ExitStack() as there:
            all_places(studio, there, free=1)
            first = Client(studio, maker, headers=KEY)
            await first.accepted()
            with pytest.raises(TooManySynchronous):  # two at once that are no retries
                await Client(studio, Maker(), headers=KEY).end()
            retry = Client(studio, Maker(), headers=KEY, attempt=1)
            await retry.accepted()
            with pytest.raises(TooManySynchronous):
                await first.end()
            maker.finish()
            await retry.end()

    studio.run(test)
