"""Words and when they are heard."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, Field, JsonValue


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it was written, and its seconds from the start of the audio."""

    text: str
    start: float
    end: float


class WordAnswer(BaseModel):
    """A word as answers and replays tell it, to the millisecond."""

    word: str
    start: float = Field(description="Seconds from the start of the audio.")
    end: float = Field(description="Seconds from the start of the audio.")


def word_answers(words: Iterable[Word]) -> list[WordAnswer]:
    """Words as answers and replays tell them."""
    return [WordAnswer(word=word.text, start=round(word.start, 3), end=round(word.end, 3)) for word in words]


def words_as_json(words: Iterable[Word]) -> list[JsonValue]:
    """Words as answers and replays tell them, as JSON values."""
    return [answer.model_dump() for answer in word_answers(words)]
