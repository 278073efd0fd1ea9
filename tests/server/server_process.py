"""A real server process for tests: started on a free port, spoken to over HTTP, stopped or killed at the end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

PATIENCE_SECONDS = 20.0


class ServerProcess:
    """One `server-check` process over `directory`; owns the process and one HTTP client."""

    def __init__(self, directory: Path, *options: str, environ: Mapping[str, str] | None = None) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("YUE2_")}
        self._log = (directory.parent / f"{directory.name}.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.server.server_check", "--directory", str(directory), *options],
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=inherited | dict(environ or {}),
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.url = line.removeprefix("listening ").strip()
        self.client = httpx2.Client(base_url=self.url, timeout=30, trust_env=False)
        if not line.startswith("listening "):
            self.stop()
            raise AssertionError(f"the server did not start: {self.log_text()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> tuple[str, int]:
        """Where raw sockets connect to."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def log_text(self) -> str:
        """What the process has logged so far."""
        return Path(self._log.name).read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the process by a signal and wait for it; its exit status. Safe to repeat."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.client.close()
        self._log.close()
        return status

    def submit(self, mode: str = "write", seconds: float = 0.0, size: int = 1000, key: str = "") -> str:
        """Queue a check and give its id."""
        headers = {"Idempotency-Key": key} if key else {}
        payload = {"mode": mode, "seconds": seconds, "bytes": size}
        answer = self.client.post("/check", json=payload, headers=headers)
        assert answer.status_code in (200, 202), answer.text
        return str(answer.json()["id"])

    def job(self, job_id: str, wait: float = 0) -> dict[str, Any]:
        """A job's state, after waiting for its end; `http` is the status of the answer."""
        params = {"id": job_id} | ({"wait": str(wait)} if wait else {})
        answer = self.client.get("/job", params=params)
        return {"http": answer.status_code, **answer.json()}

    def finish(self, job_id: str) -> dict[str, Any]:
        """The job at its end."""
        return self.job(job_id, wait=20)

    def running(self, job_id: str) -> None:
        """Return once the job runs."""
        self.until(lambda: self.job(job_id)["status"] != "queued")

    def cancel(self, job_id: str) -> str:
        """Cancel; the state as it then is."""
        return str(self.client.post("/job", params={"id": job_id, "cancel": "1"}).json()["status"])

    def status(self) -> dict[str, Any]:
        """The snapshot."""
        answer = self.client.get("/status")
        assert answer.status_code == 200
        return dict(answer.json())

    def advance(self, seconds: float) -> list[str]:
        """Move the server's clock; what an audit of the volume then finds amiss."""
        answer = self.client.post("/check/clock", json={"seconds": seconds})
        return list(answer.json()["audit"])

    def until(self, condition: Callable[[], bool]) -> None:
        """Ask until it holds; each question is a request, so no pause is needed."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain; the log says:\n{self.log_text()}"

    @contextmanager
    def socket(self, request: bytes = b"", receive_buffer: int = 0) -> Iterator[socket.socket]:
        """A raw connection that has sent `request`."""
        raw = socket.socket()
        try:
            if receive_buffer:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            raw.settimeout(PATIENCE_SECONDS)
            raw.connect(self.address)
            raw.sendall(request)
            yield raw
        finally:
            raw.close()

    def events(self, job_id: str) -> list[dict[str, Any]]:
        """Every event of a job's stream, read to its end."""
        with self.client.stream("GET", "/job/events", params={"id": job_id}) as stream:
            return [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
