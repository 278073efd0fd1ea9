"""What a tool answers, whatever protocol carries it."""

from collections.abc import Mapping
from dataclasses import dataclass

from storage.entry import JSON


@dataclass(frozen=True, slots=True)
class Link:
    """A file to download with no key: an absolute URL, and what is behind it."""

    url: str
    name: str
    mime_type: str
    size_bytes: int
    description: str


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """One answer of a tool, or its refusal.

    `told` is for programs. `sentence` is for the model that called: what happened and what to do next, with all it has
    to repeat, since some clients show their model nothing else. `texts` are what the model is to read in full, a score
    or a transcript; `retry_after_seconds` is there where the same call may succeed soon.
    """

    told: Mapping[str, JSON]
    sentence: str
    links: tuple[Link, ...] = ()
    texts: tuple[str, ...] = ()
    is_refused: bool = False
    retry_after_seconds: int | None = None
