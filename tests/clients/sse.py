"""Server-sent events, read as the HTML standard's section 9.2.6 says."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event."""

    kind: str
    text: str


def events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """Every event of a stream whose bytes come in any slices; one that is not ended by a blank line is dropped."""
    kind, data = "", list[str]()
    for line in lines(chunks):
        if not line:
            if data:
                yield Event(kind or "message", "\n".join(data))
            kind, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)


def lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The ended lines of a stream. A CR at the end of a slice waits for a LF that may follow."""
    left = b""
    for chunk in chunks:
        left += chunk
        ready = left[:-1] if left.endswith(b"\r") else left
        *whole, last = LINE_END.split(ready.decode("utf-8", "surrogateescape"))
        left = last.encode("utf-8", "surrogateescape") + left[len(ready) :]
        yield from (line.encode("utf-8", "surrogateescape").decode("utf-8") for line in whole)
    if left.endswith(b"\r"):
        yield left[:-1].decode("utf-8")
