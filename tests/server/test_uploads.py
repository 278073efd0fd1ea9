"""Multipart forms and bare files, read within bounds."""

import asyncio
import io
import re
import tracemalloc
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from engine.errors import EngineError, InvalidRequest, UnknownField
from server import uploads
from server.errors import BodyTooLarge, EdgeError, InvalidForm, InvalidJson, UnsupportedMedia
from server.uploads import (
    AUDIO_PART,
    MAX_FIELD_BYTES,
    MAX_LOOSE_PARTS,
    OPTIONS_PART,
    RECORDING_PART,
    REQUEST_PART,
    LooseForm,
    PartRule,
    is_form,
    options_of_form,
    read_file,
    read_form,
    read_loose_form,
)

ONE = PartRule("one", 100, re.compile("text/plain"), "text/plain")
TWO = PartRule("two", 100_000, re.compile("application/octet-stream"), "application/octet-stream")
BODY = (
    b'--xyz\r\nContent-Disposition: form-data; name="one"; filename="a"\r\nContent-Type: Text/Plain; charset=utf-8\r\n'
    b'\r\nfirst\r\n--xyz\r\nContent-Disposition: form-data; name="two"\r\n\r\n\r\nsec\r\n--xy ond\r\n\r\n--xyz--\r\n'
)
PARTS = {"one": b"first", "two": b"\r\nsec\r\n--xy ond\r\n"}


def request(
    chunks: Sequence[bytes], kind: str = "multipart/form-data; boundary=xyz", **headers: str
) -> Request:
    """A request whose body comes in these chunks, and then the client goes."""
    coming = iter([{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks])
    ends = iter([{"type": "http.request", "body": b""}])

    async def receive() -> Message:
        return next(coming, None) or next(ends, {"type": "http.disconnect"})

    sent = {"content-type": kind, **headers}
    raw = [
        (name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in sent.items() if value
    ]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw}, receive)


def form_of(*chunks: bytes, kind: str = "multipart/form-data; boundary=xyz") -> dict[str, bytes]:
    parts = asyncio.run(read_form(request(chunks, kind), [ONE, TWO]))
    return {name: part.read() for name, part in parts.items()}


def part(name: str, body: bytes = b"x", head: bytes = b"") -> bytes:
    return b'--xyz\r\nContent-Disposition: form-data; name="%s"\r\n%s\r\n%s\r\n' % (name.encode(), head, body)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_parts_are_found_however_the_body_is_cut(size: int) -> None:
    assert form_of(*(BODY[start : start + size] for start in range(0, len(BODY), size))) == PARTS


def test_a_boundary_may_stand_in_quotes_and_an_epilogue_is_left() -> None:
    assert form_of(BODY, b"and so on", kind='multipart/form-data; boundary="xyz"') == PARTS


@pytest.mark.parametrize(
    "kind", ["", ";boundary=", ";boundary=a\tb", ";boundary=" + "a" * 71, ";boundary=\xe9"]
)
def test_a_form_needs_a_boundary(kind: str) -> None:
    with pytest.raises(InvalidForm, match="names no boundary of 1 to 70 visible characters"):
        form_of(BODY, kind=f"multipart/form-data{kind}")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "it ends before its closing boundary"),
        (BODY[:-4], "it ends before its closing boundary"),
        (BODY[:90], "it ends before its closing boundary"),
        (b"preamble" + BODY, "does not have the form"),
        (BODY.replace(b"xyz", b"abc"), "does not have the form"),
        (BODY.replace(b"filename", b"file\0name:\r\r"), "does not have the form"),
        (part("one", head=b"A: b\r\n" * 9), "does not have the form"),
        (part("one", head=b"A: %s\r\n" % (b"b" * 1100)), "does not have the form"),
        (b"--xyz\r\nContent-Type: text/plain\r\n\r\nx\r\n--xyz--", "one of its parts has no name"),
        (b'--xyz\r\nContent-Disposition: attachment; name="one"\r\n\r\nx\r\n--xyz--', "has no name"),
        (part("") + b"--xyz--", "one of its parts has no name"),
    ],
)
def test_a_form_that_is_none_is_refused(body: bytes, sentence: str) -> None:
    with pytest.raises(InvalidForm, match=sentence):
        form_of(body)


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        (part("three") + b"--xyz--", UnknownField, "three"),
        (part("one") + part("one") + b"--xyz--", InvalidRequest, "one"),
        (part("one") + b"--xyz--", InvalidRequest, "two"),
        (b"--xyz--", InvalidRequest, "one"),
    ],
)
def test_every_part_stands_once(body: bytes, kind: type[InvalidRequest], field: str) -> None:
    with pytest.raises(kind) as caught:
        form_of(body)
    assert caught.value.field == field


