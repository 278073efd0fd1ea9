"""Where in a text a fault lies, and the bounds that keep any text harmless."""

import re
from dataclasses import dataclass
from fractions import Fraction

from engine.errors import ScoreError

MAX_TEXT = 256 * 1024  # characters
MAX_FIELD = 200  # characters of a field that is read other than as words
# A song has some hundred bars and some thousand notes; reading or timing what these bounds let through takes about
# a second at most.
MAX_BARS = 2_000  # of one voice, repeats played out
MAX_NOTES = 20_000  # heads, rests and grace notes of all voices, repeats played out
MAX_VOICES = 64
MAX_CELLS = 32_000  # voices and overlays times bars of the longest, repeats played out
MAX_BEATS = 20_000  # repeats played out
LONGEST_SECONDS = 1200.0  # repeats played out
MAX_REPEATS = 16
MAX_VERSES = 32
MAX_NUMBER = 10**15
MAX_DURATION = Fraction(64)  # whole notes of a single note
# Every duration is a multiple of 1/GRID. Sums of durations then have a denominator that divides GRID, so that
# no choice of lengths can make the fractions of a long tune grow without bound.
GRID = 2**10 * 3**3 * 5**2 * 7 * 11 * 13
_DIGITS = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the text; line and column count from 1."""

    line: int
    column: int

    def fault(self, message: str) -> ScoreError:
        """A `ScoreError` at this place, to be raised by the caller."""
        return ScoreError(message, self.line, self.column)

    def after(self, characters: int) -> "Place":
        """The place some characters further on the same line."""
        return Place(self.line, self.column + characters)


def most_bars(voices: int) -> int:
    """How many bars each of so many voices may have."""
    return min(MAX_BARS, MAX_CELLS // max(1, voices))


def short(text: str, place: Place, most: int = MAX_FIELD) -> str:
    """The value of a field without the space around it, of at most `most` characters."""
    text = text.strip()
    if len(text) > most:
        raise place.fault(f"This field has {len(text)} characters; shorten it to {most}.")
    return text


def number(digits: str, place: Place, name: str, most: int = MAX_NUMBER) -> int:
    """The value of plain decimal `digits`, from 1 to `most`."""
    value = int(digits) if _DIGITS.fullmatch(digits) else 0
    if not 1 <= value <= most:
        raise place.fault(f"Write {name} as a number from 1 to {most}.")
    return value


def checked_duration(duration: Fraction, place: Place) -> Fraction:
    """The same duration if it lies on the grid of durations and within the longest one."""
    if not 0 < duration <= MAX_DURATION or GRID % duration.denominator:
        raise place.fault(
            f"Give the note a length of at most {MAX_DURATION} whole notes in ordinary fractions."
        )
    return duration
