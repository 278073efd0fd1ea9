"""Whoever says phonemes aloud, and what is heard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.errors import NumericalError
from engine.speech.network import FRAME_SECONDS, RATE_HZ, SpeechNetwork, waveform
from engine.speech.phonemes import Phonemic, Phonemiser

Sound = NDArray[np.float32]  # (N,) at 24 kHz

MOST_AT_ONCE: Final = 300  # phonemes, some 20 s of sound: 0.15 s of one core, which nobody can stop meanwhile


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch of speech, silence before and after included, and when each of its words is heard."""

    sound: Sound
    spans: tuple[tuple[float, float], ...]  # seconds from the start of the sound, of each word in order


class Voice(Protocol):
    """Something that says phonemes; one thread's."""

    def most_phonemes(self, speed: float) -> int:
        """How many it says at once at that speed."""

    def utter(
        self, words: Sequence[Phonemic], speed: float, draw: np.random.Generator, check: Check
    ) -> Utterance:
        """The words as sound; `check` is asked if it takes long. Raises CheckpointError, NumericalError."""

    def unload(self) -> None:
        """Give memory back; the next call loads again."""


@dataclass(frozen=True, slots=True)
class VoiceCard:
    """How a voice is told of."""

    id: str
    name: str
    language: str  # BCP 47
    gender: str
    accent: str
    model: str


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice, how it is told of, and who reads words for it."""

    card: VoiceCard
    voice: Voice
    reader: Phonemiser


class HibariVoice:
    """The voice of the speech network."""

    def __init__(self, network: SpeechNetwork) -> None:
        self._network = network

    def most_phonemes(self, speed: float) -> int:
        """Fewer where they are slow, since the work is as long as the sound."""
        return round(MOST_AT_ONCE * min(speed, 1.0))

    def utter(
        self, words: Sequence[Phonemic], speed: float, draw: np.random.Generator, check: Check = unchecked
    ) -> Utterance:
        """The words as sound, and their times by the durations that the network gave their phonemes.

        `check` is called before the sound is made of the spectra.
        """
        letters, places = spelled(words, self._network.known)
        if not letters:
            return Utterance(np.zeros(0, np.float32), ((0.0, 0.0),) * len(places))
        spectra = self._network.spectra(letters, speed)
        ends = np.cumsum(spectra.durations) * FRAME_SECONDS  # (P + 2,): the pause before, then each phoneme
        check()
        sound = checked(waveform(spectra, draw))
        last = len(sound) / RATE_HZ
        spans = ((float(ends[start]), min(float(ends[stop]), last)) for start, stop in places)
        return Utterance(sound, tuple((min(start, stop), stop) for start, stop in spans))

    def unload(self) -> None:
        """Close the network."""
        self._network.unload()


class _Known(Protocol):
    def __call__(self, phonemes: str) -> str: ...


def spelled(words: Sequence[Phonemic], known: _Known) -> tuple[str, list[tuple[int, int]]]:
    """The phonemes of words as one line, and where each word's own begin and end in it; only those that are known."""
    letters, places = "", []
    for word in words:
        start = len(letters)
        letters += known(word.phonemes)
        places.append((start, len(letters)))
        letters += known(word.after)
    return letters, places


def checked(sound: Sound) -> Sound:
    """The sound, if all of it is finite. Raises NumericalError."""
    if not np.isfinite(sound).all():
        raise NumericalError(
            "The speech network computed samples that are not finite; ask again, or choose another voice."
        )
    return sound
