"""Words and when they are heard."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it was written, and its seconds from the start of the audio."""

    text: str
    start: float
    end: float


def words_as_json(words: Iterable[Word]) -> list[JsonValue]:
    """Words as answers and replays tell them, to the millisecond."""
    return [{"word": word.text, "start": round(word.start, 3), "end": round(word.end, 3)} for word in words]
