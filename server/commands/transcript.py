"""What `yue2-studio transcribe` was asked for, and the forms in which it tells what was said."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, JsonValue, ValidationError

from engine.subtitles import as_srt, as_vtt
from engine.transcription_model import Segment, Transcript
from server.client import BadAnswer
from server.commands.bar import Bar
from server.commands.word_times import TimedWord


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said, and the same as the server tells it."""

    transcript: Transcript
    document: JsonValue


class Listener(Protocol):
    """Writes down one recording."""

    def __call__(self, file: Path, payload: dict[str, JsonValue], bar: Bar) -> Heard:
        """What the file says; raises the project's errors."""


class _Segment(BaseModel):
    """A segment as answers tell it; what only the server needs is left out."""

    start: float
    end: float
    text: str
    words: tuple[TimedWord, ...] = ()

    @property
    def read(self) -> Segment:
        words = tuple(word.read for word in self.words)
        return Segment(self.start, self.end, self.text, words, (), 0.0, 0.0, 1.0, 0.0)


class _Document(BaseModel):
    """A transcript as answers tell it."""

    text: str
    language: str = ""
    language_probability: float = 1.0
    seconds: float = 0.0
    segments: tuple[_Segment, ...] = ()


def heard_in(document: JsonValue, notes: tuple[str, ...] = ()) -> Heard:
    """What a server has heard. Raises BadAnswer where that is no transcript."""
    try:
        found = _Document.model_validate(document)
    except ValidationError as error:
        raise BadAnswer(
            "The server sent a transcript that this version cannot read; it may be of another version."
        ) from error
    segments = tuple(segment.read for segment in found.segments)
    transcript = Transcript(
        found.text, found.language, found.language_probability, found.seconds, segments, notes
    )
    return Heard(transcript, document)


def in_form(heard: Heard, form: str) -> str:
    """The transcript as `text`, `json`, `srt` or `vtt`."""
    match form:
        case "json":
            return json.dumps(heard.document, ensure_ascii=False, indent=1) + "\n"
        case "srt":
            return as_srt(heard.transcript.segments)
        case "vtt":
            return as_vtt(heard.transcript.segments)
        case _:
            return heard.transcript.text.strip() + "\n"
