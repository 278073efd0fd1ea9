"""One entry of a result store and its record on the volume; pure.

accepted ──► stored ──► gone
    └──────► ended ──────┘        gone: expired or deleted, remembered for one more TTL

The record is one JSON object; the field names are those of `Entry` and `Part`, beside `version` (1).
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias, TypedDict, Unpack

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"

RECORD_VERSION = 1
MAX_DETAIL_BYTES = 64 * 1024
MAX_RECORD_BYTES = 1024 * 1024
ID_PATTERN = re.compile(r"[0-9a-f]{16}")


class EntryState(StrEnum):
    """Where an entry stands."""

    ACCEPTED = "accepted"
    STORED = "stored"
    ENDED = "ended"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Part:
    """One readable span of a stored body, `length` bytes from `offset`; ValueError where either is negative."""

    name: str
    track: int
    content_type: str
    offset: int
    length: int
    seconds: float | None = None
    filename: str = ""

    def __post_init__(self) -> None:
        if min(self.track, self.offset, self.length) < 0:
            raise ValueError("A part's track, offset and length count from 0.")


class Changes(TypedDict, total=False):
    """Fields that `Entry.evolve` may change; id, owner and creation stay what they were."""

    idempotency_key: str
    state: EntryState
    expires_at: float | None
    content_type: str
    size_bytes: int
    sha256: str
    parts: tuple[Part, ...]
    detail: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Entry:
    """One accepted request and what became of it. Times in epoch seconds, sizes in bytes, digests in hex.

    `expires_at` is None exactly while accepted; for a gone entry it is the moment it went. `detail` belongs to the
    caller (64 KiB as JSON at most) and is never looked into. Raises ValueError where a field contradicts this.
    """

    id: str
    state: EntryState
    owner: str
    created_at: float
    idempotency_key: str = ""
    request_digest: str = ""
    expires_at: float | None = None
    content_type: str = ""
    size_bytes: int = 0
    sha256: str = ""
    parts: tuple[Part, ...] = ()
    detail: Mapping[str, JSON] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not ID_PATTERN.fullmatch(self.id):
            raise ValueError("An id has 16 lower-case hexadecimal digits.")
        if (self.state is EntryState.ACCEPTED) != (self.expires_at is None):
            raise ValueError("An entry has an expiry exactly when it is no longer just accepted.")
        if not all(map(math.isfinite, (self.created_at, self.expires_at or 0.0))):
            raise ValueError("The times of an entry are finite numbers of seconds.")
        if self.size_bytes < 0 or any(p.offset + p.length > self.size_bytes for p in self.parts):
            raise ValueError("A part lies outside the stored body.")

    def evolve(self, **changes: Unpack[Changes]) -> "Entry":
        """The entry with some fields changed; ValueError as when it is made."""
        return replace(self, **changes)

    def gone(self, at: float) -> "Entry":
        """The tombstone of this entry, which went `at`; parts and detail are let go of."""
        return self.evolve(state=EntryState.GONE, expires_at=at, parts=(), detail={})

    def state_at(self, now: float) -> EntryState:
        """The state with expiry taken into account: gone from `expires_at` on."""
        if self.expires_at is not None and now >= self.expires_at:
            return EntryState.GONE
        return self.state

    def to_json(self) -> bytes:
        """The record of this entry; ValueError where `detail` is no JSON or anything is too large."""
        detail = json.dumps(dict(self.detail))
        if len(detail) > MAX_DETAIL_BYTES:
            raise ValueError(f"The detail of an entry may have {MAX_DETAIL_BYTES} bytes as JSON.")
        parts = [{name: getattr(part, name) for name in Part.__slots__} for part in self.parts]
        fields = {name: getattr(self, name) for name in self.__slots__}
        record = {"version": RECORD_VERSION, **fields, "parts": parts, "detail": dict(self.detail)}
        raw = json.dumps(record, allow_nan=False).encode()
        if len(raw) > MAX_RECORD_BYTES:
            raise ValueError(f"The record of an entry may have {MAX_RECORD_BYTES} bytes.")
        return raw

    @classmethod
    def from_json(cls, raw: bytes) -> "Entry":
        """Read a record; ValueError where it is not one of ours."""
        try:
            record: JSON = json.loads(raw, parse_float=_finite, parse_constant=_finite)
        except RecursionError:
            raise ValueError("The record is nested too deeply.") from None
        if not isinstance(record, dict) or record.get("version") != RECORD_VERSION:
            raise ValueError("This is no record of a result store, or one of a newer version.")
        return cls(
            id=_text(record, "id"),
            state=EntryState(_text(record, "state")),
            owner=_text(record, "owner"),
            created_at=_number(record, "created_at"),
            idempotency_key=_text(record, "idempotency_key"),
            request_digest=_text(record, "request_digest"),
            expires_at=None if record.get("expires_at") is None else _number(record, "expires_at"),
            content_type=_text(record, "content_type"),
            size_bytes=_whole(record, "size_bytes"),
            sha256=_text(record, "sha256"),
            parts=_parts(record),
            detail=_object(record.get("detail")),
        )


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("A record holds a number that is not finite.")
    return value


def _object(value: JSON) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise ValueError("A record holds no object where one belongs.")
    return value


def _text(record: dict[str, JSON], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ValueError(f"The record's {name} is no text.")
    return value


def _number(record: dict[str, JSON], name: str) -> float:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"The record's {name} is no number.")
    return value if isinstance(value, float) else _finite(str(value))


def _whole(record: dict[str, JSON], name: str) -> int:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"The record's {name} is no whole number.")
    return value


def _parts(record: dict[str, JSON]) -> tuple[Part, ...]:
    parts = record.get("parts")
    if not isinstance(parts, list):
        raise ValueError("The record's parts are no list.")
    return tuple(_part(_object(part)) for part in parts)


def _part(record: dict[str, JSON]) -> Part:
    return Part(
        name=_text(record, "name"),
        track=_whole(record, "track"),
        content_type=_text(record, "content_type"),
        offset=_whole(record, "offset"),
        length=_whole(record, "length"),
        seconds=None if record.get("seconds") is None else _number(record, "seconds"),
        filename=_text(record, "filename"),
    )
