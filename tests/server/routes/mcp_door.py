"""The route `/mcp` behind the edge, with a desk of the test's own behind the route."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from starlette.types import Message as Event

from server.agents.answer import Link, ToolAnswer
from server.agents.errors import UnknownTool
from server.agents.protocol import build_mcp_server, calling, listed_tools
from server.agents.visit import Visit
from server.app import build_app
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.routes.mcp import McpRoutes, visit_of
from server.settings import load
from storage.entry import JSON
from tests.agents.wire import Message

SECRET: Final = "xylophonically"
FULL: Final = ToolAnswer({"code": "queue_full"}, "Full.", is_refused=True, retry_after_seconds=5)
LINK: Final = Link("http://studio.test/a/b.mp3", "b.mp3", "audio/mpeg", 3, "It.")


class Desk:
    """Answers by the tool's name. Owner of what it was asked, and of where a call is held."""

    def __init__(self) -> None:
        self.visits: list[Visit] = []
        self.asked: list[Mapping[str, JSON]] = []
        self.began = asyncio.Event()
        self.let_go = asyncio.Event()
        self.cancelled = 0

    async def call(self, name: str, arguments: Mapping[str, JSON], visit: Visit) -> ToolAnswer:
        self.visits.append(visit)
        self.asked.append(arguments)
        if name == "create_song":
            return FULL
        if name == "job_status":
            await self._waited(visit)
        if name == "cancel_job":
            raise RuntimeError(SECRET)
        if name == "make_coffee":
            raise UnknownTool(name)
        return ToolAnswer({"done": True}, "Done.", (LINK,))

    async def _waited(self, visit: Visit) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (visit.gone, self.let_go)]
        self.began.set()
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


class Door:
    """The route behind the edge, the desk behind the route."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.desk = Desk()
        told = {f"YUE2_{name.upper()}": value for name, value in environ.items()}
        self.parts: Parts = assemble(load({"YUE2_RESULT_DIR": str(folder / "jobs"), **told}), LogRing())
        self.server: Server[object] = build_mcp_server(calling(self.desk, visit_of), "1.2.3", listed_tools())
        routes = McpRoutes(self.server, self.parts.limits, self.parts.settings.public_url)
        self.app: ASGIApp = build_app(self.parts, routes.routes())
        self.client = TestClient(self.app, base_url="http://127.0.0.1")

    def post(self, sent: Message, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> Any:
        """The whole answer."""
        told = {**sent.headers, **(headers or {})}
        return self.client.post("/mcp", content=sent.content if body is None else body, headers=told)

    async def ask(
        self,
        sent: Message,
        events: Sequence[Event],
        gone: asyncio.Event,
        reading: asyncio.Event | None = None,
    ) -> list[Event]:
        """What the application sends where the client's events are these and then, once that is set, its going.

        The client reads nothing until `reading` is set, where there is one.
        """
        coming, told = list(events), []

        async def receive() -> Event:
            if coming:
                return coming.pop(0)
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(event: Event) -> None:
            if reading is not None:
                await reading.wait()
            told.append(event)

        headers = {"host": "127.0.0.1", **sent.headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "scheme": "http",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "state": {},
        }
        await self.app(scope, receive, send)
        return told


def whole(sent: Message) -> list[Event]:
    """A body that comes in one piece."""
    return [{"type": "http.request", "body": sent.content, "more_body": False}]


def error_of(answer: Any) -> dict[str, Any]:
    """The error of a message."""
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert (told["jsonrpc"], "result" in told) == ("2.0", False)
    return dict(told["error"])
