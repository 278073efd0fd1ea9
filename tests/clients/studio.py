"""The product behind a real uvicorn on a port of its own, and a witness of what reaches it."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.catalogue import Catalogue
from server.admission import Admitted, Gate
from server.app import build_app
from server.calls.attendance import Attendance, Later, on_the_loop
from server.calls.giving_up import giving_up
from server.connection import DEFAULT_TIMEOUTS
from server.jobs.serial_queue import SerialQueue
from server.limits import AGENTS_GROUP
from server.log_ring import LogRing
from server.parts import Parts, assemble, draw_job_id
from server.process import StudioServer
from server.protocol import protocol_class
from server.serve import product_routes
from server.settings import load
from server.starting import bind
from server.work import Prepared
from storage.store import ResultStore
from tests.clients.held import PATIENCE_SECONDS, Pause


@dataclass
class Exchange:
    """One request as the server met it; `body` is what of it was read, `status` 0 until an answer has begun."""

    method: str
    path: str
    headers: dict[str, str]
    began: float = field(default_factory=time.monotonic)
    body: bytes = b""
    status: int = 0
    ended: bool = False

    @property
    def attempt(self) -> str:
        """What the client says of its attempts before this one."""
        return self.headers.get("x-stainless-retry-count", "")


class Witness:
    """Passes everything on to `app` and remembers it. Owner of the list of exchanges, under one condition."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._changed = threading.Condition()
        self._exchanges: list[Exchange] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, and note the beginning, the status and the end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        exchange = Exchange(scope["method"], scope["path"], headers)
        with self._changed:
            self._exchanges.append(exchange)
            self._changed.notify_all()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(exchange, status=int(message["status"]))
            await send(message)

        async def read() -> Message:
            message = await receive()
            self._note(exchange, body=message.get("body", b""))
            return message

        try:
            await self._app(scope, read, watched)
        finally:
            self._note(exchange, ended=True)

    def _note(self, exchange: Exchange, *, body: bytes = b"", status: int = 0, ended: bool = False) -> None:
        with self._changed:
            exchange.body += body
            exchange.status = exchange.status or status
            exchange.ended = exchange.ended or ended
            self._changed.notify_all()

    def posts(self, path: str) -> list[Exchange]:
        """What was posted to a path so far."""
        with self._changed:
            return [item for item in self._exchanges if (item.method, item.path) == ("POST", path)]

    def wait(self, path: str, condition: Callable[[list[Exchange]], bool]) -> list[Exchange]:
        """The posts to a path once they are as asked."""
        with self._changed:
            met = self._changed.wait_for(lambda: condition(self._posts(path)), PATIENCE_SECONDS)
            assert met, f"waited in vain; so far: {self._exchanges}"
            return self._posts(path)

    def _posts(self, path: str) -> list[Exchange]:
        return [item for item in self._exchanges if (item.method, item.path) == ("POST", path)]


