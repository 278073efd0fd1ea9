"""Tokens of one window cut into segments where Whisper has put timestamps.

The rules are those of `whisper/transcribe.py` of openai-whisper (MIT): a pair of timestamps ends one segment and begins
the next; a pair at the very end says that there is more to be heard from there on, and what follows the last pair of a
window that was cut in mid-speech is heard again in the next window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TICK_SECONDS: Final = 0.02
_LEAST_STEP_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Piece:
    """Seconds from the start of the window, and the tokens of its text."""

    start: float
    end: float
    tokens: tuple[int, ...]


def pieces(
    tokens: Sequence[int], first_timestamp: int, seconds: float, *, whole: bool
) -> tuple[list[Piece], float]:
    """The pieces of a window of that length, and up to where it has been written down, in seconds.

    `first_timestamp` is the token of 0 s; each next one is 20 ms later. A window that is not `whole` was cut in
    mid-speech.
    """
    parts = _parts(tokens, first_timestamp)
    written = seconds
    if len(parts) > 1 and not _ends(parts[-1], first_timestamp):
        resumed = (parts[-1][0] - first_timestamp) * TICK_SECONDS
        if _LEAST_STEP_SECONDS <= resumed < seconds and (not whole or len(parts[-1]) == 1):
            parts.pop()
            written = resumed
    found = [_piece(part, first_timestamp, seconds) for part in parts]
    return [piece for piece in found if piece.tokens], written


def _parts(tokens: Sequence[int], first_timestamp: int) -> list[list[int]]:
    """Cut between the timestamps of each pair."""
    parts: list[list[int]] = [[]]
    for before, token in zip([0, *tokens], tokens, strict=False):
        if before >= first_timestamp and token >= first_timestamp:
            parts.append([])
        parts[-1].append(token)
    return [part for part in parts if part]


def _ends(part: list[int], first_timestamp: int) -> bool:
    return len(part) > 1 and part[-1] >= first_timestamp


def _piece(part: list[int], first_timestamp: int, seconds: float) -> Piece:
    start = (part[0] - first_timestamp) * TICK_SECONDS if part[0] >= first_timestamp else 0.0
    end = (part[-1] - first_timestamp) * TICK_SECONDS if _ends(part, first_timestamp) else seconds
    text = tuple(token for token in part if token < first_timestamp)
    return Piece(min(start, seconds), min(max(start, end), seconds), text)
