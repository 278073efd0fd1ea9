"""Synchronous calls in memory: a server's parts on the test's loop, and clients that come, wait and go."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Scope

from server.calls.attendance import Attendance
from server.calls.call import Call, Surroundings
from server.calls.giving_up import giving_up
from server.calls.recent import RecentCalls
from server.calls.synchronous import Sent, SynchronousCalls
from server.parts import Parts
from server.responses import Chunks
from server.work import Prepared
from tests.server.maker import AUDIO, PATIENCE_SECONDS, Maker
from tests.server.recorded import Recorded

DEADLINE_SECONDS: Final = 30.0


class FakeTimers:
    """Timers that fire when the test says so."""

    def __init__(self) -> None:
        self.pending: list[FakeTimer] = []

    def later(self, seconds: float, call: Callable[[], None]) -> "FakeTimer":
        timer = FakeTimer(self, seconds, call)
        self.pending.append(timer)
        return timer

    def fire(self) -> None:
        """Let the time of all of them pass."""
        for timer in list(self.pending):
            timer.cancel()
            timer.call()


class FakeTimer:
    """One of them."""

    def __init__(self, timers: FakeTimers, seconds: float, call: Callable[[], None]) -> None:
        self._timers = timers
        self.seconds = seconds
        self.call = call

    def cancel(self) -> None:
        self._timers.pending.remove(self)


class Studio:
    """The parts of a server with its worker running, and the synchronous calls over them."""

    def __init__(self, parts: Parts, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self.parts = parts
        self.timers = FakeTimers()
        self.now = 1000.0
        self.recent = RecentCalls(lambda: self.now)
        give_up = giving_up(parts.book, parts.limits, self.recent)
        self.attendance = Attendance(give_up, self.timers.later)
        around = Surroundings(parts.book, parts.limits, self.attendance)
        self.calls = SynchronousCalls(parts.gate, parts.watch, self.recent, around, deadline_seconds)

    @property
    def pending(self) -> int:
        """Jobs that the queue holds."""
        return self.parts.queue.snapshot().pending

    async def call(self, deed: Callable[[], object]) -> None:
        """Do what blocks beside the loop."""
        await asyncio.get_running_loop().run_in_executor(None, deed)

    def status(self, job_id: str) -> str:
        """What the job's handle says."""
        return str(self.parts.book.describe(job_id, "")["status"])

    async def ended(self, job_id: str) -> None:
        """Wait until the job is no longer in the queue."""
        with self.parts.watch.subscribe(job_id) as changed:
            while self.parts.book.is_live(job_id, ""):
                await asyncio.wait_for(changed.wait(), PATIENCE_SECONDS)
                changed.clear()

    async def give_up(self) -> None:
        """Let the 20 seconds of every job pass for which nobody waits."""
        self.timers.fire()
        await asyncio.gather(*self.attendance._tasks)

    def run(self, test: Callable[[], Awaitable[None]]) -> None:
        """Run the test; afterwards every place is free and no timer is left."""

        async def bound() -> None:
            self.parts.watch.bind(asyncio.get_running_loop())
            try:
                await test()
            finally:
                await self.attendance.close()
                self.parts.watch.unbind()

        asyncio.run(bound())
        assert not any(self.parts.board.held().values())
        assert self.timers.pending == []


async def whole(call: Call) -> Response:
    """Answers with the stored result."""
    return await call.result()


async def streamed(call: Call) -> Response:
    """Answers with the result as it is made."""
    if await call.begun():
        return Chunks(call.slices(), {"Content-Type": AUDIO})
    return await call.result()


class Client(Recorded):
    """One attempt at a call."""

    def __init__(
        self,
        studio: Studio,
        maker: Maker,
        *,
        body: bytes = b"{}",
        attempt: int = 0,
        headers: Mapping[str, str] | None = None,
        path: str = "/v1/audio/speech",
        query: bytes = b"",
        owner: str = "",
        answer: Callable[[Call], Awaitable[Response]] = whole,
        upload: int = 0,
    ) -> None:
        super().__init__()
        self.gone = asyncio.Event()
        self.news = asyncio.Event()
        self.unheard = asyncio.Event()  # once nobody listens whether it goes
        self.on_send: Callable[[Message], Awaitable[None]] | None = None
        self.started = asyncio.Event()  # once its body is about to be read
        self.reading: asyncio.Event | None = None  # lets it be read
        self.read_error: Exception | None = None
        self.on_read: Callable[[ExitStack], object] = lambda held: None
        self.read = False
        self.in_preparation, self.preparing = threading.Event(), threading.Event()
        self.preparing.set()
        self.state: dict[str, object] = {"owner": owner}
        self.maker = maker
        self._body, self._answer, self._studio = body, answer, studio
        sent = {"x-stainless-retry-count": str(attempt), **(headers or {})}
        if upload:
            sent["content-length"] = str(upload)
        self._scope: Scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": query,
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "state": self.state,
        }
        self.task = asyncio.ensure_future(self._run(bool(upload)))

    async def _run(self, is_upload: bool) -> None:
        request = Request(self._scope, self._receive)
        response = await self._studio.calls.answer(request, 1000, self._read, is_upload=is_upload)
        await response(self._scope, self._receive, self._send)

    async def _read(self, held: ExitStack) -> Sent:
        self.started.set()
        if self.reading is not None:
            await self.reading.wait()
        if self.read_error is not None:
            raise self.read_error
        self.read = True
        self.on_read(held)
        return Sent((self._body,), self._prepare, self._answer)

    def _prepare(self) -> Prepared:
        self.in_preparation.set()
        assert self.preparing.wait(PATIENCE_SECONDS)
        return self.maker.prepared()

    async def _receive(self) -> Message:
        try:
            await self.gone.wait()
        finally:
            self.unheard.set()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
        self.news.set()
        if self.on_send is not None:
            await self.on_send(message)

    async def pause(self) -> None:
        """Let what listens see that the client has gone."""
        for _ in range(3):
            await asyncio.wait([asyncio.ensure_future(self.gone.wait())])

    @property
    def job_id(self) -> str:
        """The job that was accepted for it; empty while there is none."""
        return str(self.state.get("accepted_job", ""))

    async def accepted(self) -> str:
        """Wait until it has a job; its id."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (self.job_id or self.task.done()):
                await asyncio.wait([self.task], timeout=0.001)
        assert self.job_id
        return self.job_id

    async def heard(self, body: bytes) -> None:
        """Wait until exactly this has been sent."""
        while self.body != body:
            assert body.startswith(self.body)
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), PATIENCE_SECONDS)

    async def end(self) -> None:
        """Wait for the end; raises what the call raised."""
        await asyncio.wait_for(asyncio.shield(self.task), PATIENCE_SECONDS)

    async def leave(self) -> None:
        """Go, and wait until the server has seen it."""
        self.gone.set()
        await asyncio.wait([self.task], timeout=PATIENCE_SECONDS)
        assert self.task.done()
        self.task.exception()

    @property
    def ended_properly(self) -> bool:
        """Whether the body was ended as HTTP asks for."""
        return bool(self.sent) and not self.sent[-1].get("more_body", False) and len(self.sent) > 1
