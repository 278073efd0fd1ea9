"""Recordings for the tests: phrases that hibari speaks at known instants, and files of samples."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import soundfile
from hibari import Hibari
from numpy.typing import NDArray

from engine.onnx import Network
from engine.transcription.voice_activity import RecordingSpeech, SpeechDetector

RATE_HZ = 24_000
PHRASES = (
    "Good morning, everyone.",
    "The train leaves in an hour.",
    "Please close the window.",
    "I forgot my umbrella.",
    "She bought a new bicycle.",
)


@dataclass(frozen=True, slots=True)
class Recording:
    """A WAV file; what is said in it, and from when to when each phrase is heard, in seconds."""

    content: bytes
    phrases: tuple[str, ...]
    times: tuple[tuple[float, float], ...]

    def file(self) -> io.BytesIO:
        """The file, at its start."""
        return io.BytesIO(self.content)


class Loudness(RecordingSpeech):
    """Takes what is loud for speech."""

    def __init__(self) -> None:
        super().__init__(cast(Network, None))

    def probabilities(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        loud: NDArray[np.bool_] = np.abs(frames).mean(axis=1) > 0.5
        return loud.astype(np.float32)


class Loud(SpeechDetector):
    """Takes what is loud for speech."""

    def __init__(self) -> None:
        pass

    def recording(self) -> RecordingSpeech:
        return Loudness()


def speech_by_turns(count: int) -> Recording:
    """So many windows: 2 s of what `Loud` takes for speech, 8 s of silence before each."""
    part = np.concatenate([np.zeros(128_000, np.float32), np.ones(32_000, np.float32)])
    return Recording(wav(np.tile(part, count)), (), ())


def record(phrases: Sequence[str], gaps: Sequence[float]) -> Recording:
    """Each phrase after a gap of so many seconds; it is heard where it is louder than a fiftieth of its peak."""
    speaker = Hibari()
    parts, times, place = [], [], 0
    for number, (phrase, gap) in enumerate(zip(phrases, gaps, strict=True)):
        silence = np.zeros(round(gap * RATE_HZ), np.float32)
        sound = np.asarray(speaker(phrase, seed=number), np.float32)
        loud = np.flatnonzero(np.abs(sound) > np.abs(sound).max() / 50)
        place += len(silence)
        times.append(((place + loud[0]) / RATE_HZ, (place + loud[-1]) / RATE_HZ))
        place += len(sound)
        parts += [silence, sound]
    parts.append(np.zeros(RATE_HZ // 2, np.float32))
    return Recording(wav(np.concatenate(parts), RATE_HZ), tuple(phrases), tuple(times))


def wav(samples: NDArray[np.float32], rate_hz: int = 16_000) -> bytes:
    """A WAV file of samples (N,) or (N, C)."""
    sink = io.BytesIO()
    soundfile.write(sink, samples, rate_hz, format="WAV", subtype="FLOAT")
    return sink.getvalue()


def plain(text: str) -> list[str]:
    """Its words without case and marks."""
    return re.sub(r"[^a-z0-9' ]", " ", text.lower()).split()


def word_error_rate(said: str, written: str) -> float:
    """Words to insert, leave out or replace (Levenshtein), to the words said."""
    truth, found = plain(said), plain(written)
    costs = list(range(len(found) + 1))
    for row, word in enumerate(truth, start=1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(found, start=1):
            cost = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (word != other))
            diagonal, costs[column] = costs[column], cost
    return costs[-1] / len(truth)
