"""One download that survives broken connections: what has come, and whether the rest belongs to it."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

import httpx2

from server.client.errors import ResultChanged


class Sink(Protocol):
    """Where the bytes go; any binary file will do."""

    def write(self, chunk: bytes, /) -> object:
        """Take the next bytes."""


@dataclass(frozen=True, slots=True)
class Part:
    """One readable span of a job's result, as the server names it; see `WHOLE`, `audio`, `replay`."""

    selector: str = ""
    track: int = 0

    def params(self, id: str) -> dict[str, str]:
        """The query that asks for it."""
        whole = {"id": id, "result": "1"}
        return {**whole, self.selector: str(self.track)} if self.selector else whole


WHOLE = Part()  # the stored body, all tracks in one


def audio(track: int = 0) -> Part:
    """The audio of one track, counted from 0."""
    return Part("track", track)


def replay(track: int = 0) -> Part:
    """The request (JSON) that makes one track again, counted from 0."""
    return Part("replay", track)


class Download:
    """Owner of one download's progress. `received` counts bytes written to the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.received = 0
        self.total: int | None = None
        self.content_type = ""
        self.entity_tag = ""
        self._skip = 0  # leading bytes of the answer that are here already

    @property
    def complete(self) -> bool:
        """Whether every byte the server announced has come."""
        return self.total is not None and self.received >= self.total

    def headers(self) -> dict[str, str]:
        """What to ask for: everything at first, then the rest of exactly that body."""
        plain = {"Accept-Encoding": "identity"}  # ranges count encoded bytes
        if not self.received:
            return plain
        tag = {"If-Match": self.entity_tag} if self.entity_tag else {}
        return {**plain, "Range": f"bytes={self.received}-", **tag}

    def absorb(self, response: httpx2.Response) -> None:
        """Write the answer's bytes that were still missing; TransportError where the connection breaks."""
        self.begin(response)
        for chunk in response.iter_raw():
            self.take(chunk)
        self.finish()

    def begin(self, response: httpx2.Response) -> None:
        """Take over what an answer's headers say, before its bytes. Raises ResultChanged."""
        entity_tag = response.headers.get("etag", "")
        if self.received and (not entity_tag or entity_tag != self.entity_tag):
            raise ResultChanged("The result is not the one whose download began; download it again.")
        self.entity_tag = entity_tag
        self.content_type = response.headers.get("content-type", "")
        if response.status_code == HTTPStatus.PARTIAL_CONTENT:
            start, self.total = _content_range(response)
        else:
            start, self.total = 0, _content_length(response)
        if start > self.received:
            raise ResultChanged("The server left bytes out of the download; download it again.")
        self._skip = self.received - start

    def take(self, chunk: bytes) -> None:
        """Write what is not here yet of the answer's next bytes, as they came."""
        fresh = chunk[self._skip :]
        self._skip -= len(chunk) - len(fresh)
        self._sink.write(fresh)
        self.received += len(fresh)

    def finish(self) -> None:
        """The answer ended in order."""
        if self.total is None:
            self.total = self.received  # it had not announced its length


def changed(response: httpx2.Response) -> bool:
    """Whether the answer says that the body begun is there no more."""
    return response.status_code in (
        HTTPStatus.PRECONDITION_FAILED,
        HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
    )


def _content_range(response: httpx2.Response) -> tuple[int, int | None]:
    """First byte and full length of `Content-Range: bytes 0-9/10` (RFC 9110, 14.4)."""
    unit, _, span = response.headers.get("content-range", "").partition(" ")
    first, _, _ = span.partition("-")
    _, _, total = span.partition("/")
    if unit != "bytes" or not first.isdecimal():
        raise ResultChanged("The server does not say which bytes it sent; download it again.")
    return int(first), int(total) if total.isdecimal() else None


def _content_length(response: httpx2.Response) -> int | None:
    length = response.headers.get("content-length", "")
    return int(length) if length.isdecimal() else None
