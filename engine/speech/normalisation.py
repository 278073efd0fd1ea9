"""A line of text as words that are written, and as the words that are said for them."""

import re
from dataclasses import dataclass
from typing import Final

from engine.speech.normal.abbreviations import ABBREVIATIONS, SHOUTED, shouted
from engine.speech.normal.marks import MARKS, plain
from engine.speech.normal.numerals import NUMERALS
from engine.speech.normal.rule import GLUE, applied
from engine.speech.normal.sequences import SEQUENCES

_DASH: Final = re.compile(r"(?<=[^\W_])(—|--+|–(?=[^\W\d]))(?=[^\W_])")
_LONGEST_WORD: Final = 300
_WRITTEN_LINK: Final = re.compile(r"\]\((?=\S)")


@dataclass(frozen=True, slots=True)
class Reading:
    """A stretch of text without spaces, and what to say for it; nothing for what is left out."""

    written: str
    spoken: str


def said(line: str) -> tuple[Reading, ...]:
    """The written words of a line in order, and what is said for each."""
    written = _DASH.sub(r"\1 ", line).split()
    if not written:
        return ()
    spoken = applied(MARKS, " ".join(_bounded(plain(word)) for word in written))
    if shouted(spoken):
        spoken = applied(SHOUTED, spoken)
    spoken = applied((*SEQUENCES, *NUMERALS, *ABBREVIATIONS), spoken)
    spoken = _WRITTEN_LINK.sub(f"]{GLUE}(", spoken)
    return tuple(
        Reading(word, " ".join(part.split())) for word, part in zip(written, spoken.split(" "), strict=True)
    )


def _bounded(word: str) -> str:
    """A word in stretches that every pattern gets through at once."""
    if len(word) <= _LONGEST_WORD:
        return word
    return GLUE.join(word[start : start + _LONGEST_WORD] for start in range(0, len(word), _LONGEST_WORD))
