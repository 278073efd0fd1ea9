"""MCP over bare HTTP: one JSON-RPC message a POST, as each revision of the protocol wants it.

Written from the specification: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports,
…/2025-11-25/basic/transports and …/2026-07-28/basic/transports.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

FIRST: Final = "2025-06-18"
LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
VERSIONS: Final = (FIRST, LEGACY, MODERN)
PATH: Final = "/mcp"
ACCEPT: Final = "application/json, text/event-stream"
JSON_TYPE: Final = "application/json"
META: Final = "io.modelcontextprotocol"
NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
CLIENT: Final = {"name": "bare", "version": "1"}
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
INITIALIZE: Final[Mapping[str, Any]] = {"capabilities": {}, "clientInfo": CLIENT}


@dataclass(frozen=True, slots=True)
class Message:
    """One request, ready to be posted."""

    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def content(self) -> bytes:
        """The body's bytes."""
        return json.dumps(self.body, ensure_ascii=False).encode()

    def raw(self, host: str = "127.0.0.1") -> bytes:
        """The whole HTTP request."""
        lines = [f"POST {PATH} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(self.content)}"]
        head = [*lines, *(f"{name}: {value}" for name, value in self.headers.items())]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.content


def message(version: str, method: str, params: Mapping[str, Any] | None = None, id: int = 7) -> Message:
    """A request as that revision wants it."""
    headers = {"Accept": ACCEPT, "Content-Type": JSON_TYPE, "MCP-Protocol-Version": version}
    told: dict[str, Any] = dict(params or {})
    if version == MODERN:
        headers["Mcp-Method"] = method
        if method in NAMED:
            headers["Mcp-Name"] = str(told[NAMED[method]])
        told["_meta"] = {
            f"{META}/protocolVersion": version,
            f"{META}/clientCapabilities": {},
            f"{META}/clientInfo": CLIENT,
        }
    return Message(headers, {"jsonrpc": "2.0", "id": id, "method": method, "params": told})


def tool_call(version: str, tool: str, arguments: Mapping[str, Any] | None = None) -> Message:
    """A call of a tool."""
    return message(version, "tools/call", {"name": tool, "arguments": dict(arguments or {})})


def post(http: httpx2.Client, sent: Message, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """The whole answer; `headers` are added."""
    return http.post(PATH, content=sent.content, headers={**sent.headers, **(headers or {})})


def result_of(answer: httpx2.Response, id: int = 7) -> dict[str, Any]:
    """The result of a request, its framing checked."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == JSON_TYPE
    told = answer.json()
    assert (told["jsonrpc"], told["id"], "error" in told) == ("2.0", id, False)
    return dict(told["result"])


def error_of(answer: httpx2.Response) -> dict[str, Any]:
    """The error of a request, its framing checked."""
    assert answer.headers["content-type"].partition(";")[0] == JSON_TYPE
    told = answer.json()
    assert (told["jsonrpc"], "result" in told) == ("2.0", False)
    return dict(told["error"])


def code_of(answer: httpx2.Response) -> str:
    """Why the server did not let a message through: its own word beside the protocol's number."""
    told = answer.json()
    assert (told["jsonrpc"], told["id"]) == ("2.0", None)
    assert told["error"]["message"]
    return str(told["error"]["data"]["code"])
