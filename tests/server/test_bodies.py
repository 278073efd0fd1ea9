import asyncio
import json
import re
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from engine.request import read_song
from engine.speech_request import read_speech
from server.bodies import INLINE_BYTES, parse_message, parse_object, read_json_object
from server.errors import BodyTooLarge, InvalidJson, TooManyUploads, UnsupportedMedia
from server.limits import MAX_JSON_BYTES, Limits
from storage.entry import JSON


def read(chunks: Sequence[bytes | None], headers: dict[str, str]) -> tuple[dict[str, JSON], int]:
    """The object read and the number of messages taken; None among the chunks is a client that goes."""
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        chunk = chunks[taken]
        taken += 1
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": taken < len(chunks)}

    async def run() -> dict[str, JSON]:
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        request = Request({"type": "http", "method": "POST", "path": "/", "headers": raw}, receive)
        return await read_json_object(request, Limits())

    try:
        return asyncio.run(run()), taken
    except BodyTooLarge as error:
        error.add_note(str(taken))
        raise


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json", ""]
)
def test_json_is_read_in_pieces(kind: str) -> None:
    headers = {"content-type": kind} if kind else {}
    assert read([b'{"style": "fol', b"k \xc3", b'\xa9"}'], headers)[0] == {"style": "folk é"}


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "application/jsonp", "json"]
)
def test_another_type_is_refused_before_reading(kind: str) -> None:
    with pytest.raises(UnsupportedMedia, match="application/json"):
        read([], {"content-type": kind})


def test_a_declared_size_over_the_limit_is_refused_before_reading() -> None:
    with pytest.raises(BodyTooLarge) as caught:
        read([b"{}"], {"content-length": str(MAX_JSON_BYTES + 1)})
    assert caught.value.__notes__ == ["0"]


