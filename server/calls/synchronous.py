"""Synchronous calls: a request that makes a job, waits for it and carries the result away.

The way of one: refused early by its headers, the room and the places; its body read; its job found, where it is a
retry, or made; a place held until its answer has been sent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from server.admission import Gate, check_idempotency_key
from server.bodies import (
    INLINE_BYTES,
    check_declared_size,
    check_json_type,
    declared_size,
    parse_object,
    read_bounded,
)
from server.calls.call import Call, Deadline, Surroundings
from server.calls.deadline import ANNOUNCED_IN, patience
from server.calls.fingerprints import attempts_before, fingerprint
from server.calls.places import Place, Places
from server.calls.recent import RecentCalls
from server.connection import ACCEPTED_JOB
from server.errors import TooManySynchronous
from server.limits import MAX_JSON_BYTES
from server.responses import Presence
from server.submission import Prepare
from server.watch import Watch
from server.work import Prepared
from storage.entry import JSON
from storage.errors import EntryExpired, UnknownEntry

Asked = TypeVar("Asked")
Answer = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Sent:
    """What a route has read of a request.

    `marks` tell it from other requests of its path: the body, or what of it counts. `prepare` runs in the pool, where
    the call is no retry; `answer` makes the response of the accepted call.
    """

    marks: tuple[bytes | memoryview, ...]
    prepare: Prepare
    answer: Answer


Read = Callable[[ExitStack], Awaitable[Sent]]
"""Reads a body; what it has to hold until the job is accepted goes on the stack."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One request of a call, as its headers tell of it."""

    request: Request
    owner: str
    key: str
    is_retry: bool
    input_bytes: int


