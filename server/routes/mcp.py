"""`/mcp`: the Model Context Protocol, of both eras, one JSON answer for each message.

The SDK reads and answers the messages. What it is spared is done here: bounds on the body, and whether the client is
still there, which the SDK does not watch where it answers in JSON.
"""

import asyncio
import json
from typing import Final

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import PARSE_ERROR
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from server.agents.protocol import Context
from server.agents.visit import Visit
from server.bodies import INLINE_BYTES, parse_object, read_bounded
from server.errors import InvalidJson
from server.limits import MAX_MCP_BYTES, Limits
from server.responses import until_gone

MCP_PATH: Final = "/mcp"
_VISIT: Final = "agents_visit"


class McpRoutes:
    """The protocol's one address. `base_url` begins links; empty for the address by which each agent came."""

    def __init__(self, server: Server[object], limits: Limits, base_url: str) -> None:
        self._server = server
        self._limits = limits
        self._base_url = base_url

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route(MCP_PATH, self.message, methods=["POST"])]

    async def message(self, request: Request) -> Response:
        """One message. Raises BodyTooLarge, TooManyUploads."""
        body = await read_bounded(request, MAX_MCP_BYTES, self._limits)
        try:
            if len(body) > INLINE_BYTES:
                await self._limits.run(lambda: parse_object(body))
            else:
                parse_object(body)
        except InvalidJson as error:
            return _no_message(error)
        visit = Visit(request.state.owner, self._base_url or _origin(request), asyncio.Event())
        return _Exchange(self._server, body, visit)


class _Exchange(Response):
    """Has the SDK answer one message, within the task that serves it: nothing of it outlives the answer."""

    def __init__(self, server: Server[object], body: bytes, visit: Visit) -> None:
        super().__init__()
        self._server = server
        self._message = body
        self._visit = visit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"][_VISIT] = self._visit
        # One for each message: it has no sessions to remember, and so needs no place in the life of the server.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=MAX_MCP_BYTES
        )
        watching = asyncio.create_task(until_gone(receive))
        watching.add_done_callback(lambda _: self._visit.gone.set())
        try:
            async with manager.run():
                await manager.handle_request(scope, self._replayed(), self._answering(send))
        finally:
            watching.cancel()

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
        """Adds the header that JSON-RPC has no place for."""

        async def answer(message: Message) -> None:
            seconds = self._visit.retry_after_seconds
            if message["type"] == "http.response.start" and seconds is not None:
                headers = MutableHeaders(raw=list(message["headers"]))
                headers["Retry-After"] = str(seconds)
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


def _origin(request: Request) -> str:
    """Scheme and host by which the client came; a proxy that ends TLS says so."""
    scheme = request.headers.get("x-forwarded-proto", "") or request.url.scheme
    return f"{'https' if scheme == 'https' else 'http'}://{request.headers['host']}"


def _no_message(error: InvalidJson) -> Response:
    answer = {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": str(error)}}
    return Response(json.dumps(answer), 400, media_type="application/json")