@pytest.mark.parametrize(("options", "names"), [(b"", {"audio"}), (part("request"), {"audio", "request"})])
def test_a_part_that_is_not_required_may_be_left_out(options: bytes, names: set[str]) -> None:
    sent = request([part("audio") + options + b"--xyz--"])
    assert set(asyncio.run(read_form(sent, [RECORDING_PART, OPTIONS_PART]))) == names


def test_such_a_part_stands_once_all_the_same() -> None:
    sent = request([part("request") * 2 + part("audio") + b"--xyz--"])
    with pytest.raises(InvalidRequest, match="has the part 'request' twice"):
        asyncio.run(read_form(sent, [RECORDING_PART, OPTIONS_PART]))


@pytest.mark.parametrize("kind", ["audio/x-m4a", "video/mp4", "video/webm", "application/ogg", ""])
def test_a_recording_may_come_as_video(kind: str) -> None:
    RECORDING_PART.check_type(kind)
    for wrong in ("image/png", "text/plain", "video/", "application/mp4"):
        with pytest.raises(UnsupportedMedia, match=r"such as audio/flac, video/mp4 or .* as 'audio'"):
            RECORDING_PART.check_type(wrong)


def test_a_part_has_its_own_size_and_type() -> None:
    with pytest.raises(BodyTooLarge, match="100 bytes"):
        form_of(part("one", b"x" * 101))
    with pytest.raises(UnsupportedMedia, match="'audio/wav' is not read here; send text/plain as 'one'"):
        form_of(part("one", head=b"Content-Type: audio/wav\r\n"))


@pytest.mark.parametrize("most", [8, 3])  # eight is also what the parser allows of its own accord
def test_a_part_has_eight_lines_of_header_at_most(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert uploads.MAX_HEADERS == 8
    monkeypatch.setattr(uploads, "MAX_HEADERS", most)
    lines = b"A: b\r\n" * (most - 1)
    assert form_of(part("one", head=lines) + part("two") + b"--xyz--") == {"one": b"x", "two": b"x"}
    with pytest.raises(InvalidForm, match="does not have the form"):
        form_of(part("one", head=lines + b"A: b\r\n") + part("two") + b"--xyz--")


def test_a_name_nobody_reads_is_told_by_its_beginning() -> None:
    with pytest.raises(UnknownField) as caught:
        form_of(part("n" * 81) + b"--xyz--")
    assert caught.value.field == "n" * 80


@pytest.mark.parametrize(
    "kind", ["", "application/json", "application/octet-stream", "Application/LD+JSON; a=b"]
)
def test_the_request_beside_an_upload_may_be_told_as_octets(kind: str) -> None:
    head = f"Content-Type: {kind}\r\n".encode() if kind else b""
    sent = request([part("request", b"{}", head) + b"--xyz--"])
    assert asyncio.run(read_form(sent, [REQUEST_PART]))["request"].read() == b"{}"


MEBIBYTE = bytes(1 << 20)


def as_file() -> Request:
    return request([MEBIBYTE] * 16, "audio/flac")


def as_form() -> Request:
    begin = b'--xyz\r\nContent-Disposition: form-data; name="audio"\r\n\r\n'
    return request([begin, *[MEBIBYTE] * 16, b"\r\n--xyz--"])


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("form", [False, True])
def test_a_large_upload_is_not_copied_on_the_event_loop(traced: None, form: bool) -> None:
    sent = as_form() if form else as_file()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    upload = (
        asyncio.run(read_form(sent, [AUDIO_PART]))["audio"]
        if form
        else asyncio.run(read_file(sent, AUDIO_PART))
    )
    peak = tracemalloc.get_traced_memory()[1] - before
    assert (upload.tell(), upload.getbuffer().nbytes) == (0, 16 << 20)
    assert peak < 24 << 20


def test_the_whole_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_BODY_BYTES", 100)
    with pytest.raises(BodyTooLarge):
        asyncio.run(read_form(request([], content_length="101"), [ONE]))
    with pytest.raises(BodyTooLarge):
        form_of(*[b"\r\n"] * 51)


def test_a_client_that_goes_is_noticed() -> None:
    asked = request([])
    receive = iter([{"type": "http.request", "body": BODY[:50], "more_body": True}])

    async def gone() -> Message:
        return next(receive, {"type": "http.disconnect"})

    with pytest.raises(ClientDisconnect):
        asyncio.run(read_form(Request(asked.scope, gone), [ONE]))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([b"--xyz", b"\r\n", b"--", b'form-data; name="one"', b"\r", part("one"), part("two"), b"x" * 200, b"Content-Disposition: "]), max_size=12), st.integers(1, 50))  # fmt: skip
