"""A small real HTTP server that answers tools' calls as MCP's revision 2026-07-28 has it, and misbehaves as a test plans.

Written from https://modelcontextprotocol.io/specification/2026-07-28/basic/transports and …/server/tools.
"""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

JOB_ID: Final = "0123456789abcdef"
SEAL: Final = "abcdefghijklmnopqrstuvwxyz-_0123"
LINK_PATH: Final = f"/artifacts/{SEAL}/harbour-lamps.mp3"
CUT: Final = -1
"""In place of a status: the connection is broken without an answer."""


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def params(self) -> dict[str, Any]:
        """Those of the message that was sent."""
        return dict(json.loads(self.body)["params"])


@dataclass(frozen=True)
class Raw:
    """An answer given as it stands."""

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Studio:
    """What the double does next, and what it has seen; owner: the test, between requests."""

    planned: deque[Raw] = field(default_factory=deque)  # in place of what would be answered
    results: deque[dict[str, Any]] = field(default_factory=deque)  # of tools; the last stays
    file: bytes = b""
    etags: deque[str] = field(default_factory=deque)
    cuts: deque[int] = field(default_factory=deque)  # bytes to send before a download breaks off
    hold: threading.Event | None = None  # tools' answers wait for it, once `held` is set
    held: threading.Event = field(default_factory=threading.Event)
    seen: list[Seen] = field(default_factory=list)
    address: str = ""

    def complete(self, content: bytes, url: str = "", name: str = "harbour-lamps.mp3") -> None:
        """Have job_status tell of a finished song that is these bytes."""
        self.file = content
        link = url or f"{self.address}/artifacts/{SEAL}/{name}"
        told = {"job_id": JOB_ID, "state": "complete", "url": link, "size_bytes": len(content)}
        self.results.append(
            result(
                "It is complete.",
                told,
                {
                    "type": "resource_link",
                    "name": name,
                    "uri": link,
                    "size": len(content),
                    "mimeType": "audio/mpeg",
                },
            )
        )


def result(
    text: str, told: Mapping[str, Any], *more: Mapping[str, Any], is_error: bool = False
) -> dict[str, Any]:
    """What a tool answers."""
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}, *more],
        "structuredContent": dict(told),
        "isError": is_error,
    }


class Answering(BaseHTTPRequestHandler):
    """One connection to the double."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    studio: ClassVar[Studio]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self._note(body)
        if self._misbehaved(body):
            return
        if self.studio.seen[-1].path == "/mcp/transcribe":
            self._send(202, {"id": JOB_ID, "status": "queued", "queue_position": 1})
            return
        message = json.loads(body)
        if self.studio.hold is not None:
            self.studio.held.set()
            assert self.studio.hold.wait(20)
        results = self.studio.results
        told = results.popleft() if len(results) > 1 else results[0]
        self._send(200, {"jsonrpc": "2.0", "id": message["id"], "result": told})

    def do_GET(self) -> None:
        self._note(b"")
        if self._misbehaved():
            return
        file, etags = self.studio.file, self.studio.etags
        etag = etags.popleft() if etags else '"file-1"'
        asked = self.headers.get("range")
        if self.headers.get("if-match", etag) != etag:
            self._send(412, {"error": "It changed.", "code": "precondition_failed"})
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(file) - 1}/{len(file)}")
        self.send_header("ETag", etag)
        self.send_header("Content-Type", "audio/mpeg")
        self.send_header("Content-Length", str(len(file) - start))
        self.end_headers()
        stop = start + self.studio.cuts.popleft() if self.studio.cuts else len(file)
        self.wfile.write(file[start:stop])
        self.close_connection = stop < len(file)

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""

    def _note(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.studio.seen.append(Seen(self.command, self.path, headers, body))

    def _misbehaved(self, asked: bytes = b"") -> bool:
        if not self.studio.planned:
            return False
        planned = self.studio.planned.popleft()
        if planned.status == CUT:
            self.close_connection = True
            return True
        body = planned.body
        if planned.status == 200 and b'"jsonrpc"' in body:  # an answer, which has the number of its question
            body = json.dumps({**json.loads(body), "id": json.loads(asked)["id"]}).encode()
        self.send_response(planned.status)
        sent = {
            "Content-Type": planned.kind,
            "Content-Length": str(len(body)),
            **planned.headers,
        }
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return True

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@contextmanager
def mcp_double() -> Iterator[Studio]:
    """A running double; its thread and port are gone afterwards."""
    studio = Studio()
    answering = type("Answering", (Answering,), {"studio": studio})
    with ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        studio.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield studio
        finally:
            server.shutdown()
            thread.join()


def refusal(status: int, code: str, **more: Any) -> Raw:
    """An error answer in the HTTP API's shape."""
    return Raw(status, json.dumps({"error": f"Refused for {code}.", "code": code, **more}).encode())


def protocol_error(status: int, code: int, message: str = "No.", data: Any = None) -> Raw:
    """An error answer of JSON-RPC."""
    error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
    return Raw(status, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())
