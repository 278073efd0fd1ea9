"""`/mcp`: the Model Context Protocol, of both eras, one JSON answer for each message.

The SDK reads and answers the messages. What it is spared is done here: whatever is no message, in words that help, and
whether the client is still there, which the SDK does not watch where it answers in JSON.
"""

import asyncio
import codecs
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Final

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from server.addresses import MCP_PATH
from server.agents.protocol import Context
from server.agents.visit import Visit
from server.bodies import INLINE_BYTES, check_json_type, parse_message, read_bounded
from server.errors import InvalidMessage, NotAcceptable
from server.limits import MAX_MCP_BYTES, MAX_MCP_VALUES, Limits
from server.responses import until_gone
from storage.entry import JSON

JSON_TYPE: Final = "application/json"
_TAKEN: Final = frozenset({"", "*/*", "application/*", JSON_TYPE})
_VISIT: Final = "agents_visit"


class McpRoutes:
    """The protocol's one address. `base_url` begins links; empty for the address by which each agent came.

    Owner of one lock: which message is being read.
    """

    def __init__(self, server: Server[object], limits: Limits, base_url: str) -> None:
        self._server = server
        self._limits = limits
        self._base_url = base_url
        self._turns = asyncio.Lock()

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route(MCP_PATH, self.message, methods=["POST"])]

    async def message(self, request: Request) -> Response:
        """One message. Raises NotAcceptable, UnsupportedMedia, BodyTooLarge, TooManyUploads, InvalidJson, InvalidMessage."""
        _check_accepted(request.headers)
        check_json_type(request.headers.get("content-type", ""))
        body = (await read_bounded(request, MAX_MCP_BYTES, self._limits)).removeprefix(codecs.BOM_UTF8)
        if len(body) > INLINE_BYTES:
            await self._limits.run(lambda: _check(body))
        else:
            _check(body)
        visit = Visit(request.state.owner, self._base_url or _origin(request), asyncio.Event())
        return _Exchange(self._server, body, visit, self._turns)


class _Exchange(Response):
    """Has the SDK answer one message, within the task that serves it: nothing of it outlives the answer.

    The SDK takes a millisecond or more to read one, so messages take turns: of many that come together each is read in
    a pass of its own of the event loop, and whoever asks for something else comes in between. A turn ends where the
    desk is reached or the answer begins, so that nobody's waiting or slow reading holds up others.
    """

    def __init__(self, server: Server[object], body: bytes, visit: Visit, turns: asyncio.Lock) -> None:
        super().__init__()
        self._server = server
        self._message = body
        self._visit = visit
        self._turns = turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"][_VISIT] = self._visit
        # One for each message: it has no sessions to remember, and so needs no place in the life of the server.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=MAX_MCP_BYTES
        )
        watching = asyncio.create_task(until_gone(receive))
        watching.add_done_callback(lambda _: self._visit.gone.set())
        try:
            async with self._turn(), manager.run():
                await manager.handle_request(_checked(scope), self._replayed(), self._answering(send))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and end it at the latest with the block."""
        await self._turns.acquire()
        with ExitStack() as turn:
            turn.callback(self._turns.release)
            self._visit.let_others = turn.close
            yield

    def _replayed(self) -> Receive:
        """The body once more, for whoever reads it next; after it, the client's end."""
        messages = [{"type": "http.request", "body": self._message, "more_body": False}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await self._visit.gone.wait()
            return {"type": "http.disconnect"}

        return receive

    def _answering(self, send: Send) -> Send:
        """Adds the headers that JSON-RPC has no place for."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._visit.let_others()
                headers = MutableHeaders(raw=list(message["headers"]))
                headers.setdefault("Cache-Control", "no-store")
                if self._visit.retry_after_seconds is not None:
                    headers["Retry-After"] = str(self._visit.retry_after_seconds)
                message = {**message, "headers": headers.raw}
            await send(message)

        return answer


def visit_of(context: Context) -> Visit:
    """The visit of the HTTP request that a message came by."""
    request = context.request
    if not isinstance(request, Request):
        raise TypeError("A tool was called without an HTTP request.")
    visit: Visit = request.scope["state"][_VISIT]
    return visit


def _check_accepted(headers: Headers) -> None:
    """Raise NotAcceptable where JSON is left out; an event stream may be asked for beside it, and is never sent."""
    accepted = headers.get("accept", "")
    if _TAKEN.isdisjoint(kind.partition(";")[0].strip().lower() for kind in accepted.split(",")):
        raise NotAcceptable(accepted, JSON_TYPE)


def _checked(scope: Scope) -> Scope:
    """The request with those headers as the SDK knows them that are checked here, and in more spellings."""
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"accept", b"content-type")]
    told = [(b"accept", b"application/json, text/event-stream"), (b"content-type", JSON_TYPE.encode())]
    return {**scope, "headers": [*kept, *told]}


def _check(body: bytes) -> None:
    """Raise InvalidJson or InvalidMessage for what is no message; its params are the SDK's to check."""
    message = parse_message(body, MAX_MCP_VALUES)
    if message.get("jsonrpc") != "2.0":
        raise InvalidMessage('its member "jsonrpc" has to be "2.0"')
    if "method" in message:
        _check_call(message)
    elif not {"result", "error"} & message.keys():
        raise InvalidMessage('it has no member "method"')


def _check_call(message: Mapping[str, JSON]) -> None:
    identity = message.get("id", 0)
    if not isinstance(message["method"], str):
        raise InvalidMessage('its member "method" has to be a string')
    if isinstance(identity, bool) or not isinstance(identity, int | str):
        raise InvalidMessage('its member "id" has to be a string or a whole number')
    if not isinstance(message.get("params", {}), dict):
        raise InvalidMessage('its member "params" has to be an object')


def _origin(request: Request) -> str:
    """Scheme and host by which the client came; a proxy that ends TLS says so."""
    told = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip()
    is_secure = (told or request.url.scheme) == "https"
    return f"{'https' if is_secure else 'http'}://{request.headers['host']}"
