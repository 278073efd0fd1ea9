"""One server, called for agents: its tools, its door for recordings, and its links."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
)
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from server.client.answers import Submission, read_submission, retry_after
from server.client.backoff import reconnect_delay
from server.client.connection import (
    CONNECT_SECONDS,
    LOOPBACK,
    TRANSFER_SECONDS,
    authorization,
    checked_address,
)
from server.client.download import Download, changed
from server.client.errors import BadAnswer, ResultChanged
from server.commands.bridge_errors import (
    BridgeRefusal,
    elsewhere,
    interrupted,
    moved,
    other_version,
    unauthorized,
    unreachable,
)
from server.limits import MAX_WAIT_SECONDS
from storage.entry import JSON

ANSWER_SECONDS: Final = MAX_WAIT_SECONDS + TRANSFER_SECONDS
BRIDGED_SECONDS: Final = 30.0  # a download without a byte
_MCP_PATH: Final = "/mcp"
_UNKNOWN_THERE: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION})
_CUT_OFF: Final = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})
_AWAY: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
_NO_MCP: Final = frozenset({"unknown_route", "method_not_allowed"})


class StudioCalls:
    """Owner of the connections to one server; for one event loop. Every method raises BridgeRefusal.

    Each call is one request that stands for itself, so a server may be restarted between any two.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        release: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        patience_seconds: float = BRIDGED_SECONDS,
    ) -> None:
        """Raises BadAddress."""
        self.address = base_url.rstrip("/")
        self._release = release
        self._is_keyed = bool(key)
        self._clock = clock
        self._sleep = sleep
        self._patience_seconds = patience_seconds
        url = checked_address(self.address)
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers=authorization(key),
            timeout=httpx2.Timeout(TRANSFER_SECONDS, connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
            event_hooks={"response": [self._check]},
            transport=transport,
            trust_env=url.host not in LOOPBACK,  # a proxy does not know our loopback
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(self, tool: str, arguments: Mapping[str, JSON]) -> CallToolResult:
        """What the server's tool answers, refused or not."""
        # The session's own call_tool would list the tools first, to check answers against schemas that we do not declare.
        asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        transport = streamable_http_client(f"{self.address}{_MCP_PATH}", http_client=self._http)
        client = Client(
            transport,
            mode=LATEST_MODERN_VERSION,  # known beforehand, so nothing is negotiated
            cache=None,
            client_info=Implementation(name="yue2-studio mcp", version=self._release),
            read_timeout_seconds=ANSWER_SECONDS,
        )
        causes: list[Exception] = []
        try:
            async with client:
                return await client.session.send_request(asked, CallToolResult)
        except* (BridgeRefusal, httpx2.HTTPError, MCPError, ValidationError) as group:
            causes += _leaves(group)
        raise self._refusal_of(causes) from causes[0]

    async def upload(self, options: Mapping[str, str], key: str, recording: bytes) -> Submission:
        """Queue the writing down of a recording; the key is its Idempotency-Key, if there is one."""
        headers = {"Content-Type": "application/octet-stream"} | ({"Idempotency-Key": key} if key else {})
        try:
            response = await self._http.post(
                f"{_MCP_PATH}/transcribe", params=options, content=recording, headers=headers
            )
            return read_submission(response, key)
        except httpx2.TransportError as error:
            raise self._broken(error) from error
        except BadAnswer as error:
            raise elsewhere(self.address, "its answer names no job") from error

    async def download(self, path: str, size: int, download: Download) -> None:
        """Have a file of this size come, from where a broken connection left off. Raises OSError of the sink too."""
        heard, failures = self._clock(), 0
        while not download.complete:
            received = download.received
            refusal = await self._fetched(path, size, download)
            if refusal is None:
                continue
            if download.received > received:
                heard, failures = self._clock(), 0
            failures += 1
            seconds = max(refusal.retry_after_seconds or 0.0, reconnect_delay(failures, 0.0))
            if self._clock() + seconds - heard > self._patience_seconds:
                raise refusal
            await self._sleep(seconds)

    async def _fetched(self, path: str, size: int, download: Download) -> BridgeRefusal | None:
        """Absorb one answer; why it may help to ask again, if it did not bring everything."""
        try:
            async with self._http.stream("GET", path, headers=download.headers()) as response:
                if changed(response):
                    raise ResultChanged("The file is not the one whose download began.")
                download.begin(response)
                if download.total != size:
                    raise elsewhere(self.address, "a file came that is not as long as was told")
                async for chunk in response.aiter_raw():
                    await anyio.to_thread.run_sync(download.take, chunk)
        except httpx2.TransportError as error:
            return self._broken(error)
        except ResultChanged as error:
            raise BridgeRefusal(
                "result_changed", f"{error} Nothing was saved; call the tool again."
            ) from error
        except BridgeRefusal as refusal:
            if refusal.retry_after_seconds is None:
                raise
            return refusal
        return None

    async def _check(self, response: httpx2.Response) -> None:
        """Raise what an answer stands for that says by its status that it is no result."""
        if response.is_success or changed(response):
            return
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise unauthorized(self.address, is_keyed=self._is_keyed)
        if response.has_redirect_location:
            raise moved(self.address, response.headers["location"])
        told = await _json_object(response)
        if "jsonrpc" not in told:
            raise self._declined(response, told)
        error = told.get("error")
        raise self._protocols(response, error if isinstance(error, dict) else {})

    def _protocols(self, response: httpx2.Response, error: Mapping[str, JSON]) -> BridgeRefusal:
        """The refusal in an error answer of JSON-RPC's shape, whose `data` are the HTTP API's facts where it is ours."""
        facts, code = error.get("data"), error.get("code")
        if isinstance(facts, dict) and "code" in facts:
            return self._declined(response, {**facts, "error": error.get("message")})
        return self._of_protocol(code if isinstance(code, int) else 0)

    def _declined(self, response: httpx2.Response, told: dict[str, JSON]) -> BridgeRefusal:
        """The refusal in an error answer of the HTTP API's shape, or of somebody else's."""
        message, code = told.pop("error", None), told.pop("code", None)
        if not isinstance(message, str) or not isinstance(code, str):
            if response.status_code in _AWAY:
                return unreachable(self.address)
            return elsewhere(
                self.address, f"it answers {response.status_code} {response.reason_phrase}".strip()
            )
        if code in _NO_MCP:
            return other_version(self.address, self._release)
        if seconds := retry_after(response):
            told["retry_after_seconds"] = seconds
        return BridgeRefusal(code, message, told)

    def _refusal_of(self, causes: list[Exception]) -> BridgeRefusal:
        """The one thing to tell of a call that failed in one way or several."""
        for cause in causes:
            if isinstance(cause, BridgeRefusal):
                return cause
        for cause in causes:
            if isinstance(cause, httpx2.TransportError):
                return self._broken(cause)
        cause = causes[0]
        if not isinstance(cause, MCPError):
            return elsewhere(self.address, "its answer is none of the protocol's")
        # Here these codes are the SDK's own; a server that means something else by them has said so by its status.
        return interrupted(self.address) if cause.code in _CUT_OFF else self._of_protocol(cause.code)

    def _of_protocol(self, code: int) -> BridgeRefusal:
        """What an error of JSON-RPC's own says of a server, since what was sent is right."""
        if code in _UNKNOWN_THERE:
            return other_version(self.address, self._release)
        if code == INTERNAL_ERROR:
            return BridgeRefusal(
                "internal_error",
                f"Something went wrong inside the server at {self.address}; its log says what. Tell the user.",
            )
        return elsewhere(self.address, "its answer is none of the protocol's")

    def _broken(self, error: httpx2.TransportError) -> BridgeRefusal:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return unreachable(self.address)
        return interrupted(self.address)


async def _json_object(response: httpx2.Response) -> dict[str, JSON]:
    """The body where it is a JSON object, else nothing."""
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return {}
    await response.aread()
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
