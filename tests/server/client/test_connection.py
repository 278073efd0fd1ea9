"""Addresses and keys that cannot be used."""

import httpx2
import pytest

from server.client.connection import Connection
from server.client.errors import BadAddress


@pytest.mark.parametrize("address", ["", "studio", "ftp://studio.test", "http://", "http://a:port"])
def test_an_address_that_cannot_be_used_is_told_at_once(address: str) -> None:
    with pytest.raises(BadAddress, match="give one like http://127"):
        Connection(address, "", None)


def test_a_key_with_a_line_break_is_told_at_once() -> None:
    with pytest.raises(BadAddress, match="copy it again"):
        Connection("http://studio.test", "abc\n", None)


def test_the_key_travels_as_a_bearer() -> None:
    connection = Connection("http://studio.test/", "abc", None)
    request = connection.request("GET", "/health")
    connection.close()
    assert request.headers["authorization"] == "Bearer abc"
    assert str(request.url) == "http://studio.test/health"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (httpx2.ConnectError("refused"), "Cannot connect to http://studio.test."),
        (httpx2.ReadTimeout("slow"), "http://studio.test did not answer in time."),
        (httpx2.ReadError("reset"), "The connection to http://studio.test broke."),
    ],
)
def test_broken_connections_are_described(error: httpx2.TransportError, sentence: str) -> None:
    connection = Connection("http://studio.test", "", None)
    connection.close()
    assert connection.describe(error) == sentence
