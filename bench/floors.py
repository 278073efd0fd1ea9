"""What this machine can do at all: copying, writing, sending, answering. Measured first, used by the others.

`python -m bench.floors [--full]`. Answers are probed as the product's are: on a fixed schedule, each timed from the
instant it was planned for (`bench.probe`).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.probe import METHOD, Probe
from bench.processes import MEGABYTE, Server, announced
from bench.report import Row, begin, end, is_full, percentile

SLICE_BYTES = 1 << 20


@contextmanager
def bare(kind: str, file: Path, busy: bool = False) -> Iterator[Server]:
    """A bare server process of `bench.bare` over a file."""
    arguments = ["-m", "bench.bare", kind, str(file), *(["--busy"] if busy else [])]
    with announced(arguments, {}) as server:
        yield server


def random_file(directory: Path, size: int) -> Path:
    """A file of `size` bytes, read once so that the page cache holds it."""
    path = directory / "random.bin"
    block = os.urandom(SLICE_BYTES)
    with path.open("wb") as file:
        for start in range(0, size, SLICE_BYTES):
            file.write(block[: size - start])
    return path


def transfer_rate(server: Server, path: str, limit_seconds: float = 5.0) -> float:
    """MB/s of reading one answer, to its end or for so many seconds; head and body count alike."""
    buffer = bytearray(SLICE_BYTES)
    with server.connect() as connection:
        started = time.perf_counter()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        received = 0
        while count := connection.recv_into(buffer):
            received += count
            if time.perf_counter() - started > limit_seconds:
                break
        if received < SLICE_BYTES:
            raise RuntimeError(f"{path} answered only {bytes(buffer[:200])!r}")
        return received / MEGABYTE / (time.perf_counter() - started)


def copy_rate(size: int = 128 << 20) -> float:
    """MB/s of copying memory, source and target larger than any cache."""
    source = np.ones(size, np.uint8)
    target = np.full_like(source, 0)  # touched, so that no page is first given out while copying
    started = time.perf_counter()
    np.copyto(target, source)
    return size / MEGABYTE / (time.perf_counter() - started)


def write_rate(directory: Path, size: int = 64 << 20) -> float:
    """MB/s of writing a file in slices and having it on the disk."""
    path, block = directory / "written.bin", os.urandom(SLICE_BYTES)
    started = time.perf_counter()
    with path.open("wb") as file:
        for _ in range(size // SLICE_BYTES):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    seconds = time.perf_counter() - started
    path.unlink()
    return size / MEGABYTE / seconds


def main() -> int:
    """Measure every floor."""
    rounds, probe_seconds = (7, 20.0) if is_full(__doc__ or "") else (3, 5.0)
    report = begin("floors", f"answers by {METHOD}")
    with TemporaryDirectory() as folder:
        directory = Path(folder)
        file = random_file(directory, 200 << 20)
        with bare("socket", file) as idle, bare("app", file) as app:
            samples = {
                "memory copy": [copy_rate() for _ in range(rounds)],
                "fsynced write": [write_rate(directory) for _ in range(rounds)],
                "pread to socket, idle": [transfer_rate(idle, "/file") for _ in range(rounds)],
            }
            health = Probe(app.port, probe_seconds).probed().answers
        with bare("socket", file, busy=True) as busy:
            samples["pread to socket, busy"] = [transfer_rate(busy, "/file") for _ in range(rounds)]
    rows = [Row(name, max(rates), "MB/s") for name, rates in samples.items()]
    rows += [
        Row(f"bare answer, p{share * 100:g}", percentile(health, share), "ms") for share in (0.5, 0.99, 0.999)
    ]
    return report.conclude(rows, {**samples, "bare answer": health})


if __name__ == "__main__":
    end(main)