def test_an_undeclared_size_is_counted_and_reading_ends_at_the_limit() -> None:
    piece = b" " * (MAX_JSON_BYTES // 2)
    with pytest.raises(BodyTooLarge) as caught:
        read([piece, piece, b" ", b" ", b" "], {})
    assert caught.value.__notes__ == ["3"]


def test_the_largest_body_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def watch(body: bytes) -> dict[str, JSON]:
        threads.append(threading.current_thread().name)
        return parse_object(body)

    monkeypatch.setattr("server.bodies.parse_object", watch)
    largest = b'{"lyrics": "' + b"x" * (MAX_JSON_BYTES - 14) + b'"}'
    read([largest], {"content-length": str(MAX_JSON_BYTES)})
    read([b'{"lyrics": "' + b"x" * (INLINE_BYTES - 14) + b'"}'], {})
    assert threads[0] != threading.current_thread().name
    assert threads[1] == threading.current_thread().name


def test_a_client_that_goes_is_not_an_empty_body() -> None:
    with pytest.raises(ClientDisconnect):
        read([b"{", None], {})


@pytest.mark.parametrize(
    ("body", "reason", "line", "column"),
    [
        (b"", "expecting value", 1, 1),
        (b'{\n "a": }', "expecting value", 2, 7),
        (b'{"a": 1} x', "extra data", 1, 10),
        ('{\n"é\xff'.encode("latin-1"), "not UTF-8", 2, 2),
        (b'{"a": NaN}', "NaN is no JSON number", None, None),
        (b'{"a": -Infinity}', "-Infinity is no JSON number", None, None),
        (b'{"a": 1e999}', "too large", None, None),
        (b'{"a": ' + b"9" * 5000 + b"}", "whole number is too long", None, None),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the name 'c' stands twice", None, None),
        (b'{"a": "\\ud800"}', "surrogate", None, None),
        (b"[" * 20_000, "nested too deeply", None, None),
        (b'{"a":' * 20_000, "nested too deeply", None, None),
        (b'{"a":[' + b"{}," * 50_000 + b"{}]}", "more than 50000 lists", None, None),
        (b'{"a":' + b"}" * 50_001, "more than 50000 lists", None, None),
        (b'{"a":[' + b'{"a":[0,0,0,0,0,0,0,0,0]},' * 24_000 + b"0]}", "200000 values", None, None),
        (b'{"a":[' + b"0," * 20_000 + b"0]}", "20000 values before an object ends", None, None),
        (b"{" + b'"a\\\\":0,' * 20_000 + b'"b":0}', "20000 values before an object ends", None, None),
        (b'{"a":[' + b'"",' * 200_000 + b"0]}", "more than 200000 names and strings", None, None),
        (b'"' * MAX_JSON_BYTES, "more than 200000 names and strings", None, None),
        (b"[1]", "not an object", None, None),
        (b"null", "not an object", None, None),
    ],
)
def test_what_is_wrong_is_told_with_its_place_where_it_is_known(
    body: bytes, reason: str, line: int | None, column: int | None
) -> None:
    with pytest.raises(InvalidJson, match=reason) as caught:
        parse_object(body)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_whole_surrogate_pairs_and_a_byte_order_mark_are_fine() -> None:
    assert parse_object(b'\xef\xbb\xbf{"a": "\\ud83c\\udfb5"}') == {"a": "🎵"}


MARKS = [",", "[Verse] {x} ", '["', "\\", '\\"', '"\\', '",', "\\,"]


@pytest.mark.parametrize("text", MARKS)
def test_what_stands_in_strings_counts_as_one_value(text: str) -> None:
    value: dict[str, JSON] = {"lyrics": text * 50_001, text: [text, {"abc": text}]}
    assert parse_object(json.dumps(value).encode()) == value


def test_the_largest_replays_are_read() -> None:
    numbers = ",".join(["32767"] * 24_576)
    song: dict[str, JSON] = {"semantic_tokens": numbers, "abc_tokens": numbers, "abc": '"[Am]", ' * 32_768}
    assert read_song(parse_object(json.dumps(song | {"cot": "full"}).encode())).semantic_tokens == numbers
    words: list[JSON] = [{"word": "a", "start": 1.0, "end": 2.0} for _ in range(45_000)]
    speech = json.dumps({"text": "a " * 45_000, "words": words}, separators=(",", ":")).encode()
    assert len(read_speech(parse_object(speech)).text) == 90_000


def test_many_names_of_which_one_stands_twice_do_not_take_long() -> None:
    names = ", ".join(f'"n{number}": 0' for number in range(19_000))
    with pytest.raises(InvalidJson, match="'last' stands twice"):
        parse_object(f'{{{names}, "last": 1, "last": 2}}'.encode())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_python_writes_is_read_back(value: dict[str, JSON]) -> None:
    assert parse_object(json.dumps(value).encode()) == value


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    with suppress(InvalidJson):
        assert isinstance(parse_object(body), dict)


def test_large_bodies_are_few_at_a_time_and_small_ones_are_not_counted() -> None:
    limits = Limits()
    large = b'{"lyrics": "' + b"x" * INLINE_BYTES + b'"}'

    async def body_of(content: bytes) -> dict[str, JSON]:
        async def receive() -> Message:
            return {"type": "http.request", "body": content, "more_body": False}

        request = Request({"type": "http", "method": "POST", "path": "/", "headers": []}, receive)
        return await read_json_object(request, limits)

    async def scene() -> None:
        with ExitStack() as stack:
            for _ in range(limits.large_bodies.total):
                stack.enter_context(limits.large_bodies.slot())
            assert await body_of(b'{"style": "folk"}') == {"style": "folk"}
            with pytest.raises(TooManyUploads):
                await body_of(large)
        assert len(str((await body_of(large))["lyrics"])) == INLINE_BYTES

    asyncio.run(scene())
    assert limits.large_bodies.held == 0


def parsed(body: bytes, most: int) -> dict[str, JSON] | None:
    """The message, or None where it has more values than that."""
    try:
        return parse_message(body, most)
    except InvalidJson as error:
        return None if f"more than {most} " in str(error) else {"refused": str(error)}


def number_of(value: JSON) -> int:
    """Values of every kind in a value, itself and names among them."""
    if isinstance(value, list):
        return 1 + sum(map(number_of, value))
    return 1 + sum(1 + number_of(inner) for inner in value.values()) if isinstance(value, dict) else 1


@given(st.dictionaries(st.text(max_size=5), values, max_size=5), st.integers(0, 40), st.booleans())
def test_a_message_of_few_values_is_read_and_one_of_many_is_not(
    value: dict[str, JSON], most: int, ascii_only: bool
) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    found = parsed(body, most)
    if found is None:
        assert number_of(value) > most
    elif found.keys() == {"refused"} and "whole number is too long" in str(found["refused"]):
        assert re.search(rb"[-0-9]{21}", body)
    else:
        assert found == value
        assert number_of(value) <= 2 * most + 1


@pytest.mark.parametrize(
    "inner",
    [
        b"[" + b"0," * 20 + b"0]",
        b"[" * 20 + b"]" * 20,
        b'["a"' + b',"a"' * 20 + b"]",
        b'{"a":1' + b',"b":1' * 20 + b"}",
    ],
)
def test_values_are_counted_wherever_they_stand(inner: bytes) -> None:
    assert parsed(b'{"a": %s}' % inner, 18) is None


def test_commas_and_quotes_in_a_text_are_no_values() -> None:
    text = 'la, la, "la" {[\\' * 50_000
    assert parsed(json.dumps({"a": text}).encode(), 4) == {"a": text}


def test_what_is_no_json_is_refused_as_ever() -> None:
    for body in (b"", b"{", b"[]", b'{"a": NaN}', b'"' * 3, b"\xff" * 9):
        with pytest.raises(InvalidJson, match=r"not a JSON object"):
            parse_message(body, 100)


def test_long_whole_numbers_of_a_message_are_not_read() -> None:
    """Reading one takes the square of its length, for whoever parses the message next as well."""
    longest = b"-9223372036854775808"
    assert parse_message(b'{"id": %s}' % longest, 100) == {"id": -(2**63)}
    with pytest.raises(InvalidJson, match="a whole number is too long"):
        parse_message(b'{"id": %s}' % (b"9" * 21), 100)
    assert parse_object(b'{"id": %s}' % (b"9" * 21)) == {"id": int("9" * 21)}
