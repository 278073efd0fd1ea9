"""What the server asks of a model that writes down speech, and what it gets back.

`transcribe` runs on the one working thread; all else is read by any.
"""

from dataclasses import dataclass
from typing import BinaryIO, Protocol

from pydantic import JsonValue

from engine.control import Control
from engine.song_model import Expected
from engine.transcription_request import TranscriptionRequest
from engine.words import Word


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
