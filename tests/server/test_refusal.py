import json
import logging

import pytest

from server.edge import SECURITY_HEADERS
from server.errors import HeadersTooLarge, MalformedRequest
from server.log_ring import LineFormatter, request_id
from server.refusal import refusal


def test_a_refusal_is_one_whole_response() -> None:
    head, _, body = refusal(MalformedRequest(), "abc", [(b"date", b"now")]).partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert status == "HTTP/1.1 400 Bad Request"
    assert headers == {
        **{name.lower(): text for name, text in SECURITY_HEADERS.items()},
        "cache-control": "no-store",
        "connection": "close",
        "content-length": str(len(body)),
        "content-type": "application/json",
        "cross-origin-resource-policy": "same-origin",
        "date": "now",
        "x-request-id": "abc",
    }
    assert json.loads(body)["code"] == "malformed_request"
    assert b'","code":"' in body


@pytest.mark.parametrize(
    ("target", "keys"),
    [
        (b"/v1/audio/speech?x=1", {"error"}),
        (b"/v1/music?output_format=pcm_44100", {"error", "detail"}),
        (b"/v1\xff", {"error", "code"}),
        (b"/synth?/v1/", {"error", "code"}),
        (b"", {"error", "code"}),
    ],
)
def test_it_is_written_as_the_api_of_its_path_does(target: bytes, keys: set[str]) -> None:
    body = refusal(MalformedRequest(), "abc", [], target).partition(b"\r\n\r\n")[2]
    assert set(json.loads(body)) == keys


def test_it_is_logged_under_its_id(caplog: pytest.LogCaptureFixture) -> None:
    caplog.handler.setFormatter(LineFormatter())
    with caplog.at_level(logging.INFO, "server.protocol"):
        refusal(HeadersTooLarge(10), "abc", [])
    assert "[abc] A request was refused with 431" in caplog.text
    assert request_id.get() == "-"
