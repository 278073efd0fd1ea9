"""The way of a submission through the edge: the gate, the body, the check, the gate again, the answer."""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from typing import Final, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from server.admission import Admissions, Admitted, Gate, Prepare, check_idempotency_key
from server.bodies import check_declared_size, declared_size, read_json_object
from server.job_book import JobBook, fields_of
from server.limits import MAX_JSON_BYTES, Limits
from server.query import check_query
from server.responses import json_response
from server.work import Prepared
from storage.growth import nobody

SUBMISSION: Final = ("id", "status", "queue_position", "eta_seconds", "eta_source", "notes")
Asked = TypeVar("Asked")
Read = Callable[[ExitStack], Awaitable[Prepare]]
"""Reads a body; what it has to hold until the submission is decided goes on the stack."""


class Submissions:
    """Takes submissions of every kind; holds no state. `use` is told of each job whose handle was given away again."""

    def __init__(
        self, gate: Gate, book: JobBook, limits: Limits, use: Callable[[str], object] = nobody
    ) -> None:
        self._gate = gate
        self._admissions = Admissions(gate, limits)
        self._book = book
        self._limits = limits
        self._use = use

    async def submit(
        self, request: Request, max_bytes: int, read: Read, *, is_upload: bool = False
    ) -> Response:
        """Refuse by header and room, before the body is read, then by what it says; else queue it and answer 202.

        An upload is what stays in memory until its job has ended. A known Idempotency-Key is answered with its
        earlier job.
        """
        check_declared_size(request.headers, max_bytes)
        input_bytes = declared_size(request.headers) if is_upload else 0
        with self._gate.counted():
            admitted = await self._admitted(request, input_bytes, read)
        return self._answer(admitted, request.state.owner)

    async def _admitted(self, request: Request, input_bytes: int, read: Read) -> Admitted:
        owner, sent_key = request.state.owner, request.headers.get("idempotency-key")
        self._gate.check(owner, sent_key or "", input_bytes)
        key = check_idempotency_key(sent_key)
        with ExitStack() as held:
            prepare = await read(held)
            present = partial(_check_present, request)
            return await self._admissions.admit(owner, key, input_bytes, prepare, present)

    async def submit_json(
        self, request: Request, read: Callable[[object], Asked], prepare: Callable[[Asked], Prepared]
    ) -> Response:
        """As `submit`, of a body that is one JSON object, which `read` takes."""

        async def read_body(held: ExitStack) -> Prepare:
            check_query(request)
            payload = await read_json_object(request, self._limits)
            return lambda: prepare(read(payload))

        return await self.submit(request, MAX_JSON_BYTES, read_body)

    def _answer(self, admitted: Admitted, owner: str) -> Response:
        if admitted.queued is not None:
            queued = fields_of(admitted.queued)
            return json_response({name: queued[name] for name in SUBMISSION}, status=202)
        self._use(admitted.job_id)
        job = self._book.describe(admitted.job_id, owner)
        answer = {name: job[name] for name in SUBMISSION}
        return json_response(answer, headers={"Idempotent-Replay": "true"})


async def _check_present(request: Request) -> None:
    """Raise ClientDisconnect where the client has gone meanwhile: what it asked for is not begun."""
    if await request.is_disconnected():
        raise ClientDisconnect
