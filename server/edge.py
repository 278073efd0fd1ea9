"""The outermost ASGI layer: who is asking, may they, and how every failure is answered.

Order of refusal: host, origin, key, size by header; then the application.
"""

import logging
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.access import HostRule, Keys, OriginRule, PublicPaths
from server.bodies import check_declared_size, declared_size
from server.connection import ABORT, ACCEPTED_JOB
from server.envelopes import JOB_HEADER, KEEP_FROM_RETRYING, error_body
from server.errors import INTERNAL_CODE, ClientStalled, MethodNotAllowed, UnknownRoute, answer_for
from server.jobs.containment import Contained, outline
from server.limits import MAX_BODY_BYTES
from server.log_ring import request_id
from server.responses import json_response

LOG: Final = logging.getLogger("server.edge")
MAX_LOGGED_PATH: Final = 200
MAX_DRAINED_BYTES: Final = 64 * 1024
EXPOSED: Final = (
    "ETag",
    "Content-Range",
    "Accept-Ranges",
    "Content-Disposition",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-Id",
    "Idempotent-Replay",
    "X-Yue2-Job-Id",
    "X-Should-Retry",
    "Song-Id",
)
SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
CLIENT_GONE_STATUS: Final = 499
_EXCHANGE: Final = "server.exchange"
_HANDLE: Final = re.compile(r"(/artifacts/.{6}).*|([0-9a-f]{6})[0-9a-f]{10}")
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Admittance:
    """The rules a request has to pass."""

    hosts: HostRule
    origins: OriginRule
    keys: Keys
    public: PublicPaths


@dataclass(slots=True)
class Exchange:
    """One request and what has been answered so far; owned by the task that serves it.

    `state` is the request's own, where whoever accepts its job leaves the job's id.
    """

    id: str
    send: Send
    headers: Mapping[str, str]
    state: Mapping[str, object]
    status: int = 0
    sent_bytes: int = 0

    @property
    def job_id(self) -> str:
        """The job that was accepted for the request; empty while there is none."""
        return str(self.state.get(ACCEPTED_JOB, ""))

    async def forward(self, message: Message) -> None:
        """Pass a message of the application on, with the headers that every response has."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            for name, value in self.headers.items():
                headers.setdefault(name, value)
            headers["X-Request-Id"] = self.id
            self.status = message["status"]
            if self.job_id:
                headers[JOB_HEADER] = self.job_id
                # Its job goes on or has failed: another try of the client's would be another job.
                headers.update(KEEP_FROM_RETRYING if self.status >= 400 else {})
            message["headers"] = headers.raw
        elif message["type"] == "http.response.body":
            self.sent_bytes += len(message.get("body", b""))
        await self.send(message)


class Edge:
    """Wraps the application. Holds no state of its own.

    Every request gets an id, its own if it brought a fitting one, which is in the response, in error texts and in
    each line logged for it. The request's `state.owner` is the caller's name. A line per request is logged, without
    the query, which holds job ids; for `quiet` paths only at debug level while all goes well.
    """

    def __init__(
        self,
        app: ASGIApp,
        admittance: Admittance,
        draw_id: Callable[[], str],
        quiet: Collection[str] = (),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._admittance = admittance
        self._draw_id = draw_id
        self._quiet = frozenset(quiet)
        self._monotonic = monotonic
        listed = admittance.origins.listed
        sharing = "cross-origin" if listed else "same-origin"
        self._headers = {**SECURITY_HEADERS, "Cross-Origin-Resource-Policy": sharing}
        self._inner = _with_cors(self._serve, listed) if listed else self._serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI call; WebSockets are turned away."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = self._monotonic()
        headers = Headers(scope=scope)
        exchange = Exchange(self._id(headers), send, self._headers, scope.setdefault("state", {}))
        token = request_id.set(exchange.id)
        try:
            await self._admit(scope, headers, exchange, receive)
        finally:
            self._log(scope, exchange, self._monotonic() - began)
            request_id.reset(token)

    def _id(self, headers: Headers) -> str:
        sent = headers.get("x-request-id", "")
        return sent if _REQUEST_ID.fullmatch(sent) else self._draw_id()

    async def _admit(self, scope: Scope, headers: Headers, exchange: Exchange, receive: Receive) -> None:
        """Check host and origin; who fails here gets no headers for other origins."""
        scope[_EXCHANGE] = exchange
        # Starlette's router raises for an unknown route, instead of answering in plain text, where it sees an app.
        scope.setdefault("app", self)
        scope["state"].update(owner="", request_id=exchange.id)
        with Contained() as block:
            hosts = headers.getlist("host")
            self._admittance.hosts.check(hosts)
            fetched = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
            self._admittance.origins.check(headers.getlist("origin"), hosts[0], *fetched)
        if block.error is None:
            await self._inner(scope, receive, exchange.forward)
        else:
            await _settle(block.error, scope, exchange, receive, exchange.forward)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check key and size, then let the application answer; answer in its place where it fails."""
        with Contained() as block:
            self._check(scope)
            await self._app(scope, receive, send)
        if block.error is not None:
            await _settle(block.error, scope, scope[_EXCHANGE], receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if scope["path"] not in self._admittance.public:
            scope["state"]["owner"] = self._admittance.keys.owner(headers)
        check_declared_size(headers, MAX_BODY_BYTES)

    def _log(self, scope: Scope, exchange: Exchange, seconds: float) -> None:
        well = 0 < exchange.status < 400
        level = logging.DEBUG if well and scope["path"] in self._quiet else logging.INFO
        LOG.log(
            level,
            "%s %s %d in %.1f ms, %d bytes",
            scope["method"],
            logged_path(scope),
            exchange.status or CLIENT_GONE_STATUS,
            seconds * 1000,
            exchange.sent_bytes,
        )


def _with_cors(app: ASGIApp, origins: Collection[str]) -> ASGIApp:
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=("*",), allow_headers=("*",), expose_headers=EXPOSED
    )


