"""What an answer that brings bytes means."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from server.commands.hub_errors import HubRefused, HubUnreachable
from server.commands.source_answers import BrokenTransfer, Origin, body_of, headers_for, reason_of

ORIGIN = Origin("source.example", "It is another thing.", lambda status: f"Refused with {status}.")


@contextmanager
def answering(status: int, content: bytes = b"") -> Iterator[httpx2.Response]:
    yield httpx2.Response(status, stream=httpx2.ByteStream(content))


@pytest.mark.parametrize(
    ("status", "offset", "expected"), [(200, 4, (0, b"bytes")), (206, 4, (4, b"bytes")), (416, 9, (0, b""))]
)
def test_where_the_bytes_begin(status: int, offset: int, expected: tuple[int, bytes]) -> None:
    with body_of(lambda: answering(status, b"bytes"), offset, ORIGIN) as body:
        assert (body.offset, b"".join(body.chunks)) == expected


@pytest.mark.parametrize(
    ("status", "error", "sentence"),
    [(503, BrokenTransfer, "source.example answers 503."), (404, HubRefused, "Refused with 404.")],
)
def test_other_answers_are_errors(status: int, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence), body_of(lambda: answering(status), 0, ORIGIN):
        pass


def test_a_connection_that_breaks_while_it_is_read_may_be_asked_again() -> None:
    with (
        pytest.raises(BrokenTransfer, match=r"to source\.example broke \(gone\)"),
        body_of(lambda: answering(200), 0, ORIGIN),
    ):
        raise httpx2.ReadError("gone.")


@pytest.mark.parametrize("error", [httpx2.UnsupportedProtocol("ftp"), httpx2.TooManyRedirects("round")])
def test_another_thing_at_the_address_is_told(error: httpx2.RequestError) -> None:
    with (
        pytest.raises(HubUnreachable, match="It is another thing"),
        body_of(lambda: answering(200), 0, ORIGIN),
    ):
        raise error


def test_only_what_is_missing_is_asked_for() -> None:
    assert "Range" not in headers_for(0)
    assert headers_for(10)["Range"] == "bytes=10-"


def test_an_error_without_words_is_named() -> None:
    assert (reason_of(OSError("Odd. ")), reason_of(OSError())) == ("Odd", "OSError")
