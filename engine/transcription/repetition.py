"""Text that goes round in circles, as Whisper's does where it has lost the thread."""

import zlib
from collections.abc import Sequence
from typing import Final

MOST_REPEATS: Final = 3
_LONGEST_LOOP: Final = 40


def compression_ratio(text: str) -> float:
    """Bytes of the text to bytes that zlib makes of it: about 1.5 in a window of speech, over 2.4 in a loop."""
    content = text.encode()
    return len(content) / len(zlib.compress(content)) if content else 0.0


def without_loops(tokens: Sequence[int]) -> list[int]:
    """The tokens with what is said more than three times on end said once."""
    kept: list[int] = []
    place = 0
    while place < len(tokens):
        length, repeats = _loop(tokens, place)
        kept += tokens[place : place + length]
        place += length * repeats
    return kept


def _loop(tokens: Sequence[int], place: int) -> tuple[int, int]:
    """Length of the loop that begins here, and how often it is gone through; (1, 1) where there is none."""
    for length in range(1, min(_LONGEST_LOOP, (len(tokens) - place) // (MOST_REPEATS + 1)) + 1):
        loop = tokens[place : place + length]
        repeats = 1
        while tokens[place + repeats * length : place + (repeats + 1) * length] == loop:
            repeats += 1
        if repeats > MOST_REPEATS:
            return length, repeats
    return 1, 1
