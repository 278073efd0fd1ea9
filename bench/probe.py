"""A process of its own that asks for /health in turn and prints how long each answer took, as JSON.

`python -m bench.probe PORT SECONDS`: one keep-alive connection, 3 ms of pause between requests.
"""

import json
import socket
import subprocess
import sys
import time

from bench.processes import ROOT
from bench.report import end

REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
PAUSE_SECONDS = 0.003


def latencies(port: int, seconds: float) -> list[float]:
    """Milliseconds of each answer, in order."""
    samples: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadline = time.perf_counter() + seconds
        while (asked_at := time.perf_counter()) < deadline:
            connection.sendall(REQUEST)
            _receive_answer(connection)
            samples.append((time.perf_counter() - asked_at) * 1e3)
            time.sleep(PAUSE_SECONDS)
    return samples


def told_latencies() -> int:
    """Print what the command line asks for."""
    print(json.dumps(latencies(int(sys.argv[1]), float(sys.argv[2]))))
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

    def samples(self) -> list[float]:
        """Milliseconds of each answer, once the probing has ended; RuntimeError where it failed."""
        answer, _ = self._process.communicate()
        if self._process.returncode:
            raise RuntimeError("the probe of /health failed")
        return [float(sample) for sample in json.loads(answer)]


if __name__ == "__main__":
    end(told_latencies)
