"""What the server asks of a model that writes down speech, and what it gets back.

`transcribe` runs on the one working thread; all else is read by any.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from pydantic import BaseModel, Field, JsonValue

from engine.control import Control
from engine.song_model import Expected
from engine.transcription_request import TranscriptionRequest
from engine.words import Word, WordAnswer, word_answers


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
    blank: str = ""  # what stands between the text before and this one: a blank, where there is such a text, or nothing


Heard = Callable[[Segment], None]
"""Is told each segment of a transcript, in order, as soon as nothing about it changes any more."""


def unheard(segment: Segment) -> None:
    """What happens with a segment as it is found where nobody asked."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said: the texts of the segments, each after its blank. `language` is an ISO 639-1 code, `seconds` the audio's length."""

    text: str
    language: str
    language_probability: float
    seconds: float
    segments: tuple[Segment, ...]
    notes: tuple[str, ...] = ()


class SegmentAnswer(BaseModel):
    """A segment as answers tell it, to the millisecond."""

    start: float = Field(description="Seconds from the start of the audio.")
    end: float = Field(description="Seconds from the start of the audio.")
    text: str
    words: list[WordAnswer]
    tokens: list[int] = Field(description="The model's tokens of the text.")
    temperature: float = Field(description="The one that the words were found at.")
    average_log_probability: float = Field(description="Of a token.")
    compression_ratio: float = Field(description="Of the text: far above 2 it says the same again and again.")
    no_speech_probability: float = Field(description="That nobody speaks there.")
    blank: str = Field(description="What stands before the text where texts are joined: a blank or nothing.")


class TranscriptAnswer(BaseModel):
    """A transcript as answers tell it, its words once more in one list."""

    text: str
    language: str = Field(description="An ISO 639-1 code.")
    language_probability: float = Field(description="1 for a language that was asked for.")
    seconds: float = Field(description="Length of the recording.")
    segments: list[SegmentAnswer]
    words: list[WordAnswer]


def transcript_as_json(transcript: Transcript) -> dict[str, JsonValue]:
    """A transcript as answers tell it, as JSON values of a `TranscriptAnswer`."""
    return TranscriptAnswer(
        text=transcript.text,
        language=transcript.language,
        language_probability=round(transcript.language_probability, 4),
        seconds=round(transcript.seconds, 3),
        segments=[segment_answer(segment) for segment in transcript.segments],
        words=word_answers(word for segment in transcript.segments for word in segment.words),
    ).model_dump()


def segment_answer(segment: Segment) -> SegmentAnswer:
    """A segment as answers tell it."""
    return SegmentAnswer(
        start=round(segment.start, 3),
        end=round(segment.end, 3),
        text=segment.text,
        words=word_answers(segment.words),
        tokens=list(segment.tokens),
        temperature=segment.temperature,
        average_log_probability=round(segment.average_log_probability, 4),
        compression_ratio=round(segment.compression_ratio, 4),
        no_speech_probability=round(segment.no_speech_probability, 4),
        blank=segment.blank,
    )


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

    def transcribe(
        self, audio: BinaryIO, request: TranscriptionRequest, control: Control, heard: Heard = unheard
    ) -> Transcript:
        """What an audio file says, read from its start in constant memory. Stops between windows of 30 s.

        `heard` is told of each segment before the next window is looked at; what it raises ends the transcription.

        Raises InvalidRequest('audio') where the file cannot be read to its end.
        """

    def stages(self, request: TranscriptionRequest, seconds: float) -> list[Expected]:
        """Phases of `transcribe` for audio of that length, in order; units are seconds of audio."""

    def unload(self) -> None:
        """Give memory back; the next work loads again."""
