"""A small real HTTP server that answers as the native API says, and misbehaves as a test plans."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

DROP = (0, "", 0)  # read the request, then break the connection without an answer
DROP_AFTER_ACCEPTING = (-1, "", 0)  # the same, but the job was made
JOB_ID = "00112233445566aa"
ETAG = '"body-1"'


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}


@dataclass
class Studio:
    """What the double does next and what it has seen; owner: the test, between requests."""

    refusals: deque[tuple[int, str, int]] = field(
        default_factory=deque
    )  # (status, code, Retry-After) before answering
    updates: deque[dict[str, object]] = field(default_factory=deque)
    body: bytes = b""
    cuts: deque[int] = field(default_factory=deque)  # bytes to send before breaking off each download
    etags: deque[str] = field(default_factory=deque)
    ranges: bool = True
    seen: list[Seen] = field(default_factory=list)
    jobs: dict[str, str] = field(default_factory=dict)  # by idempotency key
    snapshot: dict[str, object] = field(default_factory=lambda: {"status": "ok", "queue": {"limit": 8}})
    looked: threading.Event = field(default_factory=threading.Event)  # set at the first look at a job
    address: str = ""


class Answering(BaseHTTPRequestHandler):
    """One connection to the double."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    studio: ClassVar[Studio]

    def do_GET(self) -> None:
        self._note(b"")
        if self._misbehaved():
            return
        query = self.studio.seen[-1].query
        if self.path in ("/health", "/status", "/props"):
            self._send(200, self.studio.snapshot)
        elif "result" in query:
            self._send_body()
        else:
            self._send(200, self.studio.updates.popleft())
            self.studio.looked.set()

    def do_POST(self) -> None:
        self._note(self.rfile.read(int(self.headers.get("content-length", "0"))))
        if self._misbehaved():
            return
        if "cancel" in self.studio.seen[-1].query:
            self._send(200, {"status": "cancelled"})
            return
        key = self.headers["idempotency-key"]
        replayed = key in self.studio.jobs
        self.studio.jobs.setdefault(key, JOB_ID)
        extra = {"Idempotent-Replay": "true"} if replayed else {}
        self._send(200 if replayed else 202, {"id": JOB_ID, "status": "queued", "queue_position": 1}, extra)

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""

    def _note(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.studio.seen.append(Seen(self.command, self.path, headers, body))

    def _misbehaved(self) -> bool:
        if not self.studio.refusals:
            return False
        planned = self.studio.refusals.popleft()
        if planned == DROP_AFTER_ACCEPTING:
            self.studio.jobs[self.headers["idempotency-key"]] = JOB_ID
        if planned in (DROP, DROP_AFTER_ACCEPTING):
            self.close_connection = True
            return True
        status, code, retry_after = planned
        extra = {"Retry-After": str(retry_after)} if retry_after else {}
        self._send(status, {"error": f"Refused for {code}.", "code": code} if code else {}, extra)
        return True

    def _send(self, status: int, body: dict[str, object], extra: dict[str, str] | None = None) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _send_body(self) -> None:
        etag = self.studio.etags.popleft() if self.studio.etags else ETAG
        wanted = self.headers.get("if-match")
        if wanted is not None and wanted != etag:
            self._send(412, {"error": "It changed.", "code": "result_changed"})
            return
        body, total = self.studio.body, len(self.studio.body)
        asked = self.headers.get("range") if self.studio.ranges else None
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "audio/flac")
        self.send_header("Content-Length", str(total - start))
        self.end_headers()
        stop = start + self.studio.cuts.popleft() if self.studio.cuts else total
        self.wfile.write(body[start:stop])
        self.close_connection = stop < total


@contextmanager
def studio_double() -> Iterator[Studio]:
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
