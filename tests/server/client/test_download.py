"""What a download makes of the headers it meets."""

import io

import httpx2
import pytest

from server.client.download import WHOLE, Download, audio, changed, replay
from server.client.errors import ResultChanged

TAG = {"ETag": '"one"'}


def answer(status: int, body: bytes, headers: dict[str, str]) -> httpx2.Response:
    """An answer whose body is still to be read."""
    return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(body))


def test_parts_ask_for_what_the_api_names() -> None:
    assert WHOLE.params("1") == {"id": "1", "result": "1"}
    assert audio(2).params("1") == {"id": "1", "result": "1", "track": "2"}
    assert replay().params("1") == {"id": "1", "result": "1", "replay": "0"}


def test_a_whole_body_is_written_and_complete() -> None:
    sink = io.BytesIO()
    download = Download(sink)
    assert not download.complete
    download.absorb(answer(200, b"abcdef", TAG))
    assert (sink.getvalue(), download.received, download.complete) == (b"abcdef", 6, True)


def test_an_empty_body_is_complete() -> None:
    download = Download(io.BytesIO())
    download.absorb(answer(200, b"", TAG))
    assert download.complete


def begun(sink: io.BytesIO, tag: str = '"one"') -> Download:
    """A download of b"abcdef" broken off after three bytes."""
    download = Download(sink)
    sink.write(b"abc")
    download.received, download.total, download.entity_tag = 3, 6, tag
    return download


def test_the_rest_is_asked_for_by_range_and_tag() -> None:
    headers = begun(io.BytesIO()).headers()
    assert (headers["Range"], headers["If-Match"]) == ("bytes=3-", '"one"')


def test_the_rest_is_joined_to_what_was_there() -> None:
    sink = io.BytesIO()
    download = begun(sink)
    download.absorb(answer(206, b"def", {**TAG, "Content-Range": "bytes 3-5/6"}))
    assert (sink.getvalue(), download.complete) == (b"abcdef", True)


def test_a_server_without_ranges_sends_what_is_skipped() -> None:
    sink = io.BytesIO()
    download = begun(sink)
    download.absorb(answer(200, b"abcdef", TAG))
    assert (sink.getvalue(), download.complete) == (b"abcdef", True)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (206, {"ETag": '"two"', "Content-Range": "bytes 3-5/6"}),
        (206, {"Content-Range": "bytes 3-5/6"}),
        (206, {**TAG, "Content-Range": "bytes 4-5/6"}),
        (206, {**TAG}),
        (206, {**TAG, "Content-Range": "chars 3-5/6"}),
        (200, {"ETag": '"two"'}),
    ],
)
def test_a_rest_that_may_be_of_another_body_is_not_joined(status: int, headers: dict[str, str]) -> None:
    sink = io.BytesIO()
    with pytest.raises(ResultChanged):
        begun(sink).absorb(answer(status, b"def", headers))
    assert sink.getvalue() == b"abc"


def test_a_body_without_a_tag_is_never_resumed() -> None:
    download = begun(io.BytesIO(), tag="")
    assert "If-Match" not in download.headers()
    with pytest.raises(ResultChanged):
        download.absorb(answer(206, b"def", {"Content-Range": "bytes 3-5/6"}))


@pytest.mark.parametrize(("status", "expected"), [(412, True), (416, True), (404, False), (200, False)])
def test_statuses_that_mean_another_body(status: int, expected: bool) -> None:
    assert changed(httpx2.Response(status)) is expected
