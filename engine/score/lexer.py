"""Tokens of a line of music (ABC standard 2.1, section 4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import ScoreError
from engine.score.place import Place


class TokenKind(StrEnum):
    """What a token is; the value names its group in the pattern."""

    SPACE = "space"
    FIELD = "field"
    ENDING = "ending"
    BAR = "bar"
    CHORD_OPEN = "chord_open"
    CHORD_CLOSE = "chord_close"
    TUPLET = "tuplet"
    SLUR = "slur"
    GRACE = "grace"
    SYMBOL = "symbol"
    DECORATION = "decoration"
    NOTE = "note"
    REST = "rest"
    BAR_REST = "bar_rest"
    SPACER = "spacer"
    TIE = "tie"
    BROKEN = "broken"
    OVERLAY = "overlay"


_LENGTH = r"[0-9]*/*[0-9]*"
_PATTERNS = {
    TokenKind.SPACE: r"[ \t`$*\\]+",
    TokenKind.FIELD: r"\[[A-Za-z]:[^\]]*\]",
    TokenKind.ENDING: r"\[[0-9][0-9,\-]*",
    TokenKind.BAR: r"\.?(?:\[(?=\|)[|:]+\]?|[|:]*\|[|:]*\]?|::+)(?:[0-9][0-9,\-]*)?",
    TokenKind.CHORD_OPEN: r"\[",
    TokenKind.CHORD_CLOSE: r"\]" + _LENGTH,
    TokenKind.TUPLET: r"\([0-9]+(?::[0-9]*){0,2}",
    TokenKind.SLUR: r"\.?[()]",
    TokenKind.GRACE: r"\{[^{}]*\}",
    TokenKind.SYMBOL: r'"[^"]*"',
    TokenKind.TIE: r"\.?-",
    TokenKind.DECORATION: r"![^!|\[\]:]{1,40}!|\+[^+|\[\]:\s]{1,40}\+|[.~H-WYh-w]|!(?=[ \t]*$)",
    TokenKind.NOTE: r"(?:\^\^|\^|__|_|=)?[A-Ga-g][',]*" + _LENGTH,
    TokenKind.REST: r"[zx]" + _LENGTH,
    TokenKind.BAR_REST: r"[ZX][0-9]*",
    TokenKind.SPACER: r"y" + _LENGTH,
    TokenKind.BROKEN: r"<+|>+",
    TokenKind.OVERLAY: r"&",
}
_TOKEN = re.compile("|".join(f"(?P<{kind.value}>{pattern})" for kind, pattern in _PATTERNS.items()))
_UNCLOSED = {
    '"': 'Close the quotation mark: "Am".',
    "{": "Close the grace notes with }.",
    "}": "Open the grace notes with {.",
    "(": "Give the tuplet a number of notes.",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One token and where it starts."""

    kind: TokenKind
    text: str
    place: Place


def tokens(text: str, start: Place) -> Iterator[Token]:
    """The tokens of a line of music that begins at `start`; raises ScoreError at a character that begins none."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        place = start.after(position)
        if match is None or match.lastgroup is None:
            raise _unread(text, position, start)
        if match.lastgroup == TokenKind.CHORD_OPEN and re.match(
            r"\[[A-Za-z]:", text[position : position + 3]
        ):
            raise place.fault("Close the inline field with ].")
        yield Token(TokenKind(match.lastgroup), match[0], place)
        position = match.end()


def _unread(text: str, position: int, start: Place) -> ScoreError:
    """The fault where no token begins; a length there belongs to the letter before it, which then is no note."""
    letter = re.search(r"[H-WYh-w](?=[',0-9/]+$)", text[: position + 1])
    if letter:
        notes = "write C D E F G A B or c d e f g a b"
        return start.after(letter.start()).fault(f"{letter[0]!r} is no note; {notes}.")
    remedy = _UNCLOSED.get(text[position], f"Remove the character {text[position]!r}.")
    return start.after(position).fault(remedy)
