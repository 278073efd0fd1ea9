"""Doubles of the models that speak and listen: quick, exact, and stoppable from a test."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np
from pydantic import JsonValue

from engine.control import Control
from engine.errors import InvalidRequest
from engine.song_model import Expected
from engine.speech_model import Spoken
from engine.speech_request import SpeechRequest
from engine.transcription_model import Heard, Segment, Transcript, unheard
from engine.transcription_request import TranscriptionRequest
from engine.words import Word

RATE_HZ = 24_000
WORD_SECONDS = 0.25


def nothing(_: int) -> None:
    """What happens between two sentences where a test does not say."""


class SpeechDouble:
    """Says each sentence as a steady level, a quarter of a second a word; the level follows from the seed.

    `between` is called with the number of each sentence before it is made.
    """

    id = "spoken"
    sample_rate_hz = RATE_HZ
    default_voice = "one"

    def __init__(self, between: Callable[[int], None] = nothing) -> None:
        self.between = between
        self.unloaded = 0

    def describe(self) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "kind": "speech",
            "operations": ["speech"],
            "languages": ["en"],
            "voices": [{"id": "one"}],
        }

    def check(self, request: SpeechRequest) -> None:
        if request.voice not in ("", "one"):
            raise InvalidRequest("voice", f"There is no voice {request.voice!r} here; choose one of: one.")

    def notes(self, request: SpeechRequest) -> tuple[str, ...]:
        return ("It is whispered.",) if "whisper" in request.text else ()

    def speak(self, request: SpeechRequest, control: Control) -> Iterator[Spoken]:
        sentences = [sentence for sentence in request.text.split(".") if sentence.strip()]
        now = 0.0
        for number, sentence in enumerate(sentences):
            self.between(number)
            control.check_cancelled()
            words = []
            for text in sentence.split():
                words.append(Word(text, now, now + WORD_SECONDS))
                now += WORD_SECONDS
            frames = round(len(words) * WORD_SECONDS * RATE_HZ)
            level = 0.01 * (1 + request.seed % 50)
            yield Spoken(np.full((frames, 1), level, np.float32), tuple(words))
            control.report("speaking", (number + 1) / len(sentences), sentences=number + 1)

    def stages(self, request: SpeechRequest) -> list[Expected]:
        return [Expected("speaking", float(len(request.text)), "score")]

    def unload(self) -> None:
        self.unloaded += 1


class TranscriptionDouble:
    """Hears how long the file is, in bytes, and which language it was told."""

    id = "heard"
    rates_id = "heard cpu"

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.before = before
        self.unloaded = 0

    def describe(self) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "kind": "transcription",
            "operations": ["transcribe"],
            "languages": ["en", "de"],
        }

    def check(self, request: TranscriptionRequest) -> None:
        if request.language not in ("", "en", "de"):
            raise InvalidRequest("language", f"language must be one of: de, en; it is {request.language!r}.")

    def transcribe(
        self, audio: BinaryIO, request: TranscriptionRequest, control: Control, heard: Heard = unheard
    ) -> Transcript:
        self.before()
        control.check_cancelled()
        audio.seek(0)
        size = len(audio.read())
        words = (Word("bytes:", 0.0, 0.5), Word(str(size), 0.5, 1.0))
        text = f"bytes: {size}"
        segment = Segment(0.0, 1.0, text, words, (1, 2), 0.0, -0.1, 1.0, 0.0)
        heard(segment)
        control.report("listening", 1.0, seconds=1)
        notes = ("The language was guessed.",) if not request.language else ()
        return Transcript(text, request.language or "en", 0.75, 1.0, (segment,), notes)

    def stages(self, request: TranscriptionRequest, seconds: float) -> list[Expected]:
        return [Expected("listening", seconds, "score")]

    def unload(self) -> None:
        self.unloaded += 1
