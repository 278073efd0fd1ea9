"""Which bytes of an immutable result a request asks for: RFC 9110's preconditions and one byte range. Pure.

Results never change under their ETag and carry no date, so a date in If-Range never matches.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.errors import PreconditionFailed, RangeNotSatisfiable

_TAG: Final = re.compile(r'(?:W/)?"[^"]*"')
_ONE_RANGE: Final = re.compile(r"bytes=\s*(\d{1,30})?\s*-\s*(\d{1,30})?\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selection:
    """Status to answer with and the bytes to send: from `start` up to but without `stop`, counted in the part."""

    status: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """Bytes to send."""
        return self.stop - self.start


def select(method: str, headers: Mapping[str, str], etag: str, length: int) -> Selection:
    """The answer for a representation of `length` bytes: 200, 206 or 304.

    What answers anything but GET and HEAD is no representation of what was asked for, so that nothing conditions it.
    Several ranges, an unknown unit or a range that makes no sense are ignored, as RFC 9110 (14.2) allows.
    Raises PreconditionFailed, RangeNotSatisfiable.
    """
    whole = Selection(200, 0, length)
    if method not in ("GET", "HEAD"):
        return whole
    wanted = headers.get("if-match")
    if wanted is not None and not _lists(wanted, etag, weak=False):
        raise PreconditionFailed
    known = headers.get("if-none-match")
    if known is not None and _lists(known, etag, weak=True):
        return Selection(304, 0, 0)
    asked = headers.get("range")
    if method != "GET" or asked is None or headers.get("if-range", etag).strip() != etag:
        return whole
    return _one_range(asked, length) or whole


def _lists(header: str, etag: str, *, weak: bool) -> bool:
    """Whether a list of entity tags names `etag`; a weak tag only matches where `weak` comparison is asked for."""
    if header.strip() == "*":
        return True
    tags = _TAG.findall(header)
    return etag in ([tag.removeprefix("W/") for tag in tags] if weak else tags)


def _one_range(header: str, length: int) -> Selection | None:
    """The single range of a Range header; None where it is to be ignored. Raises RangeNotSatisfiable."""
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if first is None:
        start, stop = max(0, length - int(last)), length
    else:
        start, stop = int(first), length if last is None else int(last) + 1
        if stop <= start and last is not None:
            return None
    if start >= length:
        raise RangeNotSatisfiable(length)
    return Selection(206, start, min(stop, length))
