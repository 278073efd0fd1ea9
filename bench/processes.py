"""The processes under measurement: started, asked, weighed and stopped."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import psutil
from pydantic import JsonValue

ROOT = Path(__file__).parents[1]
START_SECONDS = 60.0
STOP_SECONDS = 15.0
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Server:
    """A running server process on the loopback."""

    pid: int
    port: int

    def ask(self, method: str, path: str, payload: JsonValue | bytes = None) -> tuple[int, bytes]:
        """Status and body of one request on a connection of its own; a payload of bytes is a file."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        body, kind = _body(payload)
        try:
            connection.request(method, path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def submit(self, path: str, payload: JsonValue | bytes) -> str:
        """The id of a job that was accepted; RuntimeError where it was not."""
        status, body = self.ask("POST", path, payload)
        if status != http.client.ACCEPTED:
            raise RuntimeError(f"{path} answered {status}: {body[:200]!r}")
        return str(json.loads(body)["id"])

    def finish(self, id: str) -> None:
        """Wait for a job to be done; RuntimeError where it ends otherwise."""
        while True:
            job = json.loads(self.ask("GET", f"/job?id={id}&wait=45")[1])
            if job["status"] == "done":
                return
            if job["status"] not in ("queued", "running"):
                raise RuntimeError(f"the job ended as {job['status']}: {job.get('error')}")

    def connect(self, receive_bytes: int | None = None) -> socket.socket:
        """A fresh connection; a small receive buffer makes a reader that stops felt at once."""
        connection = socket.socket()
        if receive_bytes is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", self.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _body(payload: JsonValue | bytes) -> tuple[bytes | None, str]:
    """The bytes of a body, and its content type."""
    if isinstance(payload, bytes):
        return payload, "application/octet-stream"
    return None if payload is None else json.dumps(payload).encode(), "application/json"


@contextmanager
def check_server(directory: Path, environ: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The product with an artificial worker's routes beside its own; lets connections stall for two minutes."""
    arguments = [
        "-m",
        "tests.server.server_check",
        "--directory",
        str(directory),
        "--port",
        "0",
        "--timeout",
        "120",
        "--sound",
    ]
    with announced(arguments, environ or {}) as server:
        yield server


@contextmanager
def announced(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[Server]:
    """A Python program that prints `listening http://127.0.0.1:PORT`, once it answers."""
    with _started(arguments, environ) as (process, errors):
        assert process.stdout is not None
        words = process.stdout.readline().split()
        if words[:1] != ["listening"]:
            raise RuntimeError(_last_words(arguments, errors))
        server = Server(process.pid, int(words[1].rpartition(":")[2]))
        await_answer(server)
        yield server


@contextmanager
def on_port(arguments: Sequence[str], environ: Mapping[str, str], port: int) -> Iterator[Server]:
    """A Python program that listens on a port it was told, once it answers."""
    with _started(arguments, environ) as (process, _):
        server = Server(process.pid, port)
        await_answer(server)
        yield server


@contextmanager
def awake(server: Server) -> Iterator[None]:
    """Let a process run for the block alone, so that busy processes which take turns do not share the cores."""
    process = psutil.Process(server.pid)
    process.resume()
    try:
        yield
    finally:
        process.suspend()


def free_port() -> int:
    """A port that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_answer(server: Server, pause_seconds: float = 0.01) -> None:
    """Ask for /health until it is answered; TimeoutError after a minute."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if server.ask("GET", "/health")[0] == http.client.OK:
                return
        except ConnectionError:
            time.sleep(pause_seconds)
    raise TimeoutError(f"nothing answered on port {server.port} within {START_SECONDS:.0f} s")


@contextmanager
def _started(
    arguments: Sequence[str], environ: Mapping[str, str]
) -> Iterator[tuple["subprocess.Popen[str]", IO[bytes]]]:
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env={**os.environ, **environ},
        )
        try:
            yield process, errors
        finally:
            _stop(process)


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    process.send_signal(signal.SIGCONT)  # one that was put to sleep hears it only when awake
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _last_words(arguments: Sequence[str], errors: IO[bytes]) -> str:
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().splitlines()
    return f"{' '.join(arguments)} did not start: {said[-1] if said else 'it said nothing'}"


class Scales:
    """Weighs a process every 5 ms while the block runs; owner of the heaviest weight."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._weigh)
        self.before = self._process.memory_info().rss
        self.heaviest = self.before

    def __enter__(self) -> "Scales":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    @property
    def growth_megabytes(self) -> float:
        """How much heavier the process was at its heaviest than before."""
        return (self.heaviest - self.before) / MEGABYTE

    def _weigh(self) -> None:
        while not self._done.wait(0.005):
            self._look()

    def _look(self) -> None:
        self.heaviest = max(self.heaviest, self._process.memory_info().rss)
