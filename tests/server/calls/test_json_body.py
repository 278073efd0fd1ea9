"""A JSON body is read once; of what is refused only what comes with its head."""

import asyncio
from collections.abc import Mapping

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from server.calls.json_body import JsonBody
from server.errors import BodyTooLarge
from server.limits import MAX_JSON_BYTES, Limits

LENGTH = {"content-length": "3"}


class Sending:
    """A client's body, in the pieces in which it comes; then the client waits, or has gone."""

    def __init__(self, *pieces: bytes, is_gone: bool = False) -> None:
        self._pieces = list(pieces)
        self._is_gone = is_gone
        self.asked = 0

    async def __call__(self) -> Message:
        self.asked += 1
        if self._pieces:
            body = self._pieces.pop(0)
            return {"type": "http.request", "body": body, "more_body": body == b"a"}
        if not self._is_gone:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}


def body_of(sending: Sending, headers: Mapping[str, str], seconds: float = 5.0) -> JsonBody:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return JsonBody(Request({"type": "http", "headers": raw}, sending), Limits(), seconds)


def test_it_is_read_once() -> None:
    sending = Sending(b"a", b"bc")
    body = body_of(sending, LENGTH)

    async def inner() -> tuple[bytes, bytes, bytes]:
        return await body.read(), await body.read(), await body.soon()

    assert (asyncio.run(inner()), sending.asked) == ((b"abc", b"abc", b"abc"), 2)


def test_what_comes_with_the_head_of_a_refused_request_is_read() -> None:
    assert asyncio.run(body_of(Sending(b"a", b"bc"), LENGTH).soon()) == b"abc"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-length": "0"},
        {"content-length": str(64 * 1024 + 1)},
        {**LENGTH, "expect": "100-continue"},
    ],
    ids=["no length", "empty", "large", "waiting for leave"],
)
def test_nothing_else_is_asked_for(headers: dict[str, str]) -> None:
    sending = Sending(b"abc")
    assert (asyncio.run(body_of(sending, headers).soon()), sending.asked) == (b"", 0)


@pytest.mark.parametrize("is_gone", [False, True], ids=["late", "gone"])
def test_what_does_not_come_is_not_waited_for(is_gone: bool) -> None:
    body = body_of(Sending(b"a", is_gone=is_gone), LENGTH, seconds=0.01)
    assert asyncio.run(body.soon()) == b""


def test_what_could_not_be_read_is_not_read_again() -> None:
    sending = Sending(is_gone=True)
    body = body_of(sending, LENGTH)

    async def inner() -> bytes:
        with pytest.raises(ClientDisconnect):
            await body.read()
        return await body.soon()

    assert (asyncio.run(inner()), sending.asked) == (b"", 1)


def test_what_is_too_large_is_told() -> None:
    with pytest.raises(BodyTooLarge):
        asyncio.run(body_of(Sending(), {"content-length": str(MAX_JSON_BYTES + 1)}).read())
