"""When words are heard, as files: JSON, SubRip (.srt) and WebVTT (.vtt); and as answers of a server tell it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, JsonValue, ValidationError

from engine.errors import InvalidRequest
from engine.subtitles import as_srt, as_vtt
from engine.transcription_model import Segment, Transcript
from engine.words import Word, words_as_json

FORMATS: Final = {".json": "json", ".srt": "srt", ".vtt": "vtt"}


class TimedWord(BaseModel):
    """A word as answers tell it."""

    word: str
    start: float
    end: float

    @property
    def read(self) -> Word:
        """The word."""
        return Word(self.word, self.start, self.end)


class _Wordy(BaseModel):
    """The part of a replay that tells words."""

    words: tuple[TimedWord, ...] = ()


def format_of_words(path: Path, formats: Mapping[str, str] = FORMATS) -> str:
    """The format that a file's name asks for; InvalidRequest where it asks for none."""
    found = formats.get(path.suffix.lower())
    if found is None:
        raise InvalidRequest(
            "words",
            f"Cannot tell the format from {path.name!r}; end the name in one of {', '.join(formats)}.",
        )
    return found


def words_in(replay: JsonValue) -> tuple[Word, ...]:
    """The words that a replay tells; none where it tells of none, or not as this version does."""
    try:
        found = _Wordy.model_validate(replay)
    except ValidationError:
        return ()
    return tuple(one.read for one in found.words)


def written_words(words: Sequence[Word], kind: str) -> str:
    """The content of a file of word times in one of the formats."""
    if kind == "json":
        return json.dumps(words_as_json(words), ensure_ascii=False, indent=1) + "\n"
    heard = _transcript(words)
    return as_srt(heard) if kind == "srt" else as_vtt(heard)


def _transcript(words: Sequence[Word]) -> Transcript:
    """The words as if they had been written down from the sound."""
    if not words:
        return Transcript("", "", 1.0, 0.0, ())
    text = " ".join(word.text for word in words)
    end = words[-1].end
    return Transcript(
        text, "", 1.0, end, (Segment(words[0].start, end, text, tuple(words), (), 0.0, 0.0, 1.0, 0.0),)
    )
