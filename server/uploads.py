"""Reads uploads within bounds: the parts of a multipart form (RFC 7578), or one bare file.

A form of this server has parts that are all known. One of another's API may hold anything: what is not known there is
read and dropped, a list is the same name again and again, with or without brackets after it.

Each is collected in the buffer that it is handed on in: a copy of the largest would hold up the event loop for 50 ms.
"""

import hashlib
import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from engine.errors import InvalidRequest, UnknownField
from server.bodies import check_declared_size, parse_object
from server.errors import BodyTooLarge, InvalidForm, UnsupportedMedia
from server.limits import MAX_BODY_BYTES, MAX_LATENT_BYTES, MAX_REQUEST_PART_BYTES
from storage.entry import JSON

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

Option = TypeVar("Option")
FORM_TYPE: Final = "multipart/form-data"
MAX_HEADERS: Final = 8
MAX_HEADER_BYTES: Final = 1024
MAX_NAME_CHARACTERS: Final = 80
MAX_LOOSE_HEADERS: Final = 16
MAX_LOOSE_HEADER_BYTES: Final = 4096  # a file name may take most of it
MAX_LOOSE_PARTS: Final = 256
MAX_FIELD_BYTES: Final = 64 * 1024
_INDEX: Final = re.compile(r"\[\d{0,4}\]$", re.ASCII)
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


@dataclass(frozen=True, slots=True)
class LooseForm:
    """What was read of a form that may hold anything.

    `texts` are the fields as they were sent, each as often as it was; `names` those of all parts, also of what was
    dropped. `digest` tells one form from another, whatever the boundary.
    """

    texts: Mapping[str, tuple[str, ...]]
    file: io.BytesIO | None
    names: frozenset[str]
    digest: bytes


@dataclass(frozen=True, slots=True)
class PartHead:
    """What the header of a part says; empty where it does not."""

    name: str
    filename: str
    content_type: str


Take = Callable[[memoryview], None]
"""Takes the next bytes of a part, which it must not keep."""

Opened = Callable[[PartHead], Take]


def is_form(request: Request) -> bool:
    """Whether the body is a multipart form."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == FORM_TYPE


async def read_form(request: Request, rules: Iterable[PartRule]) -> dict[str, io.BytesIO]:
    """The parts of the form by their names: all of the rules' that are required, each once at most and at its start.

    Raises BodyTooLarge, InvalidForm, UnsupportedMedia, UnknownField, InvalidRequest; Starlette's ClientDisconnect.
    """
    parts = _RuledParts({rule.name: rule for rule in rules})
    await _read(request, _FormReader(_boundary(request), parts.open))
    return parts.finish()


async def read_loose_form(request: Request, upload: str, fields: Collection[str]) -> LooseForm:
    """The part `upload`, a file of any type, and the `fields` as text; all else is read and dropped.

    Raises BodyTooLarge, InvalidForm, UnsupportedMedia for what is no form, InvalidRequest for a file that stands there
    twice and for a field that is too long or no text; Starlette's ClientDisconnect.
    """
    if not is_form(request):
        raise UnsupportedMedia(
            request.headers.get("content-type", ""), f"{FORM_TYPE} with the part {upload!r}"
        )
    parts = _LooseParts(upload, fields)
    reader = _FormReader(_boundary(request), parts.open, MAX_LOOSE_HEADERS, MAX_LOOSE_HEADER_BYTES)
    await _read(request, reader)
    return parts.finish()


async def _read(request: Request, reader: "_FormReader") -> None:
    check_declared_size(request.headers, MAX_BODY_BYTES)
    size = 0
    async with aclosing(request.stream()) as stream:
        async for chunk in stream:
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise BodyTooLarge(MAX_BODY_BYTES)
            reader.feed(chunk)
    reader.finish()


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


def options_of_form(
    asked: Mapping[str, Option], parts: Mapping[str, io.BytesIO]
) -> Mapping[str, Option | JSON]:
    """What a form asks for by its part `request`, in place of what the query asked for.

    Raises InvalidJson, and InvalidRequest where both do.
    """
    beside = parts.get(OPTIONS_PART.name)
    if beside is None:
        return asked
    if asked:
        raise InvalidRequest(
            next(iter(asked)), "Options stand in the query or in the part 'request', not in both."
        )
    return parse_object(beside.getvalue())


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
    """Finds the parts of a form, fed by chunks of any size, which it does not keep.

    `opened` is called with the name and the header of each part and gives what takes the part's bytes. Owner of the
    header that is being read, and of who takes the bytes that come.
    """

    def __init__(
        self, boundary: bytes, opened: Opened, most_headers: int = 0, most_header_bytes: int = 0
    ) -> None:
        self._opened = opened
        self._head = _Head()
        self._take: Take = _drop
        self._ended = False
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin,
            "on_header_field": lambda raw, start, end: self._head.name.extend(raw[start:end]),
            "on_header_value": lambda raw, start, end: self._head.value.extend(raw[start:end]),
            "on_header_end": lambda: self._head.end_line(),
            "on_headers_finished": self._open,
            "on_part_data": lambda raw, start, end: self._take(memoryview(raw)[start:end]),
            "on_end": self._end,
        }
        self._parser = MultipartParser(
            boundary,
            callbacks,
            max_header_count=most_headers or MAX_HEADERS,
            max_header_size=most_header_bytes or MAX_HEADER_BYTES,
        )

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes of the body. Raises InvalidForm, and what `opened` and those who take bytes raise."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise InvalidForm("it does not have the form that its boundary promises") from error

    def finish(self) -> None:
        """The body is over. Raises InvalidForm where the form is not."""
        if not self._ended:
            raise InvalidForm("it ends before its closing boundary")

    def _begin(self) -> None:
        self._head = _Head()

    def _open(self) -> None:
        """The part's header is over: look at what it says."""
        kind, options = parse_options_header(self._head.lines.get("content-disposition", ""))
        name = options.get(b"name", b"").decode("utf-8", "replace")[:MAX_NAME_CHARACTERS]
        if kind != b"form-data" or not name:
            raise InvalidForm("one of its parts has no name")
        filename = options.get(b"filename", b"").decode("utf-8", "replace")
        self._take = self._opened(PartHead(name, filename, self._head.lines.get("content-type", "")))

    def _end(self) -> None:
        self._ended = True


