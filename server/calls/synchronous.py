"""Synchronous calls: a request that makes a job, waits for it and carries the result away.

The way of one: refused early by its headers, the room and the places; its body read; its job found, where it is a
retry, or made; a place held until its answer has been sent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.admission import Admissions, Gate, Prepare, check_idempotency_key
from server.bodies import (
    INLINE_BYTES,
    check_declared_size,
    check_json_type,
    declared_size,
    parse_object,
)
from server.calls.call import Call, Deadline, Surroundings
from server.calls.deadline import ANNOUNCED_IN, patience
from server.calls.exchange import CallExchange
from server.calls.fingerprints import fingerprint
from server.calls.json_body import JsonBody
from server.calls.places import Place, Places
from server.calls.recent import RecentCalls
from server.calls.repetition import Relation, relation
from server.errors import TooManySynchronous
from server.limits import MAX_JSON_BYTES
from server.responses import Presence
from server.watch import Watch
from server.work import Prepared
from storage.entry import JSON, EntryState
from storage.errors import EntryExpired, UnknownEntry

Asked = TypeVar("Asked")
Answer = Callable[[Call], Awaitable[Response]]
Channels = tuple[Scope, Receive, Send]


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
        self._admissions = Admissions(gate, around.limits)
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
        return _Whole(partial(self._serve, request, max_bytes, read, input_bytes, None))

    async def answer_json(
        self,
        request: Request,
        read: Callable[[dict[str, JSON]], Asked],
        prepare: Callable[[Asked], Prepared],
        answer: Callable[[Call, Asked], Awaitable[Response]],
    ) -> Response:
        """As `answer`, of a body that is one JSON object, which `read` takes; both it and `prepare` run in the pool."""

        json_body = JsonBody(request, self._limits)

        async def read_body(held: ExitStack) -> Sent:
            check_json_type(request.headers.get("content-type", ""))
            body = await json_body.read()
            async with self._limits.preparing():
                asked = await self._limits.run(lambda: read(parse_object(body)))
            return Sent((body,), lambda: prepare(asked), lambda call: answer(call, asked))

        return _Whole(partial(self._serve, request, MAX_JSON_BYTES, read_body, 0, json_body))

    async def _serve(
        self,
        request: Request,
        max_bytes: int,
        read: Read,
        input_bytes: int,
        body: JsonBody | None,
        channels: Channels,
    ) -> None:
        """One request from its headers to the last byte of its answer."""
        deadline = self._deadline(request)
        exchange = CallExchange(request, self._recent.come(), input_bytes, *channels)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._note_what_came_to_nothing, exchange, body)
            with self._gate.counted():
                self._refuse_early(exchange, max_bytes)
                client, place, answer = await self._accepted(exchange, read, stack)
            stack.push(partial(self._leave, exchange, place))
            changed = stack.enter_context(self._watch.subscribe(place.job_id))
            client.when_gone(changed.set)
            call = Call(place.job_id, request, client, changed, deadline, self._around, stack)
            try:
                response = await answer(call)
                await response(exchange.scope, client.receive, exchange.send)
            except ClientDisconnect:
                # Where a later attempt has taken its place, the client of this one may still be there to be told.
                if not place.is_lost:
                    raise
            if place.is_lost and not exchange.is_complete:
                raise TooManySynchronous(self._limits.synchronous.what, self._limits.synchronous.total)

    async def _note_what_came_to_nothing(self, exchange: CallExchange, body: JsonBody | None) -> None:
        """A first attempt that got no job: its retry is none of an earlier call that sent the same."""
        if exchange.job_id or exchange.key or exchange.attempt.is_retry:
            return
        sent = await body.soon() if body is not None and not exchange.mark else b""
        mark = fingerprint(*exchange.named, (sent,)) if sent else exchange.mark
        self._recent.turned_away.note(mark or exchange.look, exchange.attempt.number)

    def _leave(
        self,
        exchange: CallExchange,
        place: Place,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave nothing to be given up where the job has ended, or the client is told of it by an error."""
        if exchange.is_complete:
            self._recent.answered(exchange.mark, place.job_id)
        is_told = isinstance(error, Exception) and not isinstance(error, ClientDisconnect)
        is_told = is_told and not (exchange.has_begun or place.is_lost)
        if is_told or not self._book.is_live(place.job_id, exchange.owner):
            self._attendance.answered(place.job_id)

    def _deadline(self, request: Request) -> Deadline:
        seconds = patience(self._deadline_seconds, *(request.headers.get(name) for name in ANNOUNCED_IN))
        return Deadline(asyncio.get_running_loop().time() + seconds, seconds)

    def _refuse_early(self, exchange: CallExchange, max_bytes: int) -> None:
        """Refuse what there is no room for, before its body is read; a retry may have its job already, and passes."""
        headers = exchange.request.headers
        check_declared_size(headers, max_bytes)
        if not (exchange.attempt.is_retry or self._gate.job_of_key(exchange.owner, exchange.key)):
            self._gate.check(exchange.owner, "", exchange.input_bytes)
            self._places.check()
        check_idempotency_key(headers.get("idempotency-key"))

    async def _accepted(
        self, exchange: CallExchange, read: Read, stack: AsyncExitStack
    ) -> tuple[Presence, Place, Answer]:
        """The client, and the place with its job; both stay on the stack, the body does not."""
        with ExitStack() as held:
            sent = await read(held)
            client = Presence(exchange.receive)
            stack.callback(client.close)
            accept = self._accept_keyed if exchange.key else self._accept_marked
            place = await accept(exchange, sent, client, stack)

        def lose() -> None:
            exchange.cut()
            client.end()

        place.on_loss = lose
        exchange.accept(place.job_id)
        return client, place, sent.answer

    async def _accept_marked(
        self, exchange: CallExchange, sent: Sent, client: Presence, stack: AsyncExitStack
    ) -> Place:
        """Find the job of a retry by what it sent, or make one."""
        mark = exchange.mark = await self._fingerprint(exchange, sent)
        async with self._recent.claimed(mark):
            known, is_sure = self._known(exchange)
            if known:
                stack.enter_context(self._attendance.attend(known))
                # Who only may be a retry takes nobody's place.
                place = stack.enter_context(self._places.taken(known if is_sure else ""))
                place.job_id = known
            else:
                place = stack.enter_context(self._places.taken())
                await self._admit(exchange, sent, client, place, stack)
                self._recent.remember(mark, place.job_id, exchange.attempt)
            stack.enter_context(self._recent.attempt(mark, place.job_id))
        return place

    async def _accept_keyed(
        self, exchange: CallExchange, sent: Sent, client: Presence, stack: AsyncExitStack
    ) -> Place:
        """Find the job of the key, or make one; of a known key, that it asks for the same is checked too."""
        known = self._gate.job_of_key(exchange.owner, exchange.key)
        if known:
            stack.enter_context(self._attendance.attend(known))
        place = stack.enter_context(self._places.taken(known if exchange.attempt.is_retry else ""))
        await self._admit(exchange, sent, client, place, stack)
        return place

    def _known(self, exchange: CallExchange) -> tuple[str, bool]:
        """The job that this is another attempt at, empty where there is none; whether it is surely a retry of that."""
        call, attempt = self._recent.find(exchange.mark), exchange.attempt
        if call is None:
            return "", False
        try:
            state = self._book.entry(call.job_id, exchange.owner).state
        except (UnknownEntry, EntryExpired):
            return "", False
        if call.is_given_up and state is not EntryState.STORED:
            return "", False
        turned_away = self._recent.turned_away.latest(exchange.mark, exchange.look)
        is_over = call.is_answered or state is EntryState.ENDED
        found = relation(attempt, call.maker, is_over=is_over, turned_away=turned_away)
        if found is Relation.OTHER:
            return "", False
        return call.job_id, attempt.is_retry and found is Relation.SAME

    async def _admit(
        self, exchange: CallExchange, sent: Sent, client: Presence, place: Place, stack: AsyncExitStack
    ) -> None:
        """Give the place its job, which the client attends from now on."""
        present = partial(_check_present, client)
        admitted = await self._admissions.admit(
            exchange.owner, exchange.key, exchange.input_bytes, sent.prepare, present
        )
        place.job_id = admitted.job_id
        if admitted.queued is not None:
            self._attendance.expect(admitted.job_id, exchange.owner)
        stack.enter_context(self._attendance.attend(admitted.job_id))

    async def _fingerprint(self, exchange: CallExchange, sent: Sent) -> str:
        def digest() -> str:
            return fingerprint(*exchange.named, sent.marks)

        is_large = sum(len(mark) for mark in sent.marks) > INLINE_BYTES
        return await self._limits.run(digest) if is_large else digest()


class _Whole(Response):
    """A response that begins with reading the request."""

    def __init__(self, serve: Callable[[Channels], Awaitable[None]]) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the call. Raises what it is refused or fails with."""
        await self._serve((scope, receive, send))


async def _check_present(client: Presence) -> None:
    """Raise ClientDisconnect where the client has gone meanwhile: what it asked for is not begun."""
    if client.has_gone:
        raise ClientDisconnect
