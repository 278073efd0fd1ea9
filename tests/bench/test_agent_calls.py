"""The bytes of a call, what counts as a refusal, and by how much one call is longer than another."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from mcp_types import CallToolResult

from bench.agent_calls import LEGACY, MODERN, call_bytes, more, told, was_refused
from bench.processes import Server


def parted(request: bytes) -> tuple[dict[str, str], dict[str, object]]:
    """Headers and body of a request."""
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")[1:]
    return dict(line.split(": ", 1) for line in lines), json.loads(body)


def test_a_modern_call_tells_its_revision_method_and_name_twice() -> None:
    headers, body = parted(call_bytes(MODERN, "job_status", {"job_id": "a"}))
    assert (headers["Mcp-Method"], headers["Mcp-Name"]) == ("tools/call", "job_status")
    params = cast(dict[str, object], body["params"])
    meta = cast(dict[str, object], params["_meta"])
    assert meta["io.modelcontextprotocol/protocolVersion"] == headers["MCP-Protocol-Version"] == MODERN
    assert (params["name"], params["arguments"]) == ("job_status", {"job_id": "a"})


def test_a_legacy_call_has_nothing_of_that() -> None:
    request = call_bytes(LEGACY, "job_status", {})
    headers, body = parted(request)
    assert "Mcp-Method" not in headers
    assert "_meta" not in cast(dict[str, object], body["params"])
    assert int(headers["Content-Length"]) == len(request.partition(b"\r\n\r\n")[2])


class Answering:
    """A server that answers the next request with a result."""

    def __init__(self, result: object, status: int = 200, after: str = "5") -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
        head = f"HTTP/1.1 {status} OK\r\nContent-Length: {len(body)}\r\nRetry-After: {after}\r\n\r\n"
        self._answer = head.encode() + body

    @contextmanager
    def connect(self) -> Iterator[socket.socket]:
        """A connection on which the answer lies already."""
        near, far = socket.socketpair()
        with near, far:
            far.sendall(self._answer)
            yield near


def refusal(code: str) -> object:
    return {"isError": True, "structuredContent": {"code": code}}


def test_a_full_queue_is_a_refusal_and_nothing_else_is() -> None:
    def asked(answering: Answering) -> bool:
        return was_refused(cast(Server, answering), b"request")

    assert asked(Answering(refusal("queue_full")))
    assert not asked(Answering({"isError": False}))
    for answering in (
        Answering(refusal("invalid_field")),
        Answering(refusal("queue_full"), after="7"),
        Answering(refusal("queue_full"), status=429),
    ):
        with pytest.raises(RuntimeError, match="a tool was"):
            asked(answering)


def test_longer_is_by_round() -> None:
    assert more([5.0, 9.0], [2.0, 10.0]) == [3.0, -1.0]


def test_what_is_told_is_an_object() -> None:
    assert told(CallToolResult(content=[], structured_content={"a": 1})) == {"a": 1}
    with pytest.raises(RuntimeError, match="told"):
        told(CallToolResult(content=[]))
