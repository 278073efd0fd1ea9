"""Stretches of text without spaces, in pieces that hibari's reading gets through at once.

hibari-tts 0.2.1 tries every run of the parts of a stretch as one word, which takes the cube of their number, and has no
name for a number of 37 digits.
"""

import re
from itertools import chain
from typing import Final

_PART: Final = re.compile(r"\d+(?:[.,]\d+)*|[A-ZÀ-ÖØ-Þ]?[^\W\d_A-ZÀ-ÖØ-Þ]+|[A-ZÀ-ÖØ-Þ]+|.", re.DOTALL)
_MOST_PARTS: Final = 12
_LONGEST: Final = 36  # characters of a piece, and so digits of a number


def cut(chunk: str) -> list[str]:
    """The pieces of a stretch, in order; all of it is one where it has as many parts as words and numbers have."""
    if len(chunk) <= _MOST_PARTS:
        return [chunk]
    pieces, count = [""], 0
    for part in chain.from_iterable(map(_shortened, _PART.findall(chunk))):
        if count == _MOST_PARTS or len(pieces[-1]) + len(part) > _LONGEST:
            pieces.append("")
            count = 0
        pieces[-1] += part
        count += 1
    return pieces if len(pieces) == 1 else [bare for piece in pieces if (bare := piece.strip("-"))]


def _shortened(part: str) -> list[str]:
    return [part[start : start + _LONGEST] for start in range(0, len(part), _LONGEST)]