def test_no_body_is_a_surprise(pieces: list[bytes], size: int) -> None:
    body = b"".join(pieces)
    try:
        parts = form_of(*(body[start : start + size] for start in range(0, len(body), size)))
    except (EdgeError, EngineError):
        parts = {}
    assert set(parts) in (set(), {"one", "two"})


def test_a_file_is_the_body_itself() -> None:
    assert asyncio.run(read_file(request([b"ab", b"c"], "text/plain"), ONE)).read() == b"abc"
    assert asyncio.run(read_file(request([b"ab", b"c"], ""), ONE)).read() == b"abc"
    assert not is_form(request([], "text/plain"))
    assert is_form(request([], " Multipart/Form-Data; boundary=x"))


@pytest.mark.parametrize(
    ("chunks", "kind", "length", "error"),
    [
        ([], "text/plain", "", InvalidRequest),
        ([b"x" * 60] * 2, "text/plain", "", BodyTooLarge),
        ([], "text/plain", "101", BodyTooLarge),
        ([b"x"], "application/x-www-form-urlencoded", "", UnsupportedMedia),
    ],
)
def test_a_file_has_its_bounds(chunks: list[bytes], kind: str, length: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        asyncio.run(read_file(request(chunks, kind, content_length=length), ONE))


def loose(*chunks: bytes, fields: Sequence[str] = ("model", "words"), boundary: str = "xyz") -> LooseForm:
    sent = request(chunks, f"multipart/form-data; boundary={boundary}")
    return asyncio.run(read_loose_form(sent, "file", fields))


FILE = b'Content-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: audio/wav\r\n\r\n'
LOOSE = (
    part("model", b"whisper-1")
    + part("words[]", b"one")
    + part("other", b"\0" * 100)
    + part("words", "zwölf".encode())
    + part("words[1]", b"")
    + b"--xyz\r\n"
    + FILE % b"talk.wav"
    + b"RIFF\r\n--xyz--\r\n"
)


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_a_loose_form_is_read_however_it_is_cut(size: int) -> None:
    form = loose(*(LOOSE[start : start + size] for start in range(0, len(LOOSE), size)))
    assert form.texts == {"model": ("whisper-1",), "words": ("one", "zwölf", "")}
    assert form.file is not None
    assert form.file.read() == b"RIFF"
    assert form.names == {"model", "words", "other", "file"}
    assert form.digest == loose(LOOSE).digest


def test_the_file_of_a_loose_form_may_come_first_or_not_at_all() -> None:
    begin, end = LOOSE[: -len(b"--xyz--\r\n")].split(b"--xyz\r\n" + FILE % b"talk.wav")
    first = loose(b"--xyz\r\n" + FILE % b"talk.wav" + end + begin + b"--xyz--")
    assert first.file is not None
    assert (first.file.read(), first.texts) == (b"RIFF", loose(LOOSE).texts)
    without = loose(part("model") + b"--xyz--")
    assert (without.file, without.texts) == (None, {"model": ("x",)})


@pytest.mark.parametrize(
    "other",
    [
        LOOSE.replace(b"talk.wav", b"talk.mp3"),
        LOOSE.replace(b"RIFF", b"RIFX"),
        LOOSE.replace(b'"other"', b'"others"'),
        LOOSE.replace(b"\0\r\n", b"\r\n"),
        LOOSE.replace(b"whisper-1", b"whisper-2"),
        part("extra", b"") + LOOSE,
    ],
)
def test_what_is_sent_tells_loose_forms_apart_but_the_boundary_does_not(other: bytes) -> None:
    assert loose(other).digest != loose(LOOSE).digest
    assert loose(LOOSE.replace(b"xyz", b"abc"), boundary="abc").digest == loose(LOOSE).digest


def test_parts_cannot_be_moved_into_one_another_unseen() -> None:
    bodies = [part("a", b"bc") + part("d", b""), part("ab", b"c") + part("d"), part("a", b"b") + part("cd")]
    assert len({loose(body + b"--xyz--").digest for body in bodies}) == 3


def test_a_part_cannot_be_hidden_in_the_content_of_the_one_before_it() -> None:
    head = (1).to_bytes(8) + b"d" + (0).to_bytes(8)
    two, one = part("a", b"b") + part("d", b"c"), part("a", b"b" + head + b"c")
    assert loose(two + b"--xyz--").digest != loose(one + b"--xyz--").digest


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        (LOOSE[:-9] + b"--xyz\r\n" + FILE % b"b.wav" + b"\r\n--xyz--", "file", "has the part 'file' twice"),
        (part("model", b"x" * (MAX_FIELD_BYTES + 1)) + b"--xyz--", "model", "at most 65536 bytes"),
        (part("model", b"\xff") + b"--xyz--", "model", "is not UTF-8 text"),
    ],
)
def test_a_loose_form_has_its_bounds(body: bytes, field: str, sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence) as caught:
        loose(body)
    assert caught.value.field == field


