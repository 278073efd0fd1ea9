"""How promptly /health answers while everything happens at once.

`python -m bench.health [--full]`. In each round a process of its own asks a bare server, then the idle product, then the
product while: a sketch of three minutes renders and a 200 MB result is published, then a pure-Python job spins;
8 synchronous requests wait; every two seconds 32 posts arrive together and are refused; 4 downloads are stalled;
50 connections have sent half a request.
"""

import http.client
import json
import socket
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
from bench.report import Bar, Row, conclude, end, is_full, percentile

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


def post(server: Server) -> str | None:
    """The id of a job that sleeps for long, or None where the queue is full."""
    status, body = server.ask("POST", "/check", {"seconds": 600})
    if status == http.client.TOO_MANY_REQUESTS:
        return None
    return str(json.loads(body)["id"])


def burst(server: Server) -> None:
    """Have 32 posts arrive together at a queue that is full; RuntimeError where they are not refused."""
    while post(server) is not None:
        pass
    together = threading.Barrier(REFUSED)

    def post_together(_: int) -> str | None:
        together.wait()
        return post(server)

    with ThreadPoolExecutor(REFUSED) as posters:
        accepted = sum(id is not None for id in posters.map(post_together, range(REFUSED)))
    if accepted > 2:  # a job may end in between and free its place
        raise RuntimeError(f"the queue was full, yet {accepted} posts were accepted")


@contextmanager
def held(connections: Sequence[socket.socket]) -> Iterator[None]:
    """Close them all in the end."""
    try:
        yield
    finally:
        for connection in connections:
            connection.close()


def under_load(server: Server, seconds: float) -> list[float]:
    """Milliseconds of each answer while everything happens at once; leaves the server full of work."""
    stored = server.submit("/check", PUBLICATION)
    server.finish(stored)
    with ExitStack() as load:
        load.enter_context(held([half_open(server) for _ in range(HALF_OPEN)]))
        load.enter_context(held([stalled(server, stored) for _ in range(STALLED)]))
        jobs = [server.submit("/synth", SONG), server.submit("/check", PUBLICATION)]
        load.enter_context(held([synchronous(server, 2 * seconds) for _ in range(SYNCHRONOUS)]))
        probe, deadline = Probe(server.port, seconds), time.monotonic() + seconds
        while time.monotonic() < deadline:
            burst(server)
            time.sleep(BURST_SECONDS)
        samples = probe.samples()
        for id in jobs:
            server.finish(id)
        return samples


def main() -> int:
    """Measure in turns and hold the best round against the bars; each round has a fresh server."""
    rounds, seconds = (5, 30.0) if is_full(__doc__ or "") else (2, 10.0)
    turns: dict[str, list[list[float]]] = {"bare": [], "idle": [], "everything at once": []}
    for _ in range(rounds):
        with TemporaryDirectory() as folder, ExitStack() as servers:
            file = random_file(Path(folder), 1000)
            floor = servers.enter_context(bare("app", file))
            environ = {"YUE2_QUEUE_LIMIT": str(QUEUE_LIMIT)}
            product = servers.enter_context(check_server(Path(folder) / "output", environ))
            turns["bare"].append(Probe(floor.port, seconds / 4).samples())
            turns["idle"].append(Probe(product.port, seconds / 4).samples())
            turns["everything at once"].append(under_load(product, seconds))
    samples = {
        f"{name}, round {number}": turn for name, all_ in turns.items() for number, turn in enumerate(all_, 1)
    }
    return conclude("health", [row for name, taken in turns.items() for row in _rows(name, taken)], samples)


def _rows(name: str, turns: Sequence[Sequence[float]]) -> Iterator[Row]:
    for share, bar in BARS.items():
        best = min(percentile(turn, share) for turn in turns)
        yield Row(f"{name}, p{share * 100:g}", best, "ms", bar if name == "everything at once" else None)


if __name__ == "__main__":
    end(main)
