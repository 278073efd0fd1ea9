"""Reads JSON bodies within bounds, and says at which line and column one is wrong."""

import json
import math
import re
from collections import Counter
from contextlib import ExitStack, aclosing
from typing import Final, NoReturn

from starlette.datastructures import Headers
from starlette.requests import Request

from server.errors import BodyTooLarge, InvalidJson, UnsupportedMedia
from server.limits import MAX_JSON_BYTES, Limits
from storage.entry import JSON

# A parse on the event loop holds up everybody else: about 1 ms for this much, tens of ms for the largest body.
INLINE_BYTES: Final = 64 * 1024
# One call of the parser holds the interpreter: so many lists and objects take some 20 ms, a body full of them 250 ms.
MAX_CONTAINERS: Final = 50_000
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


def parse_object(body: bytes) -> dict[str, JSON]:
    """The JSON object in `body` (UTF-8). Raises InvalidJson.

    Stricter than Python's own reader: a name twice, NaN, numbers beyond a float and halves of surrogate pairs are
    refused, since whoever reads the value later would stumble over them.
    """
    if body.count(b"[") + body.count(b"{") > MAX_CONTAINERS:
        raise InvalidJson(f"it has more than {MAX_CONTAINERS} lists and objects")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(body[: error.start])
        raise InvalidJson("it is not UTF-8 text", line, column) from None
    try:
        value: object = json.loads(
            text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
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


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
