"""A line of text as words that are written, and as the words that are said for them."""

import re
from dataclasses import dataclass
from typing import Final

_DASH: Final = re.compile(r"(?<=\w)(—|--+|–)(?=[^\W\d])")


@dataclass(frozen=True, slots=True)
class Said:
    """A stretch of text without spaces, and what to say for it; nothing for what is left out."""

    written: str
    spoken: str


def said(line: str) -> tuple[Said, ...]:
    """The written words of a line in order, and what is said for each."""
    apart = _DASH.sub(r"\1 ", line.replace("](", "] ("))
    return tuple(Said(word, word) for word in apart.split())
