"""Reads JSON bodies within bounds, and says at which line and column one is wrong."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, aclosing
from typing import Final, NoReturn

from starlette.datastructures import Headers
from starlette.requests import Request

from server.errors import BodyTooLarge, InvalidJson, UnsupportedMedia
from server.limits import MAX_JSON_BYTES, Limits
from storage.entry import JSON

# A parse on the event loop holds up everybody else: about 1 ms for this much, tens of ms for the largest body.
INLINE_BYTES: Final = 64 * 1024
# The largest legal body is the replay of a speech with the times of 45,000 words: 180,000 values and as many strings.
MAX_CONTAINERS: Final = 50_000
MAX_VALUES: Final = 200_000
# The parser holds the interpreter but where an object ends, in `_object`: so many names in a row take some 10 ms.
MAX_VALUES_IN_A_ROW: Final = 20_000
MAX_DIGITS: Final = 20  # of a whole number in a message: 2^63 has 19, and a sign
_MARKS: Final = b',[{}"'
_NO_MARKS: Final = bytes(set(range(256)) - set(_MARKS))
_JSON_TYPE: Final = re.compile(r"application/(?:json|[\w.!#$&^-]+\+json)", re.ASCII | re.IGNORECASE)
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


async def read_json_object(
    request: Request, limits: Limits, max_bytes: int = MAX_JSON_BYTES
) -> dict[str, JSON]:
    """The body, one JSON object of at most `max_bytes`.

    Raises UnsupportedMedia and, from the Content-Length alone where there is one, BodyTooLarge before reading;
    InvalidJson after.
    """
    check_json_type(request.headers.get("content-type", ""))
    body = await read_bounded(request, max_bytes, limits)
    if len(body) > INLINE_BYTES:
        return await limits.run(lambda: parse_object(body))
    return parse_object(body)


def parse_message(body: bytes, most_values: int) -> dict[str, JSON]:
    """As `parse_object`, of a body that has few values, whose like others may read on the event loop after this.

    Raises InvalidJson where names, strings, lists, objects or other values are more than `most_values`, or a whole
    number is longer than any that is asked for.
    """
    if len(body.translate(None, _NO_MARKS)) > most_values:
        unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_MARKS)
        _check_number(unescaped.count(b'"') // 2, most_values, "names and strings")
        marks = b"".join(unescaped.split(b'"')[::2])
        _check_number(len(marks) - marks.count(b"}"), most_values, "values")
    return parse_object(body, _short_whole)


def check_json_type(content_type: str) -> None:
    """Raise UnsupportedMedia unless the type is JSON or not told."""
    kind = content_type.partition(";")[0].strip()
    if kind and not _JSON_TYPE.fullmatch(kind):
        raise UnsupportedMedia(kind, "application/json")


def declared_size(headers: Headers) -> int:
    """Bytes that the Content-Length tells of; 0 where there is none or it cannot be read."""
    declared = headers.get("content-length", "")
    return int(declared[:20]) if declared.isdecimal() else 0


def check_declared_size(headers: Headers, limit: int) -> None:
    """Raise BodyTooLarge where the Content-Length alone says so."""
    if declared_size(headers) > limit:
        raise BodyTooLarge(limit)


async def read_bounded(request: Request, limit: int, limits: Limits) -> bytes:
    """The body, counted while it is read; one of more than 64 KiB takes a place for large bodies as it grows.

    Raises BodyTooLarge, TooManyUploads; Starlette's ClientDisconnect where the client goes before its end.
    """
    check_declared_size(request.headers, limit)
    chunks: list[bytes] = []
    size = 0
    async with aclosing(request.stream()) as stream:
        with ExitStack() as place:
            async for chunk in stream:
                if size <= INLINE_BYTES < size + len(chunk):
                    place.enter_context(limits.large_bodies.slot())
                size += len(chunk)
                if size > limit:
                    raise BodyTooLarge(limit)
                chunks.append(chunk)
    return b"".join(chunks)


def parse_object(body: bytes, whole: Callable[[str], int] = int) -> dict[str, JSON]:
    """The JSON object in `body` (UTF-8), whose whole numbers `whole` makes of their digits. Raises InvalidJson.

    Stricter than Python's own reader: a name twice, NaN, numbers beyond a float and halves of surrogate pairs are
    refused, since whoever reads the value later would stumble over them.
    """
    _check_extent(body)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(body[: error.start])
        raise InvalidJson("it is not UTF-8 text", line, column) from None
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_int=whole,
            parse_constant=_no_constant,
        )
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise InvalidJson(error.msg.lower(), error.lineno, error.colno) from None
    except RecursionError:
        raise InvalidJson("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise InvalidJson("it holds half of a surrogate pair") from None
    except ValueError as error:
        digits = "set_int_max_str_digits" in str(error)
        raise InvalidJson("a whole number is too long" if digits else str(error)) from None
    if not isinstance(value, dict):
        raise InvalidJson("its outermost value is not an object, {…}")
    return value


def _check_extent(body: bytes) -> None:
    """Raise InvalidJson where the parser would take long over `body`, or hold the interpreter for long.

    Each value stands behind a comma or the bracket of what it is in. Exact for JSON, never too little for anything
    else, and a few ms for the largest body, also where all of it is quotes and backslashes.
    """
    if len(body.translate(None, _NO_MARKS)) <= MAX_VALUES_IN_A_ROW:
        return
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_MARKS)
    _check_number(unescaped.count(b'"') // 2, MAX_VALUES, "names and strings")
    marks = b"".join(unescaped.split(b'"')[::2])
    ends = marks.count(b"}")
    _check_number(max(marks.count(b"[") + marks.count(b"{"), ends), MAX_CONTAINERS, "lists and objects")
    _check_number(len(marks) - ends, MAX_VALUES, "values")
    in_a_row = max(map(len, marks.split(b"}")))
    _check_number(in_a_row, MAX_VALUES_IN_A_ROW, "values before an object ends")


def _check_number(number: int, most: int, what: str) -> None:
    if number > most:
        raise InvalidJson(f"it has more than {most} {what}")


def _place(before: bytes) -> tuple[int, int]:
    """Line and column, both from 1, of what follows these bytes of UTF-8."""
    last_line = before.rpartition(b"\n")[2]
    return before.count(b"\n") + 1, len(last_line.decode()) + 1


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ValueError(f"the name {twice[:40]!a} stands twice in one object")
    return found


def _short_whole(digits: str) -> int:
    # Thousands of digits take the square of their number to be read.
    if len(digits) > MAX_DIGITS:
        raise ValueError("a whole number is too long")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
