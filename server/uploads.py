"""Reads uploads within bounds: the parts of a multipart form (RFC 7578), or one bare file.

Each is collected in the buffer that it is handed on in: a copy of the largest would hold up the event loop for 50 ms.
"""

import io
import re
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from engine.errors import InvalidRequest, UnknownField
from server.bodies import check_declared_size
from server.errors import BodyTooLarge, InvalidForm, UnsupportedMedia
from server.limits import MAX_BODY_BYTES, MAX_LATENT_BYTES, MAX_REQUEST_PART_BYTES

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FORM_TYPE: Final = "multipart/form-data"
MAX_HEADERS: Final = 8
MAX_HEADER_BYTES: Final = 1024
_BOUNDARY: Final = re.compile(rb"[\x20-\x7e]{0,69}[\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class PartRule:
    """A part that a form has: its name, how large it may be, which content types it may have beside none, whether it must be there."""

    name: str
    max_bytes: int
    types: re.Pattern[str]
    wanted: str  # the types, in words
    required: bool = True

    def check_type(self, content_type: str) -> None:
        """Raise UnsupportedMedia for another type."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind and not self.types.fullmatch(kind):
            raise UnsupportedMedia(kind, f"{self.wanted} as {self.name!r}")


REQUEST_PART: Final = PartRule(
    "request",
    MAX_REQUEST_PART_BYTES,
    re.compile(r"application/(json|[\w.!#$&^-]+\+json|octet-stream)", re.ASCII),
    "application/json",
)
AUDIO_PART: Final = PartRule(
    "audio",
    MAX_BODY_BYTES,
    re.compile(r"audio/[\w.+-]+|application/(octet-stream|ogg)", re.ASCII),
    "an audio file with a type such as audio/flac or application/octet-stream",
)
OPTIONS_PART: Final = replace(REQUEST_PART, required=False)
RECORDING_PART: Final = replace(
    AUDIO_PART,
    types=re.compile(r"(audio|video)/[\w.+-]+|application/(octet-stream|ogg)", re.ASCII),
    wanted="an audio or video file with a type such as audio/flac, video/mp4 or application/octet-stream",
)
LATENTS_PART: Final = PartRule(
    "latents", MAX_LATENT_BYTES, re.compile("application/octet-stream"), "application/octet-stream"
)


def is_form(request: Request) -> bool:
    """Whether the body is a multipart form."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == FORM_TYPE


async def read_form(request: Request, rules: Iterable[PartRule]) -> dict[str, io.BytesIO]:
    """The parts of the form by their names: all of the rules' that are required, each once at most and at its start.

    Raises BodyTooLarge, InvalidForm, UnsupportedMedia, UnknownField, InvalidRequest; Starlette's ClientDisconnect.
    """
    check_declared_size(request.headers, MAX_BODY_BYTES)
    reader = _FormReader(_boundary(request), {rule.name: rule for rule in rules})
    size = 0
    async with aclosing(request.stream()) as stream:
        async for chunk in stream:
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise BodyTooLarge(MAX_BODY_BYTES)
            reader.feed(chunk)
    return reader.finish()


async def read_file(request: Request, rule: PartRule) -> io.BytesIO:
    """The body itself as the rule's part, at its start.

    Raises BodyTooLarge, UnsupportedMedia, InvalidRequest where it is empty; Starlette's ClientDisconnect.
    """
    rule.check_type(request.headers.get("content-type", ""))
    check_declared_size(request.headers, rule.max_bytes)
    body = io.BytesIO()
    async with aclosing(request.stream()) as stream:
        async for chunk in stream:
            if body.tell() + len(chunk) > rule.max_bytes:
                raise BodyTooLarge(rule.max_bytes)
            body.write(chunk)
    if not body.tell():
        raise InvalidRequest(rule.name, f"The body is empty; send {rule.wanted}.")
    body.seek(0)
    return body


def _boundary(request: Request) -> bytes:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if not _BOUNDARY.fullmatch(boundary):
        raise InvalidForm("its Content-Type names no boundary of 1 to 70 visible characters")
    return boundary


@dataclass(slots=True)
class _Head:
    """The header of the part that is being read, as its bytes come in."""

    name: bytearray = field(default_factory=bytearray)
    value: bytearray = field(default_factory=bytearray)
    lines: dict[str, str] = field(default_factory=dict)

    def end_line(self) -> None:
        self.lines[self.name.decode("latin-1").lower()] = self.value.decode("latin-1")
        self.name.clear()
        self.value.clear()


class _FormReader:
    """Owner of the parts read so far; fed by chunks of any size, which it does not keep."""

    def __init__(self, boundary: bytes, rules: Mapping[str, PartRule]) -> None:
        self._rules = rules
        self._parts: dict[str, io.BytesIO] = {}
        self._head = _Head()
        self._rule: PartRule | None = None
        self._ended = False
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin,
            "on_header_field": lambda raw, start, end: self._head.name.extend(raw[start:end]),
            "on_header_value": lambda raw, start, end: self._head.value.extend(raw[start:end]),
            "on_header_end": lambda: self._head.end_line(),
            "on_headers_finished": self._open,
            "on_part_data": self._take,
            "on_end": self._end,
        }
        self._parser = MultipartParser(
            boundary, callbacks, max_header_count=MAX_HEADERS, max_header_size=MAX_HEADER_BYTES
        )

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes of the body. Raises as `read_form`."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise InvalidForm("it does not have the form that its boundary promises") from error

    def finish(self) -> dict[str, io.BytesIO]:
        """The parts, once the body is over; gives them away."""
        if not self._ended:
            raise InvalidForm("it ends before its closing boundary")
        for rule in self._rules.values():
            if rule.required and rule.name not in self._parts:
                raise InvalidRequest(rule.name, f"The form has no part {rule.name!r}; add it.")
        for part in self._parts.values():
            part.seek(0)
        return self._parts

    def _begin(self) -> None:
        self._head = _Head()

    def _open(self) -> None:
        """The part's header is over: look at what it says."""
        kind, options = parse_options_header(self._head.lines.get("content-disposition", ""))
        name = options.get(b"name", b"").decode("utf-8", "replace")[:80]
        if kind != b"form-data" or not name:
            raise InvalidForm("one of its parts has no name")
        rule = self._rules.get(name)
        if rule is None:
            names = ", ".join(self._rules)
            raise UnknownField(name, f"The form has a part {name!r} that nobody reads; send {names} alone.")
        if name in self._parts:
            raise InvalidRequest(name, f"The form has the part {name!r} twice; send it once.")
        rule.check_type(self._head.lines.get("content-type", ""))
        self._rule, self._parts[name] = rule, io.BytesIO()

    def _take(self, raw: bytes, start: int, end: int) -> None:
        if self._rule is not None:
            part = self._parts[self._rule.name]
            part.write(memoryview(raw)[start:end])
            if part.tell() > self._rule.max_bytes:
                raise BodyTooLarge(self._rule.max_bytes)

    def _end(self) -> None:
        self._ended = True