async def _settle(
    error: BaseException, scope: Scope, exchange: Exchange, receive: Receive, send: Send
) -> None:
    """Answer for an error if an answer is still possible, end the connection if not; a client that left is neither."""
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, ClientDisconnect):
        return
    known = _translated(error, scope)
    if answer_for(known).code == INTERNAL_CODE and not isinstance(known, ClientStalled):
        LOG.error("%s %s failed: %s", scope["method"], logged_path(scope), outline(known))
    elif isinstance(known, MemoryError):
        LOG.error("%s %s failed: memory did not suffice.", scope["method"], logged_path(scope))
    if exchange.status == 0:
        status, headers, body = error_body(known, exchange.id, scope["path"], exchange.job_id)
        if _has_long_body(Headers(scope=scope)):
            headers["Connection"] = "close"  # so that what still comes is not read to its end
        await json_response(body, status, headers)(scope, receive, send)
    else:
        LOG.info("The response was cut short: %s", type(known).__name__)
        scope["state"].get(ABORT, _nothing)()


def logged_path(scope: Scope) -> str:
    """A request's path for the log: percent-encoded, so that it cannot forge a line, and without whole job ids and links."""
    return _HANDLE.sub(r"\1\2…", quote(scope["path"][:MAX_LOGGED_PATH]))


def _has_long_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or declared_size(headers) > MAX_DRAINED_BYTES


def _translated(error: Exception, scope: Scope) -> Exception:
    """Starlette's words for a missing route or method in ours."""
    if isinstance(error, HTTPException) and error.status_code == 404:
        return UnknownRoute(scope["path"])
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        methods = [name.strip() for name in allowed.split(",") if name.strip()]
        return MethodNotAllowed(scope["method"], methods, scope["path"])
    return error


def _nothing() -> None:
    """End nothing: the server underneath has no way to."""
