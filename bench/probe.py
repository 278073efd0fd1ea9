"""A process of its own that asks for /health on a fixed schedule and prints how long each answer took, as JSON.

`python -m bench.probe PORT SECONDS`: one keep-alive connection, a request planned every 5 ms. An answer is measured
from the instant its request was planned for, also where the answer before it had not come by then: so a stall counts
for every probe that it delayed, not for one (against "coordinated omission", as Gil Tene's wrk2 does). That the probe
itself wakes late counts as well, because a client feels it alike; it is also told by itself.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from bench.processes import ROOT
from bench.report import end

REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
INTERVAL_SECONDS = 0.005
METHOD = f"a probe every {INTERVAL_SECONDS * 1e3:g} ms, timed from its planned instant"


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe found from `began` to `ended`, in seconds since the epoch; the rest in milliseconds."""

    began: float
    ended: float
    answers: list[float]  # one for each planned instant, in order
    wakings: list[float]  # how late the probe woke, where it had slept until a planned instant


def planned(seconds: float) -> list[float]:
    """The instants of a schedule, in seconds from its start."""
    return [nth * INTERVAL_SECONDS for nth in range(round(seconds / INTERVAL_SECONDS))]


def probe(
    ask: Callable[[], None], seconds: float, clock: Callable[[], float], sleep: Callable[[float], None]
) -> tuple[list[float], list[float]]:
    """Milliseconds from each planned instant to its answer, and how late each sleep until one ended.

    Requests that are overdue go out as soon as the connection is free.
    """
    answers: list[float] = []
    wakings: list[float] = []
    started = clock()
    for instant in planned(seconds):
        if (early := started + instant - clock()) > 0:
            sleep(early)
            wakings.append((clock() - started - instant) * 1e3)
        ask()
        answers.append((clock() - started - instant) * 1e3)
    return answers, wakings


def probe_health(port: int, seconds: float) -> Probed:
    """Ask the server on the port for so long; ConnectionError where an answer is not a 200."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def ask() -> None:
            connection.sendall(REQUEST)
            _receive_answer(connection)

        began = time.time()
        answers, wakings = probe(ask, seconds, time.perf_counter, time.sleep)
        return Probed(began, time.time(), answers, wakings)


def tell_probed() -> int:
    """Print what the command line asks for."""
    print(json.dumps(asdict(probe_health(int(sys.argv[1]), float(sys.argv[2])))))
    return 0


def _receive_answer(connection: socket.socket) -> None:
    """Read one answer to its end; ConnectionError where it is not a 200."""
    received = b""
    while (head_end := received.find(b"\r\n\r\n")) < 0:
        received += _some(connection)
    head = received[:head_end].lower()
    if not head.startswith(b"http/1.1 200"):
        raise ConnectionError(f"not a 200: {head[:60]!r}")
    length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(received) < head_end + 4 + length:
        received += _some(connection)


def _some(connection: socket.socket) -> bytes:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionError("the server closed the connection")
    return chunk


class Probe:
    """A probing process that runs beside the caller; owner of that process."""

    def __init__(self, port: int, seconds: float) -> None:
        command = [sys.executable, "-m", "bench.probe", str(port), str(seconds)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self._told: str | None = None

    def has_ended_within(self, seconds: float) -> bool:
        """Wait at most so long for the probing to end."""
        try:
            self._told, _ = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def probed(self) -> Probed:
        """What was found, once the probing has ended; RuntimeError where it failed."""
        told = self._process.communicate()[0] if self._told is None else self._told
        if self._process.returncode:
            raise RuntimeError("the probe of /health failed")
        return Probed(**json.loads(told))


if __name__ == "__main__":
    end(tell_probed)