@dataclass(eq=False)
class SetTimer:
    """A call to come, after `seconds` if nobody takes it back; on its loop when the test says so."""

    seconds: float
    call: Callable[[], None]
    loop: asyncio.AbstractEventLoop
    taken_back: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Take it back."""
        self.taken_back.set()

    def elapse(self) -> None:
        """Let its time pass; returns once the call was made and what it began has taken its first step."""
        made = threading.Event()

        def pass_by() -> None:
            self.call()
            self.loop.call_soon(made.set)

        self.loop.call_soon_threadsafe(pass_by)
        assert made.wait(PATIENCE_SECONDS)


class Timers:
    """Time that passes only when a test says so. Owner of the timers that were set."""

    def __init__(self) -> None:
        self.set: queue.Queue[SetTimer] = queue.Queue()

    def later(self, seconds: float, call: Callable[[], None]) -> SetTimer:
        """Set a timer."""
        timer = SetTimer(seconds, call, asyncio.get_running_loop())
        self.set.put(timer)
        return timer


class WatchedGate(Gate):
    """The product's gate, which counts what it lets in and can be held before it does, and after.

    Owner of the list of accepted jobs, under one condition.
    """

    pause: Pause | None = None
    pause_after: Pause | None = None

    def __init__(
        self, queue: SerialQueue, store: ResultStore, clock: Callable[[], float], group: str = ""
    ) -> None:
        super().__init__(queue, store, clock, draw_job_id, group)
        self._changed = threading.Condition()
        self.accepted: list[str] = []

    def admit(self, prepared: Prepared, owner: str, key: str) -> Admitted:
        """As the gate does."""
        if self.pause is not None:
            self.pause()
        admitted = super().admit(prepared, owner, key)
        if admitted.queued is not None:
            with self._changed:
                self.accepted.append(admitted.job_id)
                self._changed.notify_all()
        if self.pause_after is not None:
            self.pause_after()
        return admitted

    def wait_for(self, number: int) -> str:
        """The id of the job of that number, from 1, once it is accepted."""
        with self._changed:
            met = self._changed.wait_for(lambda: len(self.accepted) >= number, PATIENCE_SECONDS)
            assert met, f"{len(self.accepted)} of {number} jobs were accepted"
            return self.accepted[number - 1]


class Studio:
    """A running server: where it is, what it has seen, and its native API."""

    def __init__(
        self, port: int, parts: Parts, gate: WatchedGate, agent_gate: WatchedGate, witness: Witness
    ) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.parts = parts
        self.gate = gate
        self.agent_gate = agent_gate
        self.witness = witness
        self.native = httpx2.Client(base_url=self.url, timeout=60, trust_env=False)

    @property
    def jobs(self) -> int:
        """Jobs accepted since the start; what the gates have counted is what the queue has had."""
        now = self.parts.queue.snapshot()
        had = now.pending + now.completed + now.failed + now.cancelled
        assert had == len(self.gate.accepted) + len(self.agent_gate.accepted)
        return had

    def speak(self, text: str) -> str:
        """Queue a job through the native API; its id."""
        answer = self.native.post("/speech", json={"text": text})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def job(self, job_id: str, wait: int = 0) -> dict[str, Any]:
        """A job by its id."""
        params = {"id": job_id} | ({"wait": str(wait)} if wait else {})
        return dict(self.native.get("/job", params=params).json())

    def finish(self, job_id: str) -> dict[str, Any]:
        """The job at its end."""
        return self.job(job_id, wait=45)

    def result(self, job_id: str) -> bytes:
        """What a job made."""
        return self._read({"id": job_id, "result": 1})

    def track(self, job_id: str) -> bytes:
        """The first track of a song."""
        return self._read({"id": job_id, "track": 0})

    def _read(self, query: dict[str, str | int]) -> bytes:
        answer = self.native.get("/job", params=query)
        assert answer.status_code == 200, answer.text
        return answer.content


@contextmanager
def serving(
    folder: Path,
    catalogue: Catalogue,
    environ: Mapping[str, str] | None = None,
    later: Later = on_the_loop,
    clock: Callable[[], float] = time.time,
) -> Iterator[Studio]:
    """Serve these models until the block is left; `later` is the clock of calls that nobody waits for."""
    settings = load({"YUE2_RESULT_DIR": str(folder / "jobs"), **(environ or {})})
    parts = assemble(settings, LogRing(), clock, unload=catalogue.unload)
    gate = WatchedGate(parts.queue, parts.store, clock)
    agent_gate = WatchedGate(parts.queue, parts.artifacts, clock, AGENTS_GROUP)
    attendance = Attendance(giving_up(parts.book, parts.limits, parts.recent), later)
    parts = replace(parts, gate=gate, agent_gate=agent_gate, attendance=attendance)
    witness = Witness(build_app(parts, product_routes(parts, catalogue)))
    bound = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        witness,
        http=protocol_class(DEFAULT_TIMEOUTS),
        loop="auto",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = StudioServer(config, parts)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    studio = Studio(bound.getsockname()[1], parts, gate, agent_gate, witness)
    try:
        yield studio
    finally:
        studio.native.close()
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        bound.close()
        assert not thread.is_alive()