class _RuledParts:
    """Owner of the parts read so far of a form whose parts are all known."""

    def __init__(self, rules: Mapping[str, PartRule]) -> None:
        self._rules = rules
        self._parts: dict[str, io.BytesIO] = {}

    def open(self, head: PartHead) -> Take:
        """What takes the bytes of the next part."""
        rule = self._rules.get(head.name)
        if rule is None:
            names = ", ".join(self._rules)
            raise UnknownField(
                head.name, f"The form has a part {head.name!r} that nobody reads; send {names} alone."
            )
        if head.name in self._parts:
            raise InvalidRequest(head.name, f"The form has the part {head.name!r} twice; send it once.")
        rule.check_type(head.content_type)
        part = self._parts[head.name] = io.BytesIO()

        def take(piece: memoryview) -> None:
            part.write(piece)
            if part.tell() > rule.max_bytes:
                raise BodyTooLarge(rule.max_bytes)

        return take

    def finish(self) -> dict[str, io.BytesIO]:
        """The parts, once the body is over; gives them away."""
        for rule in self._rules.values():
            if rule.required and rule.name not in self._parts:
                raise InvalidRequest(rule.name, f"The form has no part {rule.name!r}; add it.")
        for part in self._parts.values():
            part.seek(0)
        return self._parts


class _LooseParts:
    """Owner of what was kept so far of a form that may hold anything, and of the digest of all of it."""

    def __init__(self, upload: str, fields: Collection[str]) -> None:
        self._upload = upload
        self._fields = fields
        self._names: list[str] = []
        self._texts: dict[str, list[io.BytesIO]] = {}
        self._file: io.BytesIO | None = None
        self._digest = hashlib.sha256()
        self._length = 0

    def open(self, head: PartHead) -> Take:
        """What takes the bytes of the next part."""
        self._close()
        self._mark(head.name.encode())
        self._mark(head.filename.encode())
        name = _INDEX.sub("", head.name)
        self._names.append(name)
        if len(self._names) > MAX_LOOSE_PARTS:
            raise InvalidForm(f"it has more than {MAX_LOOSE_PARTS} parts")
        if name == self._upload:
            if self._file is not None:
                raise InvalidRequest(name, f"The form has the part {name!r} twice; send it once.")
            self._file = io.BytesIO()
            return self._taking(self._file)
        if name not in self._fields:
            return self._hash
        text = io.BytesIO()
        self._texts.setdefault(name, []).append(text)
        return self._taking(text, name)

    def finish(self) -> LooseForm:
        """The form, once the body is over; gives it away."""
        self._close()
        if self._file is not None:
            self._file.seek(0)
        texts = {name: tuple(_text(name, raw) for raw in raws) for name, raws in self._texts.items()}
        return LooseForm(texts, self._file, frozenset(self._names), self._digest.digest())

    def _taking(self, sink: io.BytesIO, field: str = "") -> Take:
        def take(piece: memoryview) -> None:
            self._hash(piece)
            sink.write(piece)
            if field and sink.tell() > MAX_FIELD_BYTES:
                raise InvalidRequest(field, f"{field} must have at most {MAX_FIELD_BYTES} bytes; send less.")

        return take

    def _hash(self, piece: memoryview) -> None:
        self._digest.update(piece)
        self._length += len(piece)

    def _close(self) -> None:
        """The content of a part is over: how long it was parts it from the next."""
        self._digest.update(self._length.to_bytes(8))
        self._length = 0

    def _mark(self, raw: bytes) -> None:
        self._digest.update(len(raw).to_bytes(8) + raw)


def _drop(_: memoryview) -> None:
    """Before the first part there is nobody who takes bytes."""


def _text(name: str, raw: io.BytesIO) -> str:
    try:
        return raw.getvalue().decode()
    except UnicodeDecodeError:
        raise InvalidRequest(name, f"{name} is not UTF-8 text; send it as such.") from None
