"""A small real HTTP server that answers as the model hub does, and misbehaves as a test plans.

The protocol is that which huggingface-hub 2.4 speaks: `GET /api/models/{repo}/revision/{revision}?blobs=True` tells
commit, files, sizes and digests; `/{repo}/resolve/{commit}/{path}` gives a small file at once (ETag: git's digest)
and sends large ones elsewhere (302 with X-Repo-Commit, X-Linked-Etag: SHA-256, X-Linked-Size).
"""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

COMMIT = "1a96eca688d6ae5d7f0feb88573fec89920fcd19"
LARGE = (".safetensors", ".tiktoken")


@dataclass
class Hub:
    """What the double has, what it does next and what it has seen; owner: the test, between requests."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    revisions: tuple[str, ...] = ("main", COMMIT)
    statuses: dict[str, deque[int]] = field(default_factory=dict)  # by path: what to answer instead, in turn
    cuts: deque[int] = field(default_factory=deque)  # bytes of a large file to send before breaking off
    spoilt: deque[str] = field(default_factory=deque)  # paths whose next bytes come with one changed
    ranges: bool = True
    surplus: bytes = b""  # what comes after the end of a large file
    elsewhere: str = ""  # where large files are said to be, instead of /store
    circles: bool = False  # send whoever asks to where they are
    pause_at: int | None = None  # send so many bytes of a large file, then nothing until `resumed`
    paused: threading.Event = field(default_factory=threading.Event)
    resumed: threading.Event = field(default_factory=threading.Event)
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)  # bytes of bodies by path
    address: str = ""

    def asked(self, end: str) -> list[dict[str, str]]:
        """The headers of each request whose path ends so."""
        return [headers for _, path, headers in self.seen if path.endswith(end)]

    def add_folder(self, repo: str, folder: Path, **more: bytes) -> None:
        """Have a repository with the files of a folder and some more."""
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        self.repos[repo] = files | more


class Answering(BaseHTTPRequestHandler):
    """One connection to the double."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub: ClassVar[Hub]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.seen.append((self.command, path, {name.lower(): one for name, one in self.headers.items()}))
        if self.hub.circles:
            self._send(307, b"", {"Location": self.path})
        elif path.startswith("/api/models/"):
            self._tell(*path.removeprefix("/api/models/").split("/revision/"))
        elif path.startswith("/store/"):
            self._give(*path.removeprefix("/store/").split("/-/"))
        else:
            repo, rest = path[1:].split("/resolve/")
            self._resolve(repo, rest.partition("/")[2])

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""

    def _tell(self, repo: str, revision: str) -> None:
        files = self.hub.repos.get(repo)
        if files is None:
            self._send(401, b'{"error": "Repository not found"}')
        elif revision not in self.hub.revisions:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        elif statuses := self.hub.statuses.get(repo):
            self._send(statuses.popleft(), b"{}")
        else:
            siblings = [sibling(path, content) for path, content in files.items()]
            self._send(200, json.dumps({"id": repo, "sha": COMMIT, "siblings": siblings}).encode())

    def _resolve(self, repo: str, path: str) -> None:
        content = self.hub.repos[repo][path]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{git_digest(content)}"'}
        if not path.endswith(LARGE):
            self._give(repo, path)
            return
        digest = hashlib.sha256(content).hexdigest()
        headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(content))}
        other = self.hub.address.replace("127.0.0.1", "localhost")
        self._send(302, b"", headers | {"Location": self.hub.elsewhere or f"{other}/store/{repo}/-/{path}"})

    def _give(self, repo: str, path: str) -> None:
        if statuses := self.hub.statuses.get(path):
            self._send(statuses.popleft(), b"")
            return
        content = self._content(repo, path)
        asked = self.headers.get("range") if self.hub.ranges else None
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if path.endswith(".safetensors"):
            content += self.hub.surplus
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self._write(path, content[start:])

    def _content(self, repo: str, path: str) -> bytes:
        content = self.hub.repos[repo][path]
        if self.hub.spoilt and self.hub.spoilt[0] == path:
            self.hub.spoilt.popleft()
            return bytes([content[0] ^ 1]) + content[1:]
        return content

    def _write(self, path: str, rest: bytes) -> None:
        large = path.endswith(".safetensors")
        cut = self.hub.cuts.popleft() if large and self.hub.cuts else len(rest)
        if large and self.hub.pause_at is not None:
            self.wfile.write(rest[: self.hub.pause_at])
            self.hub.paused.set()
            self.hub.resumed.wait(60)
            self.close_connection = True
            return
        self.hub.sent[path] = self.hub.sent.get(path, 0) + min(cut, len(rest))
        self.wfile.write(rest[:cut])
        self.close_connection = cut < len(rest)

    def _send(self, status: int, body: bytes, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def git_digest(content: bytes) -> str:
    """The name that git gives a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def sibling(path: str, content: bytes) -> dict[str, object]:
    """What the hub tells of one file."""
    told: dict[str, object] = {"rfilename": path, "size": len(content), "blobId": git_digest(content)}
    if path.endswith(LARGE):
        digest = hashlib.sha256(content).hexdigest()
        told |= {
            "blobId": git_digest(digest.encode()),
            "lfs": {"sha256": digest, "size": len(content), "pointerSize": 134},
        }
    return told


@contextmanager
def hub_double() -> Iterator[Hub]:
    """A running double; its thread and port are gone afterwards."""
    hub = Hub()
    answering = type("Answering", (Answering,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        hub.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            hub.resumed.set()
            server.shutdown()
            thread.join()
