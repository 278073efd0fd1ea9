"""How true the singer is, and how well words are understood, by our own transcription."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from bench.sound.features import pitch
from bench.sound.matching import NOTHING, Match, match
from bench.sound.songs import RATE_HZ, Song
from bench.sound.texts import PHRASES, TALK
from engine.control import Uncontrolled
from engine.speech_model import SpeechModel
from engine.speech_request import read_speech
from engine.transcription_model import Transcript, TranscriptionModel
from engine.transcription_request import TranscriptionRequest

TRACKED_HZ: Final = 24_000
SHORTEST_NOTE_SECONDS: Final = 0.15
LISTENED_SECONDS: Final = 60.0
GAP_SECONDS: Final = 0.7
RECORDINGS: Final = Path(__file__).parents[2] / "tests" / "data" / "speech"
LOUD: Final = 0.02  # of a phrase's peak: where it begins


@dataclass(frozen=True, slots=True)
class Track:
    """The pitch of a voice: seconds and Hz, nan where there is none."""

    seconds: NDArray[np.float64]
    hertz: NDArray[np.float64]


def tracked(song: Song) -> Track:
    """The pitch of the song's voice alone."""
    return Track(*pitch(np.asarray(soxr.resample(song.voice, RATE_HZ, TRACKED_HZ), np.float32), TRACKED_HZ))


def cents_off(song: Song, track: Track) -> NDArray[np.float64]:
    """How far each note is from the score, in cents: the median over its middle, octaves folded.

    A singer takes a song an octave lower where that is better understood, so an octave is no fault.
    """
    return np.array(list(_offsets(song, track)))


def _offsets(song: Song, track: Track) -> Iterator[float]:
    for note in song.performance.notes:
        length = note.end - note.start
        if length < SHORTEST_NOTE_SECONDS:
            continue
        inside = (track.seconds > note.start + 0.3 * length) & (track.seconds < note.end - 0.2 * length)
        found = track.hertz[inside & ~np.isnan(track.hertz)]
        if len(found) >= 3:
            off = 1200 * np.log2(float(np.median(found)) / 440) - 100 * (note.midi - 69)
            yield float((off + 600) % 1200 - 600)


def listened(model: TranscriptionModel, samples: NDArray[np.float32], rate: int) -> Transcript:
    """What a listener writes down of samples (N,) or (N, C)."""
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype="PCM_16")
    file.seek(0)
    return model.transcribe(file, TranscriptionRequest(language="en"), Uncontrolled())


def understood(model: TranscriptionModel, song: Song) -> Match:
    """How the words of the song's first minute are understood in the mix."""
    return _understood(model, song, song.samples)


def understood_alone(model: TranscriptionModel, song: Song) -> Match:
    """The same of the voice alone."""
    level = np.asarray(0.5 * song.voice / max(1e-6, float(np.abs(song.voice).max())), np.float32)
    return _understood(model, song, level)


def _understood(model: TranscriptionModel, song: Song, samples: NDArray[np.float32]) -> Match:
    heard = listened(model, samples[: int(LISTENED_SECONDS * RATE_HZ)], RATE_HZ)
    return match(song.lyrics(LISTENED_SECONDS), heard.text)


def spoken(model: SpeechModel, text: str) -> NDArray[np.float32]:
    """A text said (N,), at the model's rate."""
    request = read_speech({"text": text, "seed": 7})
    return np.concatenate([one.samples[:, 0] for one in model.speak(request, Uncontrolled())])


def talk_understood(speaker: SpeechModel, listener: TranscriptionModel) -> Match:
    """How three hundred varied words are understood that were said and written down again."""
    return match(TALK, listened(listener, spoken(speaker, TALK), speaker.sample_rate_hz).text)


def people_understood(listener: TranscriptionModel) -> Match:
    """How recordings of people are understood: sentences of two novels, read, and a command to a robot."""
    return sum((_read_right(listener, file) for file in sorted(RECORDINGS.glob("*.opus"))), NOTHING)


def _read_right(listener: TranscriptionModel, file: Path) -> Match:
    with file.open("rb") as audio:
        heard = listener.transcribe(audio, TranscriptionRequest(language="en"), Uncontrolled())
    return match(file.with_suffix(".txt").read_text("utf-8"), heard.text)


@dataclass(frozen=True, slots=True)
class Placed:
    """Phrases at known instants: their sound (N,), what was heard, how many seconds each beginning is off."""

    sound: NDArray[np.float32]
    heard: Transcript
    errors: list[float]


def phrase_errors(speaker: SpeechModel, listener: TranscriptionModel) -> Placed:
    """Place phrases with pauses between them, and compare where each begins with where a word is said to."""
    rate = speaker.sample_rate_hz
    parts: list[NDArray[np.float32]] = []
    begins: list[float] = []
    at = 0
    for number, phrase in enumerate(PHRASES):
        gap = np.zeros(int((GAP_SECONDS + 0.15 * number) * rate), np.float32)
        sound = spoken(speaker, phrase)
        loud = np.flatnonzero(np.abs(sound) > LOUD * np.abs(sound).max())
        begins.append((at + len(gap) + loud[0]) / rate)
        parts += [gap, sound]
        at += len(gap) + len(sound)
    sound = np.concatenate(parts)
    heard = listened(listener, sound, rate)
    starts = np.array([word.start for segment in heard.segments for word in segment.words])
    return Placed(sound, heard, [float(np.abs(starts - begin).min()) for begin in begins])
