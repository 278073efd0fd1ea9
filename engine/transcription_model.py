"""What the server asks of a model that writes down speech, and what it gets back.

`transcribe` runs on the one working thread; all else is read by any.
"""

from dataclasses import dataclass
from typing import BinaryIO, Protocol

from pydantic import JsonValue

from engine.control import Control
from engine.song_model import Expected
from engine.transcription_request import TranscriptionRequest
from engine.words import Word, words_as_json


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of speech that was decoded in one go; times are seconds from the start of the audio."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...]
    tokens: tuple[int, ...]
    temperature: float  # the one that its words were found at
    average_log_probability: float  # of a token
    compression_ratio: float  # of the text, by zlib: far above 2 it says the same again and again
    no_speech_probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said. `language` is an ISO 639-1 code, `seconds` the audio's length."""

    text: str
    language: str
    language_probability: float
    seconds: float
    segments: tuple[Segment, ...]
    notes: tuple[str, ...] = ()


def transcript_as_json(transcript: Transcript) -> dict[str, JsonValue]:
    """A transcript as answers tell it: times to the millisecond, all words once more in one list."""
    segments: list[JsonValue] = [_segment_as_json(segment) for segment in transcript.segments]
    return {
        "text": transcript.text,
        "language": transcript.language,
        "language_probability": round(transcript.language_probability, 4),
        "seconds": round(transcript.seconds, 3),
        "segments": segments,
        "words": words_as_json(word for segment in transcript.segments for word in segment.words),
    }


def _segment_as_json(segment: Segment) -> dict[str, JsonValue]:
    tokens: list[JsonValue] = list(segment.tokens)
    return {
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "words": words_as_json(segment.words),
        "tokens": tokens,
        "temperature": segment.temperature,
        "average_log_probability": round(segment.average_log_probability, 4),
        "compression_ratio": round(segment.compression_ratio, 4),
        "no_speech_probability": round(segment.no_speech_probability, 4),
    }


class TranscriptionModel(Protocol):
    """A model that turns audio into text."""

    @property
    def id(self) -> str:
        """The name requests choose it by."""

    @property
    def rates_id(self) -> str:
        """The name under which its speed is learnt: differs with device and precision."""

    def describe(self) -> dict[str, JsonValue]:
        """What `/props` tells of it, its languages among it."""

    def check(self, request: TranscriptionRequest) -> None:
        """Raise InvalidRequest, naming the field, for a language or a task it lacks."""

    def transcribe(self, audio: BinaryIO, request: TranscriptionRequest, control: Control) -> Transcript:
        """What an audio file says, read from its start in constant memory. Stops between windows of 30 s.

        Raises InvalidRequest('audio') where the file cannot be read to its end.
        """

    def stages(self, request: TranscriptionRequest, seconds: float) -> list[Expected]:
        """Phases of `transcribe` for audio of that length, in order; units are seconds of audio."""

    def unload(self) -> None:
        """Give memory back; the next work loads again."""
