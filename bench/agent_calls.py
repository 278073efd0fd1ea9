"""Calls of MCP tools: by the official SDK's client, as agents make them, and as bare bytes, as a load makes them."""

import http.client
import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from pydantic import JsonValue

from bench.processes import Server

PATH = "/mcp"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
MODES = {"legacy": "legacy", "modern": MODERN}
_META = "io.modelcontextprotocol"
Arguments = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class SdkClient:
    """The SDK's client of one era, connected, with its loop in another thread."""

    portal: BlockingPortal
    client: Client

    def timed(self, tool: str, arguments: Arguments) -> tuple[float, CallToolResult]:
        """Milliseconds from the call to its answer, on the client's own loop; RuntimeError where the tool refused."""

        async def call() -> tuple[float, CallToolResult]:
            started = time.perf_counter()
            answer = await self.client.call_tool(tool, dict(arguments))
            return (time.perf_counter() - started) * 1e3, answer

        taken, answer = self.portal.call(call)
        if answer.is_error:
            raise RuntimeError(f"{tool} refused: {answer.content}")
        return taken, answer


@asynccontextmanager
async def _connected(server: Server, mode: str) -> AsyncIterator[Client]:
    url = f"http://127.0.0.1:{server.port}{PATH}"
    async with (
        httpx2.AsyncClient(timeout=60, trust_env=False, verify=False) as connections,
        Client(streamable_http_client(url, http_client=connections), mode=mode) as client,
    ):
        yield client


@contextmanager
def sdk_client(server: Server, mode: str) -> Iterator[SdkClient]:
    """The SDK's client of a server until the block is left."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_connected(server, mode)) as client,
    ):
        yield SdkClient(portal, client)


def told(answer: CallToolResult) -> Mapping[str, JsonValue]:
    """What an answer tells programs; RuntimeError where it is no object."""
    if not isinstance(answer.structured_content, dict):
        raise RuntimeError(f"a tool told {answer.structured_content!r}")
    return answer.structured_content


def call_bytes(version: str, tool: str, arguments: Arguments) -> bytes:
    """A whole HTTP request that calls a tool, as the revision of the protocol wants it."""
    params: dict[str, JsonValue] = {"name": tool, "arguments": dict(arguments)}
    headers = {
        "Host": "127.0.0.1",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
    }
    if version == MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
        params["_meta"] = {f"{_META}/protocolVersion": version, f"{_META}/clientCapabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers["Content-Length"] = str(len(body))
    lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def was_refused(server: Server, request: bytes) -> bool:
    """Whether a creating tool found the queue full; RuntimeError where it was answered otherwise than a refusal is."""
    with server.connect() as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = answer.read()
    if answer.status != http.client.OK:
        raise RuntimeError(f"a tool was answered {answer.status}: {body[:200]!r}")
    result = json.loads(body)["result"]
    if not result["isError"]:
        return False
    code, after = result["structuredContent"]["code"], answer.headers["Retry-After"]
    if (code, after) != ("queue_full", "5"):
        raise RuntimeError(f"a tool was refused as {code}, Retry-After {after}")
    return True


class BareClient:
    """The native API by one kept connection and nothing else; owner of that connection."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def timed(self, method: str, path: str, payload: JsonValue = None) -> tuple[float, bytes]:
        """Milliseconds from the call to its whole answer; RuntimeError where it is none that was hoped for."""
        body = None if payload is None else json.dumps(payload).encode()
        started = time.perf_counter()
        self._connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = self._connection.getresponse()
        read = answer.read()
        taken = (time.perf_counter() - started) * 1e3
        if answer.status not in (http.client.OK, http.client.ACCEPTED):
            raise RuntimeError(f"{path} answered {answer.status}: {read[:200]!r}")
        return taken, read

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def more(product: Sequence[float], floor: Sequence[float]) -> list[float]:
    """By how much each call took longer than the one of the same round that does the same at the least."""
    return [one - other for one, other in zip(product, floor, strict=True)]