def test_a_loose_form_has_so_many_parts_and_so_much_header() -> None:
    assert loose(part("a") * MAX_LOOSE_PARTS + b"--xyz--").names == {"a"}
    with pytest.raises(InvalidForm, match="more than 256 parts"):
        loose(part("a") * (MAX_LOOSE_PARTS + 1) + b"--xyz--")
    assert loose(part("model", head=b"A: b\r\n" * 14 + b"B: %s\r\n" % (b"b" * 4000)) + b"--xyz--").texts
    with pytest.raises(InvalidForm, match="does not have the form"):
        loose(part("model", head=b"A: b\r\n" * 17) + b"--xyz--")


def test_a_loose_form_is_a_form_and_bounded_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedMedia, match="send multipart/form-data with the part 'file'"):
        asyncio.run(read_loose_form(request([b"{}"], "application/json"), "file", ()))
    with pytest.raises(InvalidForm, match="ends before its closing boundary"):
        loose(LOOSE[:-9])
    monkeypatch.setattr(uploads, "MAX_BODY_BYTES", 300)
    with pytest.raises(BodyTooLarge):
        loose(part("unknown", b"x" * 300) + b"--xyz--")


def test_a_large_file_of_a_loose_form_is_not_copied_on_the_event_loop(traced: None) -> None:
    begin = b'--xyz\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    form = loose(begin, *[MEBIBYTE] * 16, b"\r\n--xyz--")
    peak = tracemalloc.get_traced_memory()[1] - before
    assert form.file is not None
    assert (form.file.tell(), form.file.getbuffer().nbytes) == (0, 16 << 20)
    assert peak < 24 << 20


def test_options_stand_in_the_query_or_beside_the_file() -> None:
    beside = {"audio": io.BytesIO(b"sound"), "request": io.BytesIO(b'{"language": "en"}')}
    assert options_of_form({"language": "de"}, {"audio": beside["audio"]}) == {"language": "de"}
    assert options_of_form({}, beside) == {"language": "en"}
    with pytest.raises(InvalidRequest, match="not in both") as caught:
        options_of_form({"task": "translate"}, beside)
    assert caught.value.field == "task"
    with pytest.raises(InvalidJson):
        options_of_form({}, {"request": io.BytesIO(b"[]")})
