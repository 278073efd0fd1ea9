"""Everything at once, for as long as a block lasts, and a count of what really happened.

The product has one worker, so its jobs take turns on it: threads here see to it that a sung song, a speech, a recording
to be written down, a publication of 200 MB and the pure-Python jobs of eight synchronous requests are always with the
server, the next submitted when one ends.
"""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
from pydantic import JsonValue

from bench.processes import Server
from bench.sound.texts import PARAGRAPHS

RESULT_BYTES = 200_000_000
SYNCHRONOUS = 8
REFUSED = 32
QUEUE_LIMIT = (
    14  # the eight, a song, a speech, a recording, a publication, and two that a burst fills up with
)
SONGS, SPEECHES, TRANSCRIPTS, PUBLICATIONS = "songs", "speeches", "transcripts", "publications"
RETRY_SECONDS = 0.02
SETTLE_SECONDS = 30.0
SONG: dict[str, JsonValue] = {
    "style": "folk, 96 BPM, acoustic guitar",
    "lyrics": "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n" * 4,
    "duration": 90,
}
SAID = "The ferry leaves at half past nine, and the last bus waits for it on the other side of the bay. "
SPEECH: dict[str, JsonValue] = {"text": SAID * 12, "output_format": "wav16"}
RECORDED: dict[str, JsonValue] = {"text": " ".join(PARAGRAPHS[:2]), "output_format": "wav16"}
PUBLICATION: dict[str, JsonValue] = {"seconds": 0, "mode": "write", "bytes": RESULT_BYTES}
SPINNING: dict[str, JsonValue] = {"seconds": 0.1, "mode": "spin", "bytes": 1000}
FILLING: dict[str, JsonValue] = {"seconds": 0, "bytes": 1}
BLOCKING: dict[str, JsonValue] = {"seconds": 3600, "mode": "sleep"}
CALL_PATH = "/v1/audio/speech"
CALL: dict[str, JsonValue] = {"model": "tts-1", "voice": "alloy", "input": SAID}


@dataclass(frozen=True, slots=True)
class Work:
    """One job as it ended, and when it had the worker, in seconds since the epoch; no time where it never had it."""

    done: bool
    began: float
    ended: float

    @classmethod
    def of(cls, job: Mapping[str, JsonValue]) -> "Work":
        """As the server tells it; RuntimeError where the job failed."""
        status, began, ended = job["status"], job.get("started_at"), job.get("finished_at")
        if status not in ("done", "cancelled"):
            raise RuntimeError(f"a job of the load ended as {status}: {job.get('error')}")
        if not isinstance(began, int | float) or not isinstance(ended, int | float):
            return cls(status == "done", 0.0, 0.0)
        return cls(status == "done", began, ended)


def seconds_within(works: Sequence[Work], began: float, ended: float) -> float:
    """For how long of the time between two instants the jobs had the worker."""
    return sum(max(0.0, min(work.ended, ended) - max(work.began, began)) for work in works)


def done_within(works: Sequence[Work], began: float, ended: float) -> int:
    """How many of the jobs were done between two instants."""
    return sum(work.done and began <= work.ended <= ended for work in works)


class Feeders:
    """Threads that keep jobs and synchronous requests with a server while the block lasts; owner of those threads."""

    def __init__(self, server: Server, recording: bytes) -> None:
        self._server = server
        self._fed: dict[str, tuple[str, JsonValue | bytes]] = {
            SONGS: ("/synth", SONG),
            SPEECHES: ("/speech", SPEECH),
            TRANSCRIPTS: ("/transcribe", recording),
            PUBLICATIONS: ("/check", PUBLICATION),
        }
        self._over = threading.Event()
        self._threads = ThreadPoolExecutor(len(self._fed) + SYNCHRONOUS)
        self._works: dict[str, Future[list[Work]]] = {}
        self._answered: list[Future[int]] = []

    def __enter__(self) -> "Feeders":
        start, server, over = self._threads.submit, self._server, self._over
        for name, (path, payload) in self._fed.items():
            self._works[name] = start(keep_in_flight, server, path, payload, over)
        self._answered = [start(ask_synchronously, server, over) for _ in range(SYNCHRONOUS)]
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._threads.shutdown()

    def settle(self) -> None:
        """Wait until all synchronous requests are held; TimeoutError where that never happens."""
        for _ in range(round(SETTLE_SECONDS / RETRY_SECONDS)):
            if synchronous_waiters(self._server) == SYNCHRONOUS:
                return
            self._over.wait(RETRY_SECONDS)
        raise TimeoutError(f"the server did not hold {SYNCHRONOUS} synchronous requests")

    def works(self, name: str) -> list[Work]:
        """The jobs of one kind as they ended, once the block is over."""
        return self._works[name].result()

    def answered(self) -> int:
        """How many synchronous requests were answered, once the block is over."""
        return sum(answers.result() for answers in self._answered)


