"""Sings the words of a melody."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import soxr
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.score.model import TimedNote
from engine.sketch.notes import RATE_HZ
from engine.sketch.voice.levels import LINE_RMS, levelled
from engine.sketch.voice.lines import Line, sung_lines
from engine.sketch.voice.network import Curve, Steps, SungNetwork
from engine.sketch.voice.phonemes import Text, phonemes_of
from engine.sketch.voice.pitch import home_octaves, line_octaves, pitch_curve
from engine.sketch.voice.sibilants import softened
from engine.sketch.voice.sound import VOICED_HZ, glottis, windowed_sound
from engine.sketch.voice.timing import Plan, held_frames, plan, rests, spoken_frames
from engine.speech.network import FRAME_SAMPLES, FRAMES_A_STEP
from engine.speech.network import RATE_HZ as SPEECH_HZ
from engine.speech.phonemes import Phonemiser
from engine.words import Word

Mono = NDArray[np.float32]

_WINDOW_STEPS, _MARGIN_STEPS = 80, 20  # what is made at once, and what the network hears of either side
_REST_SECONDS = 0.08  # between notes of a line: shorter rests are sung over
_SILENT_ENERGY = -9.0
_FADE_FRAMES = 4


@dataclass(frozen=True, slots=True)
class Sung:
    """What was sung."""

    samples: Mono  # (N,) at 48 kHz, dry
    words: tuple[Word, ...]  # each from the start of its first note to the end of its last
    notes: tuple[TimedNote, ...]  # those that were sung, at the pitch they were written


@dataclass(frozen=True, slots=True)
class _Score:
    """One line, ready to be made into sound."""

    text: Text
    plan: Plan
    pitch: Curve
    energy: Curve


class Singer:
    """Owns nothing but what it is lent: the network and the reader of words; one thread's."""

    def __init__(self, network: SungNetwork, phonemiser: Phonemiser) -> None:
        self._network = network
        self._phonemiser = phonemiser

    def sing(
        self,
        notes: Sequence[TimedNote],
        seconds: float,
        seed: int,
        check: Check = unchecked,
        report: Callable[[float], None] = lambda done: None,
    ) -> Sung:
        """The words under one voice's notes, sung; silence where there are none, or none that the voice can read.

        `seconds` is the length; what is sung beyond is cut. The same arguments give the same samples. `check` is called
        every few hundredths of a second of work and stops it by raising; `report` is told the share that is done.
        Raises CheckpointError.
        """
        samples = np.zeros(max(round(seconds * RATE_HZ), 0), np.float32)
        lines = sung_lines(notes)
        octaves = home_octaves([note for line in lines for note in _notes(line)])
        sung: list[TimedNote] = []
        words: list[Word] = []
        for place, line in enumerate(lines):
            report(place / len(lines))
            check()
            draw = np.random.default_rng([seed & 0xFFFFFFFF, place])
            score = self._score(line, line_octaves(_notes(line), octaves), draw, check)
            if score is None:
                continue
            sung += _notes(line)
            words += [
                Word(word.text, word.start, min(word.end, seconds)) for word in line if word.start < seconds
            ]
            _add(samples, self._sound(score, draw, check), score.plan.start)
        report(1.0)
        return Sung(samples, tuple(words), tuple(sung))

    def unload(self) -> None:
        """Give back the memory of what it is lent; the next song opens it again."""
        self._network.unload()
        self._phonemiser.unload()

    def _score(self, line: Line, octaves: int, draw: np.random.Generator, check: Check) -> _Score | None:
        text = phonemes_of(line, self._phonemiser, self._network.known)
        if not text.nuclei:
            return None
        check()
        reading = self._network.read(text.phonemes)
        check()
        drawn = plan(text, reading)
        spoken = spoken_frames(text, drawn, reading.energy)
        energy = np.interp(spoken, np.arange(len(reading.energy)), reading.energy).astype(np.float32)
        voiced = (reading.pitch[np.rint(spoken).astype(np.int64)] > VOICED_HZ) | held_frames(text, drawn)
        for first, last in rests(text, drawn, _REST_SECONDS):
            voiced[first:last] = False
            energy[first:last] = _faded(energy[first:last])
        notes = [note for nucleus in text.nuclei for note in nucleus.notes]
        pitch = pitch_curve(notes, drawn.times(), octaves, draw)
        pitch[~voiced] = 0
        return _Score(text, drawn, pitch, energy)

    def _sound(self, score: _Score, draw: np.random.Generator, check: Check) -> Mono:
        """(300 F,) at 24 kHz."""
        pulses = glottis(score.pitch)
        pieces = []
        for first, last, steps in _windows(score.plan.steps):
            check()
            frames = slice(FRAMES_A_STEP * first, FRAMES_A_STEP * last)
            pieces.append(self._window(score, steps, frames, pulses, draw, check))
        return softened(levelled(np.concatenate(pieces)), LINE_RMS)

    def _window(
        self,
        score: _Score,
        steps: Steps,
        frames: slice,
        pulses: Mono,
        draw: np.random.Generator,
        check: Check,
    ) -> Mono:
        """Sound of the frames, made with what stands around them."""
        margin = FRAMES_A_STEP * _MARGIN_STEPS
        around = slice(max(frames.start - margin, 0), min(frames.stop + margin, len(score.pitch)))
        spectra = self._network.spectra(score.text.phonemes, steps, score.pitch[around], score.energy[around])
        check()
        heard = pulses[around.start * FRAME_SAMPLES : around.stop * FRAME_SAMPLES]
        sound = windowed_sound(spectra, heard, draw)
        left = (frames.start - around.start) * FRAME_SAMPLES
        return sound[left : left + (frames.stop - frames.start) * FRAME_SAMPLES]


def _notes(line: Line) -> list[TimedNote]:
    return [note for word in line for syllable in word.syllables for note in syllable]


def _faded(energy: Curve) -> Curve:
    """(n,) down to silence within a few frames."""
    share = np.clip(np.arange(1, len(energy) + 1) / _FADE_FRAMES, 0, 1)
    return np.asarray(energy * (1 - share) + _SILENT_ENERGY * share, np.float32)


def _windows(steps: Steps) -> Iterator[tuple[int, int, Steps]]:
    """First and last step of each window, and the steps of all phonemes within it and its margins."""
    edges = np.concatenate([[0], np.cumsum(steps)])
    total = int(edges[-1])
    count = max(round(total / _WINDOW_STEPS), 1)
    for window in range(count):
        first, last = window * total // count, (window + 1) * total // count
        around = np.clip(edges, max(first - _MARGIN_STEPS, 0), min(last + _MARGIN_STEPS, total))
        yield first, last, np.diff(around)


def _add(samples: Mono, sound: Mono, start: float) -> None:
    """Add sound at 24 kHz to samples at 48 kHz, from `start` seconds on."""
    frame = round(start * RATE_HZ)
    resampled = soxr.resample(sound, SPEECH_HZ, RATE_HZ)
    resampled = resampled[max(-frame, 0) : max(len(samples) - frame, 0)]
    frame = max(frame, 0)
    samples[frame : frame + len(resampled)] += resampled