class SynchronousCalls:
    """Takes synchronous calls of every kind. Owner of the places they hold; lives on the event loop."""

    def __init__(
        self, gate: Gate, watch: Watch, recent: RecentCalls, around: Surroundings, deadline_seconds: float
    ) -> None:
        self._gate = gate
        self._watch = watch
        self._recent = recent
        self._around = around
        self._book, self._limits = around.book, around.limits
        self._attendance = around.attendance
        self._places = Places(around.limits.synchronous)
        self._deadline_seconds = deadline_seconds

    async def answer(
        self, request: Request, max_bytes: int, read: Read, *, is_upload: bool = False
    ) -> Response:
        """The response that does all of it, so that whatever it holds is given back when it ends.

        An upload is what stays in memory until its job has ended.
        """
        input_bytes = declared_size(request.headers) if is_upload else 0
        return _Whole(partial(self._serve, request, max_bytes, read, input_bytes))

    async def answer_json(
        self,
        request: Request,
        read: Callable[[dict[str, JSON]], Asked],
        prepare: Callable[[Asked], Prepared],
        answer: Callable[[Call, Asked], Awaitable[Response]],
    ) -> Response:
        """As `answer`, of a body that is one JSON object, which `read` takes; both it and `prepare` run in the pool."""

        async def read_body(held: ExitStack) -> Sent:
            check_json_type(request.headers.get("content-type", ""))
            body = await read_bounded(request, MAX_JSON_BYTES, self._limits)
            async with self._limits.preparing():
                asked = await self._limits.run(lambda: read(parse_object(body)))
            return Sent((body,), lambda: prepare(asked), lambda call: answer(call, asked))

        return await self.answer(request, MAX_JSON_BYTES, read_body)

    async def _serve(
        self, request: Request, max_bytes: int, read: Read, input_bytes: int, exchange: "_Exchange"
    ) -> None:
        """One request from its headers to the last byte of its answer."""
        deadline = self._deadline(request)
        with self._gate.counted():
            attempt = self._refuse_early(request, max_bytes, input_bytes)
        async with AsyncExitStack() as stack:
            with self._gate.counted():
                client, accepted = await self._accepted(attempt, read, exchange, stack)
            stack.callback(self._leave, accepted.job_id, attempt.owner, exchange)
            changed = stack.enter_context(self._watch.subscribe(accepted.job_id))
            client.when_gone(changed.set)
            call = Call(accepted.job_id, request, client, changed, deadline, self._around, stack)
            try:
                response = await accepted.answer(call)
                await response(exchange.scope, client.receive, exchange.send)
            except ClientDisconnect:
                # Where a later attempt has taken its place, the client of this one may still be there to be told.
                if not accepted.place.is_lost:
                    raise
            if accepted.place.is_lost and not exchange.is_complete:
                raise TooManySynchronous(self._limits.synchronous.what, self._limits.synchronous.total)

    def _leave(self, job_id: str, owner: str, exchange: "_Exchange") -> None:
        """Leave nothing to be given up where all is answered, or the job has ended."""
        if exchange.is_complete or not self._book.is_live(job_id, owner):
            self._attendance.answered(job_id)

    def _deadline(self, request: Request) -> Deadline:
        seconds = patience(self._deadline_seconds, *(request.headers.get(name) for name in ANNOUNCED_IN))
        return Deadline(asyncio.get_running_loop().time() + seconds, seconds)

    def _refuse_early(self, request: Request, max_bytes: int, input_bytes: int) -> _Attempt:
        """Refuse what there is no room for, before its body is read; a retry may have its job already, and passes."""
        owner, sent_key = request.state.owner, request.headers.get("idempotency-key")
        check_declared_size(request.headers, max_bytes)
        is_retry = attempts_before(request.headers) > 0
        if not (is_retry or self._gate.job_of_key(owner, sent_key or "")):
            self._places.check()
            self._gate.check(owner, "", input_bytes)
        return _Attempt(request, owner, check_idempotency_key(sent_key), is_retry, input_bytes)

    async def _accepted(
        self, attempt: _Attempt, read: Read, exchange: "_Exchange", stack: AsyncExitStack
    ) -> tuple[Presence, "_Accepted"]:
        """The client, and the call once it has a job and a place; both stay on the stack, the body does not."""
        with ExitStack() as held:
            sent = await read(held)
            client = Presence(exchange.receive)
            stack.callback(client.close)
            accept = self._accept_keyed if attempt.key else self._accept_marked
            place = await accept(attempt, sent, client, stack)
        place.on_loss = client.end
        exchange.scope["state"][ACCEPTED_JOB] = place.job_id
        return client, _Accepted(place.job_id, place, sent.answer)

    async def _accept_marked(
        self, attempt: _Attempt, sent: Sent, client: Presence, stack: AsyncExitStack
    ) -> Place:
        """Find the job of a retry by what it sent, or make one."""
        mark = await self._fingerprint(attempt, sent)
        async with self._recent.claimed(mark):
            known = self._known(mark, attempt)
            if known:
                stack.enter_context(self._attendance.attend(known))
                place = stack.enter_context(self._places.taken(known))
                place.job_id = known
            else:
                place = stack.enter_context(self._places.taken())
                await self._admit(attempt, sent, client, place, stack)
                self._recent.remember(mark, place.job_id)
            stack.enter_context(self._recent.attempt(mark, place.job_id))
        return place

    async def _accept_keyed(
        self, attempt: _Attempt, sent: Sent, client: Presence, stack: AsyncExitStack
    ) -> Place:
        """Find the job of the key, or make one; of a known key, that it asks for the same is checked too."""
        known = self._gate.job_of_key(attempt.owner, attempt.key)
        if known:
            stack.enter_context(self._attendance.attend(known))
        place = stack.enter_context(self._places.taken(known if attempt.is_retry else ""))
        await self._admit(attempt, sent, client, place, stack)
        return place

    def _known(self, mark: str, attempt: _Attempt) -> str:
        """The job that a retry is to find; empty where there is none, or its result is there no more."""
        job_id = self._recent.find(mark) if attempt.is_retry else None
        if job_id is None:
            return ""
        try:
            self._book.entry(job_id, attempt.owner)
        except (UnknownEntry, EntryExpired):
            return ""
        return job_id

    async def _admit(
        self, attempt: _Attempt, sent: Sent, client: Presence, place: Place, stack: AsyncExitStack
    ) -> None:
        """Give the place its job, which the client attends from now on."""

        def checked() -> Prepared:
            # Again: others may have been faster while this one waited its turn.
            self._gate.check(attempt.owner, attempt.key, attempt.input_bytes)
            return sent.prepare()

        async with self._limits.preparing():
            _check_present(client)
            prepared = await self._limits.run(checked)
        async with self._limits.keyed if attempt.key else nullcontext():
            _check_present(client)
            admitted = await self._limits.run(lambda: self._gate.admit(prepared, attempt.owner, attempt.key))
        place.job_id = admitted.job_id
        if admitted.queued is not None:
            self._attendance.expect(admitted.job_id, attempt.owner)
        stack.enter_context(self._attendance.attend(admitted.job_id))

    async def _fingerprint(self, attempt: _Attempt, sent: Sent) -> str:
        scope, marks = attempt.request.scope, sent.marks
        path_and_query = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"

        def digest() -> str:
            return fingerprint(attempt.owner, scope["method"], path_and_query, marks)

        is_large = sum(len(mark) for mark in marks) > INLINE_BYTES
        return await self._limits.run(digest) if is_large else digest()


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A call with its job and its place."""

    job_id: str
    place: Place
    answer: Answer


@dataclass(slots=True)
class _Exchange:
    """The ASGI channels of one request; owner of whether its answer is all sent."""

    scope: Scope
    receive: Receive
    forward: Send
    is_complete: bool = False

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        await self.forward(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True


class _Whole(Response):
    """A response that begins with reading the request."""

    def __init__(self, serve: Callable[[_Exchange], Awaitable[None]]) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the call. Raises what it is refused or fails with."""
        await self._serve(_Exchange(scope, receive, send))


def _check_present(client: Presence) -> None:
    """Raise ClientDisconnect where the client has gone meanwhile: what it asked for is not begun."""
    if client.has_gone:
        raise ClientDisconnect
