"""What a request says of itself, and what becomes of its answer."""

import asyncio
from collections.abc import Mapping

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Scope

from server.calls.exchange import CallExchange
from server.calls.repetition import Attempt
from server.connection import ABORT
from tests.server.recorded import Recorded

START: Message = {"type": "http.response.start", "status": 200, "headers": []}
PIECE: Message = {"type": "http.response.body", "body": b"one", "more_body": True}
END: Message = {"type": "http.response.body", "body": b""}


class Told(CallExchange):
    """An exchange in memory, with what it has sent and whether its connection was ended."""

    def __init__(
        self,
        headers: Mapping[str, str] | None = None,
        query: bytes = b"",
        method: str = "POST",
        owner: str = "ann",
    ) -> None:
        self.recorded, self.aborted = Recorded(), 0
        raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        scope: Scope = {
            "type": "http",
            "method": method,
            "path": "/v1/music",
            "query_string": query,
            "headers": raw,
            "state": {"owner": owner, ABORT: self._abort},
        }
        super().__init__(Request(scope), 7, 0, scope, self._receive, self._record)

    def _abort(self) -> None:
        self.aborted += 1

    async def _record(self, message: Message) -> None:
        self.recorded.sent.append(message)

    async def _receive(self) -> Message:
        return {"type": "http.disconnect"}


def test_its_headers_say_which_attempt_it_is() -> None:
    assert Told().attempt == Attempt(7, is_retry=False)
    told = Told({"x-stainless-retry-count": "2", "idempotency-key": "k"})
    assert (told.attempt, told.key, told.owner) == (Attempt(7, is_retry=True), "k", "ann")


@pytest.mark.parametrize(
    "other",
    [
        Told({"content-length": "11"}),
        Told({"content-length": "10"}, query=b"output_format=pcm_48000"),
        Told({"content-length": "10"}, method="PUT"),
        Told({"content-length": "10"}, owner="bob"),
        Told(),
    ],
    ids=["length", "query", "method", "owner", "no length"],
)
def test_its_head_tells_it_from_others(other: Told) -> None:
    assert other.look != Told({"content-length": "10"}).look == Told({"content-length": "10"}).look


def test_its_job_is_told_to_the_edge() -> None:
    told = Told()
    assert told.job_id == ""
    told.accept("job")
    assert (told.job_id, told.scope["state"]["accepted_job"]) == ("job", "job")


def test_it_knows_how_far_its_answer_is() -> None:
    told, seen = Told(), []

    async def answer() -> None:
        for message in (START, PIECE, END):
            seen.append((told.has_begun, told.is_complete))
            await told.send(message)

    asyncio.run(answer())
    assert [*seen, (told.has_begun, told.is_complete)] == [
        (False, False),
        (True, False),
        (True, False),
        (True, True),
    ]


def test_what_was_cut_before_it_began_leaves_room_for_an_error() -> None:
    told = Told()
    told.cut()
    with pytest.raises(ClientDisconnect):
        asyncio.run(told.send(START))
    assert (told.recorded.sent, told.aborted, told.has_begun) == ([], 0, False)


def test_what_was_cut_on_the_way_is_ended_at_once() -> None:
    told = Told()
    asyncio.run(told.send(START))
    told.cut()
    with pytest.raises(ClientDisconnect):
        asyncio.run(told.send(PIECE))
    assert (told.recorded.sent, told.aborted, told.is_complete) == ([START], 1, False)
