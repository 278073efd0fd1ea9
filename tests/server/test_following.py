"""A result is sent while it is made: from its first byte, to a proper end or to none."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import pytest
from starlette.requests import Request
from starlette.types import Message, Scope

from server.envelopes import error_body
from server.errors import ClientStalled, JobFailed, TooManyDownloads, TooManyStreams
from server.following import FollowResponse, Tail, readable
from server.jobs.errors import JobCancelled
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.pinned_files import SLICE_BYTES
from server.responses import SEND_LIMIT_BYTES
from server.settings import load
from storage.errors import EntryExpired, NotStored
from storage.growth import Following, Reach
from tests.server.maker import AUDIO, PATIENCE_SECONDS, Maker
from tests.server.recorded import Recorded
from tests.storage.doubles import open_descriptors


class Follower(Recorded):
    """One request that follows a job, in memory; lets its test wait for what it is sent."""

    def __init__(self, parts: Parts, job_id: str, method: str = "GET", send_seconds: float = 5.0) -> None:
        super().__init__()
        self.gone = asyncio.Event()
        self.news = asyncio.Event()
        self.on_send: Callable[[Message], Awaitable[None]] | None = None
        scope = {"type": "http", "method": method, "path": "/job", "headers": [], "state": {"owner": ""}}
        response = FollowResponse(
            Request(scope), job_id, AUDIO, parts.book, parts.watch, parts.limits, send_seconds=send_seconds
        )
        self.scope = anyio.CancelScope()
        self.task = asyncio.ensure_future(self._answer(response, scope))

    async def _answer(self, response: FollowResponse, scope: Scope) -> None:
        with self.scope:
            await response(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
        self.news.set()
        if self.on_send is not None:
            await self.on_send(message)

    async def heard(self, body: bytes) -> None:
        """Wait until exactly this has been sent."""
        while self.body != body:
            assert body.startswith(self.body)
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), PATIENCE_SECONDS)

    async def end(self) -> None:
        """Wait for the end; raises what the response raised."""
        await asyncio.wait_for(self.task, PATIENCE_SECONDS)

    @property
    def ended_properly(self) -> bool:
        """Whether the body was ended as HTTP asks for."""
        return not self.sent[-1].get("more_body", False)


class Gated:
    """A call that another thread makes, held before it is done until the test lets it."""

    def __init__(self, call: Callable[..., None]) -> None:
        self._call = call
        self._reached, self._let = threading.Event(), threading.Event()

    def __call__(self, *arguments: object) -> None:
        self._reached.set()
        assert self._let.wait(PATIENCE_SECONDS)
        self._call(*arguments)

    def reach(self) -> None:
        """Wait until the call is made."""
        assert self._reached.wait(PATIENCE_SECONDS)

    def let(self) -> None:
        """Let it be done."""
        self._let.set()


class Studio:
    """The parts of a server with its worker running, bound to the test's loop."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def submit(self, maker: Maker) -> str:
        return self.parts.gate.admit(maker.prepared(), "", "").job_id

    async def call(self, deed: Callable[[], object]) -> None:
        """Do what blocks beside the loop."""
        await asyncio.get_running_loop().run_in_executor(None, deed)

    def run(self, test: Callable[[], Awaitable[None]]) -> None:
        async def bound() -> None:
            self.parts.watch.bind(asyncio.get_running_loop())
            try:
                await test()
            finally:
                self.parts.watch.unbind()

        asyncio.run(bound())
        limits = self.parts.limits
        assert (limits.waits.held, limits.followers.held, limits.downloads.held) == (0, 0, 0)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    parts.worker.start()
    before = open_descriptors()
    yield Studio(parts)
    parts.book.close()
    assert parts.worker.stop(PATIENCE_SECONDS)
    assert parts.store.audit() == []
    assert open_descriptors() <= before


@pytest.fixture
def maker() -> Maker:
    return Maker()


