"""A client that waits its turn: one logical call makes one job, whatever the connection does."""

import json
import random as chance
import secrets
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import httpx2
from pydantic import JsonValue

from server.client.answers import JobUpdate, Submission, read_object, read_submission, read_update
from server.client.connection import TRANSFER_SECONDS, Connection
from server.client.download import Download, Part, Sink, changed
from server.client.errors import JobCancelled, JobFailed, ResultChanged
from server.client.forms import form
from server.client.patience import OnWait, Patience, Surroundings

LONG_POLL_SECONDS = 45.0
LEAST_POLL_SECONDS = 0.5  # between two looks, should a server not hold long polls
RECONNECT_SECONDS = 120.0
CANCEL_SECONDS = 5.0


def silently(seconds: float, reason: str) -> None:
    """An `on_wait` that tells nobody."""


class Client:
    """Owner of the connections to one server; for one thread.

    Busy servers (429, 503 `shutting_down`) are waited for without end, telling `on_wait(seconds, reason)` each time;
    broken connections are bridged for `reconnect_seconds`, but a server that cannot be connected to at the very first
    is given up at once. A full result store (507) raises Refused at once.
    """

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        transport: httpx2.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = chance.random,
        nonce: Callable[[], str] = secrets.token_hex,
        on_wait: OnWait = silently,
        reconnect_seconds: float = RECONNECT_SECONDS,
    ) -> None:
        self._connection = Connection(base_url, key, transport)
        self._status_path = "/status" if key else "/health"
        self._surroundings = Surroundings(clock, sleep, random)
        self._nonce = nonce
        self._on_wait = on_wait
        self._reconnect_seconds = reconnect_seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()

    def submit(self, operation_path: str, payload: Mapping[str, JsonValue]) -> Submission:
        """Have a job accepted, such as `submit("/synth", {"style": "folk"})`; Refused, Unreachable, BadAnswer.

        Every sending carries the same Idempotency-Key and the same bytes. Only that makes it right to send again
        after a connection broke and nobody knows whether the job was accepted.
        """
        return self._submit(operation_path, json.dumps(payload).encode(), "application/json")

    def upload(
        self, operation_path: str, payload: Mapping[str, JsonValue], field: str, filename: str, file: bytes
    ) -> Submission:
        """As `submit`, with a file in the form's field of that name; the payload is its part `request`."""
        sent = form(payload, field, filename, file, secrets.token_hex(16))
        return self._submit(operation_path, sent.content, sent.content_type)

    def look(self, id: str, wait_seconds: float = 0.0) -> JobUpdate:
        """The job as it is, after at most `wait_seconds` of waiting for news; JobLost, Unreachable."""
        return self._look(id, wait_seconds, self._patience())

    def follow(
        self, id: str, on_update: Callable[[JobUpdate], None], wait_seconds: float = LONG_POLL_SECONDS
    ) -> JobUpdate:
        """Tell `on_update` of the job until it is done; its last state. JobFailed, JobCancelled, JobLost, Unreachable."""
        patience = self._patience()
        clock, sleep = self._surroundings.clock, self._surroundings.sleep
        while True:
            asked_at = clock()
            update = self._look(id, wait_seconds, patience)
            on_update(update)
            if update.ended:
                return _succeeded(update)
            sleep(max(0.0, asked_at + LEAST_POLL_SECONDS - clock()))

    def cancel(self, id: str) -> str:
        """Ask for a job to be stopped; its status as it then is. JobLost, Unreachable."""
        request = self._connection.request("POST", "/job", params={"id": id, "cancel": "1"})
        return read_update(self._connection.ask(request, self._patience(CANCEL_SECONDS))).status

    def download(self, id: str, part: Part, sink: Sink) -> Download:
        """Write one part of a result to the sink, in slices; JobLost, Refused, ResultChanged, Unreachable.

        After a broken connection only the missing bytes are asked for, and only of the very same body.
        """
        patience = self._patience()
        download = Download(sink)
        while not download.complete:
            request = self._connection.request(
                "GET", "/job", params=part.params(id), headers=download.headers()
            )
            received = download.received
            try:
                self._fetch(request, download, patience)
            except httpx2.TransportError as error:
                if download.received > received:
                    patience.connected()
                self._connection.bridge(error, patience)
        return download

    def props(self) -> dict[str, JsonValue]:
        """What the server offers: models, voices, limits; asked for once. Refused, Unreachable, BadAnswer."""
        request = self._connection.request("GET", "/props")
        return read_object(self._connection.ask(request, self._patience(0.0)))

    def status(self) -> dict[str, JsonValue]:
        """The status snapshot, asked for once; Unreachable where the server does not answer.

        Where there is a key it is asked for where keys are checked, so that a wrong one is told (Refused).
        """
        request = self._connection.request("GET", self._status_path)
        return read_object(self._connection.ask(request, self._patience(0.0)))

    def _submit(self, operation_path: str, body: bytes, content_type: str) -> Submission:
        key = self._nonce()
        headers = {"Content-Type": content_type, "Idempotency-Key": key}
        request = self._connection.request("POST", operation_path, content=body, headers=headers)
        return read_submission(self._connection.ask(request, self._patience()), key)

    def _look(self, id: str, wait_seconds: float, patience: Patience) -> JobUpdate:
        params = {"id": id, "wait": f"{wait_seconds:g}"} if wait_seconds else {"id": id}
        request = self._connection.request("GET", "/job", params=params)
        request.extensions["timeout"]["read"] = wait_seconds + TRANSFER_SECONDS
        return read_update(self._connection.ask(request, patience))

    def _fetch(self, request: httpx2.Request, download: Download, patience: Patience) -> None:
        with self._connection.stream(request) as response:
            if response.is_success:
                download.absorb(response)
                return
            response.read()
        if changed(response):
            raise ResultChanged("The result is not the one whose download began; download it again.")
        self._connection.settled(response, patience)

    def _patience(self, limit_seconds: float | None = None) -> Patience:
        limit = self._reconnect_seconds if limit_seconds is None else limit_seconds
        return Patience(self._surroundings, limit, self._on_wait)


def _succeeded(update: JobUpdate) -> JobUpdate:
    if update.status == "failed":
        raise JobFailed(update.error or "The job failed; the server's log says why.", update.code or "")
    if update.status == "cancelled":
        raise JobCancelled("The job was cancelled.")
    return update