def spoken(server: Server) -> bytes:
    """A WAV file of twenty seconds of speech, said by the server itself; RuntimeError where it cannot be had."""
    id = server.submit("/speech", RECORDED)
    server.finish(id)
    status, recording = server.ask("GET", f"/job?id={id}&track=0")
    if status != http.client.OK:
        raise RuntimeError(f"the speech was answered {status}: {recording[:200]!r}")
    return recording


def keep_in_flight(
    server: Server, path: str, payload: JsonValue | bytes, over: threading.Event
) -> list[Work]:
    """Submit a job, the next when it has ended, and so on until it is over, when the last is cancelled."""
    works: list[Work] = []
    while (id := _admitted(server, path, payload, over)) is not None:
        works.append(_ended(server, id, over))
        server.ask("DELETE", f"/job?id={id}")
    return works


def _admitted(server: Server, path: str, payload: JsonValue | bytes, over: threading.Event) -> str | None:
    """The id of a job, asked for until a place is free; None where it is over before."""
    while not over.is_set():
        status, body = server.ask("POST", path, payload)
        if status == http.client.ACCEPTED:
            return str(json.loads(body)["id"])
        _check_refused(status, body)
        over.wait(RETRY_SECONDS)
    return None


def _ended(server: Server, id: str, over: threading.Event) -> Work:
    while True:
        job = json.loads(server.ask("GET", f"/job?id={id}&wait=1")[1])
        if job["status"] not in ("queued", "running"):
            return Work.of(job)
        if over.is_set():
            server.ask("POST", f"/job?id={id}&cancel=1")


def ask_synchronously(server: Server, over: threading.Event) -> int:
    """Send synchronous requests, each when the one before is answered; how many were."""
    answered = 0
    while not over.is_set():
        status, body = server.ask("POST", "/check/sync", SPINNING)
        if status == http.client.OK:
            answered += 1
        else:
            _check_refused(status, body)
            over.wait(RETRY_SECONDS)
    return answered


def _check_refused(status: int, body: bytes) -> None:
    if status != http.client.TOO_MANY_REQUESTS:
        raise RuntimeError(f"the load was answered {status}: {body[:200]!r}")


def synchronous_waiters(server: Server) -> int:
    """How many synchronous requests the server holds."""
    return int(json.loads(server.ask("GET", "/status")[1])["http"]["synchronous_waiters"])


def was_refused(server: Server) -> bool:
    """Post a job that does nothing; whether the queue was full."""
    status, body = server.ask("POST", "/check", FILLING)
    if status == http.client.ACCEPTED:
        return False
    _check_refused(status, body)
    return True


def burst(server: Server) -> int:
    """Fill the queue, then have 32 posts arrive together; how many of them were refused."""
    for _ in range(QUEUE_LIMIT):
        if was_refused(server):
            break
    return refused_together(lambda: was_refused(server))


def refused_together(post: Callable[[], bool]) -> int:
    """Post 32 times at one moment; how many of them were refused."""
    together = threading.Barrier(REFUSED)

    def post_together(_: int) -> bool:
        together.wait()
        return post()

    with ThreadPoolExecutor(REFUSED) as posters:
        return sum(posters.map(post_together, range(REFUSED)))


def call_was_refused(server: Server) -> bool:
    """Whether a compatible call found no place; RuntimeError where it was answered otherwise."""
    status, body = server.ask("POST", CALL_PATH, CALL)
    _check_refused(status, body)
    return True


@contextmanager
def calls_waiting(server: Server) -> Iterator[Sequence[socket.socket]]:
    """Eight compatible calls that wait in the queue, behind a job that lasts longer than any measurement.

    TimeoutError where they are not all held by the server within half a minute.
    """
    id = server.submit("/check", BLOCKING)
    with held([_calling(server) for _ in range(SYNCHRONOUS)]) as calls:
        pause = threading.Event()
        for _ in range(round(SETTLE_SECONDS / RETRY_SECONDS)):
            if synchronous_waiters(server) == SYNCHRONOUS:
                break
            pause.wait(RETRY_SECONDS)
        else:
            raise TimeoutError(f"the server did not hold {SYNCHRONOUS} calls")
        yield calls
    server.ask("POST", f"/job?id={id}&cancel=1")


def _calling(server: Server) -> socket.socket:
    """A connection on which a compatible call was sent and its answer is waited for."""
    connection, body = server.connect(), json.dumps(CALL).encode()
    head = f"POST {CALL_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


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


@contextmanager
def held(connections: Sequence[socket.socket]) -> Iterator[Sequence[socket.socket]]:
    """Close them all in the end."""
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def still_open(server: Server, connections: Sequence[socket.socket]) -> int:
    """How many of the connections the server has open too."""
    ports = {connection.getsockname()[1] for connection in connections}
    ends = psutil.Process(server.pid).net_connections("tcp")
    return sum(
        end.status == psutil.CONN_ESTABLISHED and bool(end.raddr) and end.raddr.port in ports for end in ends
    )
