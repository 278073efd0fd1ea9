"""Bytes of a package registry."""

from collections.abc import Callable

import httpx2
import pytest

from server.commands.hub_errors import HubRefused, HubUnreachable
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.registry import Registry
from server.commands.source_answers import BrokenTransfer

FILE = RemoteFile("kokoro/-/kokoro.tgz", 10, Digest("sha256", "0" * 64))
LISTING = Listing("kokoro", "1", "1", (FILE,))
Answer = Callable[[httpx2.Request], httpx2.Response]


def fetched(answer: Answer, offset: int = 0) -> tuple[int, bytes]:
    """Offset and bytes of what a registry that answers so gives."""
    registry = Registry("https://registry.example", httpx2.MockTransport(answer))
    try:
        with registry.opened(LISTING, FILE, offset) as body:
            return body.offset, b"".join(body.chunks)
    finally:
        registry.close()


def test_a_file_lies_below_the_address_and_is_not_packed_again() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, stream=httpx2.ByteStream(b"0123456789"))

    assert fetched(answer) == (0, b"0123456789")
    assert str(seen[0].url) == "https://registry.example/kokoro/-/kokoro.tgz"
    assert seen[0].headers["accept-encoding"] == "identity"
    assert "range" not in seen[0].headers


def test_it_is_gone_on_from_an_offset() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        assert request.headers["range"] == "bytes=4-"
        return httpx2.Response(206, stream=httpx2.ByteStream(b"456789"))

    assert fetched(answer, 4) == (4, b"456789")


def test_a_registry_without_ranges_begins_anew() -> None:
    whole = httpx2.Response(200, stream=httpx2.ByteStream(b"0123456789"))
    assert fetched(lambda request: whole, 4) == (0, b"0123456789")
    assert fetched(lambda request: httpx2.Response(416), 11) == (0, b"")


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_registry_may_be_asked_again(status: int) -> None:
    with pytest.raises(BrokenTransfer, match=rf"https://registry\.example answers {status}\."):
        fetched(lambda request: httpx2.Response(status))


def test_a_refusal_is_final() -> None:
    with pytest.raises(HubRefused, match="refuses the archive of kokoro with status 403"):
        fetched(lambda request: httpx2.Response(403))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.ConnectError("no route"), BrokenTransfer),
        (httpx2.ReadTimeout("late"), BrokenTransfer),
        (httpx2.TooManyRedirects("round"), HubUnreachable),
        (httpx2.UnsupportedProtocol("ftp"), HubUnreachable),
    ],
)
def test_what_breaks_is_told(error: httpx2.RequestError, expected: type[Exception]) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise error

    with pytest.raises(expected, match=r"registry\.example"):
        fetched(answer)
