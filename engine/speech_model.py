"""What the server asks of a model that speaks, and what it gets back.

`speak` runs on the one working thread; all else is read by any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.song_model import Expected
from engine.speech_request import SpeechRequest
from engine.words import Word


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence as sound: what follows it is appended to it without a gap or a click."""

    samples: Samples  # (N, 1), at the model's rate
    words: tuple[Word, ...]  # seconds from the start of the whole speech
    is_whole: bool = False  # whether it is known to be the whole speech


class SpeechModel(Protocol):
    """A model that turns text into speech."""

    @property
    def id(self) -> str:
        """The name requests choose it by."""

    @property
    def sample_rate_hz(self) -> int:
        """The rate of its samples."""

    @property
    def default_voice(self) -> str:
        """The voice of requests that name none."""

    def describe(self) -> dict[str, JsonValue]:
        """What `/props` tells of it, its voices and languages among it."""

    def check(self, request: SpeechRequest) -> None:
        """Raise InvalidRequest, naming the field, for a voice it lacks and text it cannot read."""

    def notes(self, request: SpeechRequest) -> tuple[str, ...]:
        """Sentences for whoever asked, on what will not be said as it may be meant."""

    def speak(self, request: SpeechRequest, control: Control) -> Iterator[Spoken]:
        """The sentences, each as soon as it is made; the request's seed is resolved. Stops between sentences."""

    def stages(self, request: SpeechRequest) -> list[Expected]:
        """Phases of `speak` as often as they are entered, in order; units are characters."""

    def unload(self) -> None:
        """Give memory back; the next work loads again."""
