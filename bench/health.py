"""How promptly /health answers while everything happens at once.

`python -m bench.health [--full]`. In each round a process of its own asks a bare server, then the idle product, then the
product while: a sketch of three minutes renders and a 200 MB result is published, then a pure-Python job spins;
8 synchronous requests wait; every two seconds 32 posts arrive together and are refused; 4 downloads are stalled;
50 connections have sent half a request.
"""

import http.client
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from bench.floors import bare, random_file
from bench.probe import Probe
from bench.processes import Server, check_server
from bench.report import Bar, Row, conclude, is_full, percentile

RESULT_BYTES = 200_000_000
SYNCHRONOUS = 8
REFUSED = 32
STALLED = 4
HALF_OPEN = 50
QUEUE_LIMIT = 12
BURST_SECONDS = 2.0
SONG: dict[str, JsonValue] = {
    "style": "folk, 96 BPM, acoustic guitar",
    "lyrics": "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n" * 8,
    "duration": 180,
}
PUBLICATION: dict[str, JsonValue] = {"seconds": 0, "mode": "write", "bytes": RESULT_BYTES}
BARS = {0.5: None, 0.99: Bar(10.0), 0.999: Bar(25.0)}


def half_open(server: Server) -> socket.socket:
    """A connection that has sent half a request."""
    connection = server.connect()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0")
    return connection


def stalled(server: Server, id: str) -> socket.socket:
    """A download whose reader stopped at once."""
    connection = server.connect(receive_bytes=4096)
    connection.sendall(f"GET /job?id={id}&result=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection


def synchronous(server: Server, seconds: float) -> socket.socket:
    """A synchronous request whose answer is not there yet."""
    body = json.dumps({"seconds": seconds, "mode": "spin", "bytes": 1000}).encode()
    connection = server.connect()
    head = "POST /check/sync HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def fill(server: Server) -> list[str]:
    """Submit until the queue is full; the ids of what was accepted."""
    ids: list[str] = []
    while True:
        status, body = server.ask("POST", "/check", {"seconds": 600})
        if status == http.client.TOO_MANY_REQUESTS:
            return ids
        ids.append(str(json.loads(body)["id"]))


def burst(server: Server) -> list[str]:
    """Have 32 posts arrive together at a full queue; the ids of what had to be accepted to fill it."""
    ids, together = fill(server), threading.Barrier(REFUSED)

    def post(_: int) -> int:
        together.wait()
        return server.ask("POST", "/check", {"seconds": 600})[0]

    with ThreadPoolExecutor(REFUSED) as posters:
        statuses = list(posters.map(post, range(REFUSED)))
    if (
        statuses.count(http.client.TOO_MANY_REQUESTS) < REFUSED - 2
    ):  # a job may end in between and free a place
        raise RuntimeError(f"the queue was full, yet the posts were answered {sorted(set(statuses))}")
    return ids


@contextmanager
def held(connections: Sequence[socket.socket]) -> Iterator[None]:
    """Close them all in the end."""
    try:
        yield
    finally:
        for connection in connections:
            connection.close()


def under_load(server: Server, stored: str, seconds: float) -> list[float]:
    """Milliseconds of each answer while everything happens at once."""
    with ExitStack() as load:
        load.enter_context(held([half_open(server) for _ in range(HALF_OPEN)]))
        load.enter_context(held([stalled(server, stored) for _ in range(STALLED)]))
        render, publication = server.submit("/synth", SONG), server.submit("/check", PUBLICATION)
        load.enter_context(held([synchronous(server, 2 * seconds) for _ in range(SYNCHRONOUS)]))
        probe, deadline = Probe(server.port, seconds), time.monotonic() + seconds
        filling: list[str] = []
        while time.monotonic() < deadline:
            filling += burst(server)
            time.sleep(BURST_SECONDS)
        samples = probe.samples()
    for id in filling:
        server.ask("POST", f"/job?id={id}&cancel=1")
    server.finish(render)
    server.finish(publication)
    server.ask("DELETE", f"/job?id={publication}")
    await_idle(server)
    return samples


def await_idle(server: Server, limit_seconds: float = 60.0) -> None:
    """Wait for the queue to be empty; TimeoutError where it is not in time."""
    deadline = time.monotonic() + limit_seconds
    while json.loads(server.ask("GET", "/health")[1])["queue"]["pending"]:
        if time.monotonic() > deadline:
            raise TimeoutError("the queue did not become empty")
        time.sleep(0.05)


def main() -> int:
    """Measure in turns and hold the best round against the bars."""
    rounds, seconds = (5, 30.0) if is_full(__doc__ or "") else (2, 10.0)
    taken: dict[str, list[list[float]]] = {"bare": [], "idle": [], "everything at once": []}
    with TemporaryDirectory() as folder, ExitStack() as servers:
        directory = Path(folder)
        floor = servers.enter_context(bare("app", random_file(directory, 1000)))
        environ = {"YUE2_QUEUE_LIMIT": str(QUEUE_LIMIT)}
        product = servers.enter_context(check_server(directory / "output", environ))
        stored = product.submit("/check", PUBLICATION)
        product.finish(stored)
        for _ in range(rounds):
            taken["bare"].append(Probe(floor.port, seconds / 4).samples())
            taken["idle"].append(Probe(product.port, seconds / 4).samples())
            taken["everything at once"].append(under_load(product, stored, seconds))
    samples = {f"{name}, round {n}": turn for name, turns in taken.items() for n, turn in enumerate(turns, 1)}
    return conclude("health", [row for name, turns in taken.items() for row in _rows(name, turns)], samples)


def _rows(name: str, turns: Sequence[Sequence[float]]) -> Iterator[Row]:
    for share, bar in BARS.items():
        best = min(percentile(turn, share) for turn in turns)
        yield Row(f"{name}, p{share * 100:g}", best, "ms", bar if name == "everything at once" else None)


if __name__ == "__main__":
    sys.exit(main())