def test_each_piece_comes_as_it_is_offered_and_the_end_with_the_result(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        follower = Follower(studio.parts, job_id)
        await studio.call(lambda: maker.offer(b"one"))
        await follower.heard(b"one")
        await studio.call(lambda: maker.offer(b"two"))
        await follower.heard(b"onetwo")
        assert (studio.parts.limits.followers.held, studio.parts.limits.downloads.held) == (1, 0)
        assert not follower.ended_properly
        await studio.call(lambda: maker.hold(b"end"))
        ended: list[object] = []

        async def look(message: Message) -> None:
            if not message.get("more_body"):
                ended.append(studio.parts.book.describe(job_id, "")["status"])

        follower.on_send = look
        maker.finish()
        await follower.end()
        assert (follower.body, follower.ended_properly, ended) == (b"onetwoend", True, ["done"])
        assert follower.headers == {
            "content-type": AUDIO,
            "cache-control": "no-store",
            "x-accel-buffering": "no",
        }

    studio.run(test)


def test_many_follow_one_job_wherever_they_begin(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        followers = [Follower(studio.parts, job_id)]
        for text in (b"one", b"two", b"six"):
            await studio.call(partial(maker.offer, text))
            followers.append(Follower(studio.parts, job_id))
        maker.finish()
        for follower in followers:
            await follower.end()
        assert [follower.body for follower in followers] == [b"onetwosix"] * 4

    studio.run(test)


def test_a_job_that_waits_is_waited_for_on_a_place_for_waiting(studio: Studio, maker: Maker) -> None:
    first = Maker()

    async def test() -> None:
        studio.submit(first)
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: first.offer(b"first"))
        assert (studio.parts.limits.waits.held, studio.parts.limits.followers.held) == (1, 0)
        assert follower.sent == []
        first.finish()
        maker.finish()
        await follower.end()
        assert (follower.body, follower.ended_properly) == (b"", True)

    studio.run(test)


def test_a_result_that_is_there_already_is_sent_as_one(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        await studio.call(lambda: maker.hold(b"all of it"))
        maker.finish()
        await _ended(studio, job_id)
        follower = Follower(studio.parts, job_id)
        await follower.end()
        assert (follower.body, follower.headers["content-length"]) == (b"all of it", "9")
        assert follower.headers["accept-ranges"] == "bytes"

    studio.run(test)


async def _ended(studio: Studio, job_id: str) -> None:
    with studio.parts.watch.subscribe(job_id) as changed:
        while studio.parts.book.describe(job_id, "")["status"] in ("queued", "running"):
            await asyncio.wait_for(changed.wait(), PATIENCE_SECONDS)
            changed.clear()


def test_a_failure_before_the_first_byte_is_the_jobs_own(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: maker.hold(b"never heard"))
        maker.fail(MemoryError())
        with pytest.raises(JobFailed) as failed:
            await follower.end()
        status, _, body = error_body(failed.value)
        assert (status, body["code"], follower.sent) == (500, "out_of_memory", [])

    studio.run(test)


def test_a_failure_after_the_first_byte_leaves_the_body_without_an_end(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: maker.offer(b"one"))
        await follower.heard(b"one")
        maker.fail(RuntimeError("broken"))
        with pytest.raises(NotStored):
            await follower.end()
        assert (follower.body, follower.ended_properly) == (b"one", False)

    studio.run(test)


@pytest.mark.parametrize("text", [b"", b"one"])
def test_a_cancelled_job_is_not_ended_properly(studio: Studio, maker: Maker, text: bytes) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        follower = Follower(studio.parts, job_id)
        await studio.call(lambda: maker.offer(text))
        await follower.heard(text)
        studio.parts.book.cancel(job_id, "")
        maker.heed()
        with pytest.raises(NotStored if text else JobCancelled):
            await follower.end()

    studio.run(test)


def test_a_job_cancelled_while_it_waits_is_told(studio: Studio, maker: Maker) -> None:
    first = Maker()

    async def test() -> None:
        studio.submit(first)
        job_id = studio.submit(maker)
        follower = Follower(studio.parts, job_id)
        await studio.call(lambda: first.offer(b"first"))
        studio.parts.book.cancel(job_id, "")
        studio.parts.book.record_cancelled(job_id)
        with pytest.raises(JobCancelled):
            await follower.end()
        first.finish()

    studio.run(test)


def test_a_client_that_goes_gives_its_places_back(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        waiting, following = Follower(studio.parts, job_id), Follower(studio.parts, job_id)
        await studio.call(lambda: maker.hold(b""))
        assert studio.parts.limits.waits.held == 2
        waiting.gone.set()
        await waiting.end()
        await studio.call(lambda: maker.offer(b"one"))
        await following.heard(b"one")
        following.gone.set()
        await following.end()
        assert (waiting.sent, following.ended_properly) == ([], False)
        maker.finish()

    studio.run(test)


def test_where_all_places_are_taken_it_is_told_at_once(studio: Studio, maker: Maker) -> None:
    limits = studio.parts.limits

    async def test() -> None:
        job_id = studio.submit(maker)
        with ExitStack() as held:
            for _ in range(limits.waits.total):
                held.enter_context(limits.waits.slot())
            with pytest.raises(TooManyStreams):
                await Follower(studio.parts, job_id).end()
        with ExitStack() as held:
            for _ in range(limits.followers.total):
                held.enter_context(limits.followers.slot())
            follower = Follower(studio.parts, job_id)
            await studio.call(lambda: maker.offer(b"one"))
            with pytest.raises(TooManyStreams, match="All 16 places for those who follow a job"):
                await follower.end()
            assert follower.sent == []
        maker.finish()

    studio.run(test)


def test_followers_and_downloads_do_not_stand_in_each_others_way(studio: Studio, maker: Maker) -> None:
    limits = studio.parts.limits

    async def test() -> None:
        job_id = studio.submit(maker)
        with ExitStack() as held:
            for _ in range(limits.downloads.total):
                held.enter_context(limits.downloads.slot())
            follower = Follower(studio.parts, job_id)
            await studio.call(lambda: maker.offer(b"one"))
            await follower.heard(b"one")
            maker.finish()
            await follower.end()
            with pytest.raises(TooManyDownloads):  # what is finished is downloaded
                await Follower(studio.parts, job_id).end()

    studio.run(test)


def test_a_client_that_takes_nothing_is_given_up(studio: Studio, maker: Maker) -> None:
    async def stall(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker), send_seconds=0.01)
        follower.on_send = stall
        await studio.call(lambda: maker.offer(b"one"))
        with pytest.raises(ClientStalled):
            await follower.end()
        maker.finish()

    studio.run(test)


def test_a_large_slice_may_take_longer(studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[float] = []

    async def note(sending: Awaitable[None], seconds: float) -> None:
        allowed.append(seconds)
        await sending

    monkeypatch.setattr("server.responses.timely", note)

    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker), send_seconds=3.0)
        await studio.call(lambda: maker.offer(bytes(SLICE_BYTES)))
        maker.finish()
        await follower.end()
        assert allowed[0] == 3.0 * SLICE_BYTES / SEND_LIMIT_BYTES > 3.0

    studio.run(test)


def test_a_slow_client_reads_later_and_even_after_a_deletion(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        follower, go_on = Follower(studio.parts, job_id), asyncio.Event()

        async def wait(message: Message) -> None:
            await go_on.wait()

        follower.on_send = wait
        await studio.call(lambda: maker.offer(b"one"))
        await studio.call(lambda: maker.offer(b"two"))
        maker.finish()
        await _ended(studio, job_id)
        await studio.call(lambda: studio.parts.book.delete(job_id, ""))
        go_on.set()
        await follower.end()
        assert (follower.body, follower.ended_properly) == (b"onetwo", True)
        with pytest.raises(EntryExpired):
            await Follower(studio.parts, job_id).end()

    studio.run(test)


def test_head_describes_and_waits_for_nothing(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        follower = Follower(studio.parts, job_id, "HEAD")
        await follower.end()
        assert (follower.status, follower.body, follower.headers["content-type"]) == (200, b"", AUDIO)
        assert "content-length" not in follower.headers
        maker.fail(MemoryError())
        await _ended(studio, job_id)
        with pytest.raises(JobFailed):
            await Follower(studio.parts, job_id, "HEAD").end()

    studio.run(test)


def test_a_server_that_stops_gives_back_what_it_followed(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: maker.offer(b"one"))
        await follower.heard(b"one")
        follower.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await follower.end()
        maker.finish()

    studio.run(test)


def test_the_end_comes_when_whoever_asks_finds_the_job_done(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    settling = Gated(studio.parts.queue.settle)
    monkeypatch.setattr(studio.parts.queue, "settle", settling)

    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: maker.offer(b"one"))
        await follower.heard(b"one")
        await studio.call(lambda: maker.hold(b"end"))
        maker.finish()
        await follower.heard(b"oneend")  # stored by now, as only then the last is read
        assert not follower.ended_properly
        settling.let()
        await follower.end()
        assert follower.ended_properly

    studio.run(test)


def test_what_was_given_up_before_it_was_sent_is_told_as_the_jobs_error(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    settling = Gated(studio.parts.queue.settle)
    monkeypatch.setattr(studio.parts.queue, "settle", settling)

    async def test() -> None:
        job_id = studio.submit(maker)
        await studio.call(lambda: maker.hold(b""))
        follower = Follower(studio.parts, job_id)
        await studio.call(lambda: maker.hold(b""))
        assert studio.parts.limits.waits.held == 1
        maker.offer(b"one")  # on the loop, which wakes nobody until both have happened
        maker.fail(MemoryError())
        settling.reach()
        await studio.call(settling.reach)
        assert follower.sent == []
        settling.let()
        with pytest.raises(JobFailed) as failed:
            await follower.end()
        assert (failed.value.code, follower.sent) == ("out_of_memory", [])

    studio.run(test)


@pytest.mark.parametrize("way", ["end", "task", "scope"])
def test_its_file_is_closed_beside_the_loop_however_it_ends(
    studio: Studio, maker: Maker, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    threads: list[int] = []
    close = Following.close

    def note(following: Following) -> None:
        threads.append(threading.get_ident())
        close(following)

    monkeypatch.setattr(Following, "close", note)

    async def test() -> None:
        follower = Follower(studio.parts, studio.submit(maker))
        await studio.call(lambda: maker.offer(b"one"))
        await follower.heard(b"one")
        if way == "scope":
            follower.scope.cancel()
        if way == "task":
            follower.task.cancel()
        maker.finish()
        await asyncio.wait([follower.task], timeout=PATIENCE_SECONDS)
        assert len(threads) == 1
        assert threads[0] != threading.get_ident()

    studio.run(test)


def test_nothing_is_followed_of_what_has_not_begun(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        job_id = studio.submit(maker)
        tail = Tail(job_id, "", studio.parts.book, studio.parts.limits, asyncio.Event())
        with pytest.raises(NotStored, match="nothing to follow"):
            await anext(tail.slices())
        assert not tail.follows
        await tail.close()
        maker.finish()
        await _ended(studio, job_id)

    studio.run(test)


def test_what_can_be_read_is_what_was_offered_until_all_is_stored() -> None:
    assert readable(Reach(5, None, is_over=False)) == 5
