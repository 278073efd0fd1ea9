"""Timelines to play and ears to listen with."""

from pathlib import Path

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from engine.score import TimedChord, TimedNote, Timeline, parse, timeline

RATE = 48_000
EXAMPLE = Path(__file__).parents[2] / "data" / "scores" / "em-120.abc"
MINOR, MAJOR = (0, 3, 7), (0, 4, 7)


def example() -> Timeline:
    """The example score, played out."""
    return timeline(parse(EXAMPLE.read_text()))


def hertz(key: int) -> float:
    return float(440 * 2 ** ((key - 69) / 12))


def note(key: int, start: float, end: float, voice: str = "Vocal", bar: int = 0) -> TimedNote:
    return TimedNote(voice, key, start, end, bar)


def song(bars: int = 4, *, chords: bool = True, bar_seconds: float = 1.0) -> Timeline:
    """Quarter notes up a scale over a minor and a major chord, 4/4."""
    keys = (64, 67, 69, 71)
    notes = [
        note(
            keys[beat] + bar % 2,
            (bar + beat / 4) * bar_seconds,
            (bar + beat / 4 + 0.25) * bar_seconds,
            bar=bar,
        )
        for bar in range(bars)
        for beat in range(4)
    ]
    changes = [
        TimedChord("Em" if bar % 2 == 0 else "C", 4 * (1 - bar % 2), MAJOR if bar % 2 else MINOR, 4 * (1 - bar % 2),
                   bar * bar_seconds, (bar + 1) * bar_seconds, bar)
        for bar in range(bars)
    ]  # fmt: skip
    return Timeline(
        notes=tuple(notes),
        chords=tuple(changes) if chords else (),
        bars=tuple((bar * bar_seconds, (bar + 1) * bar_seconds) for bar in range(bars)),
        beats=tuple(beat * bar_seconds / 4 for beat in range(4 * bars)),
        sections=(
            ("verse", 0.0, bars * bar_seconds / 2),
            ("chorus", bars * bar_seconds / 2, bars * bar_seconds),
        ),
        duration=bars * bar_seconds,
        meters=((4, 4),) * bars,
    )


def melody(*notes: TimedNote) -> Timeline:
    """Nothing but these notes, in one bar."""
    end = max(one.end for one in notes)
    return Timeline(notes, (), ((0.0, end),), (0.0,), (), end, ((4, 4),))


def cents_off(tone: NDArray[np.float32], key: int) -> float:
    """How far a tone (n,) lies above its key: the center of its partials' spectral lines, the strong ones first.

    The center, not the highest bin, so that vibrato and the voices of a section are averaged.
    """
    length = 1 << 17
    windowed = tone * np.hanning(len(tone)).astype(np.float32)
    power = np.square(np.abs(scipy.fft.rfft(windowed, length)), dtype=np.float64)
    bins = np.arange(len(power)) * RATE / length
    found, weights = [], []
    for partial in range(1, 7):
        nominal = partial * hertz(key)
        near = slice(*np.searchsorted(bins, (nominal * 2 ** (-70 / 1200), nominal * 2 ** (70 / 1200))))
        weight = float(power[near].sum())
        if bins[-1] > nominal and weight:
            found.append(1200 * np.log2(float((power[near] * bins[near]).sum()) / weight / nominal))
            weights.append(weight)
    return float(np.average(found, weights=weights))


def kinks(tone: NDArray[np.float32]) -> NDArray[np.float64]:
    """(blocks,) how much sharper the waveform bends in each 10 ms than it usually does around them."""
    bends = np.abs(np.diff(tone, 2))
    count = len(bends) // 480
    blocks = bends[: count * 480].reshape(count, 480).max(axis=1)
    usual = [float(np.median(blocks[max(place - 12, 0) : place + 13])) for place in range(count)]
    return np.asarray(blocks / (np.array(usual) + 1e-4 * np.abs(tone).max()), dtype=np.float64)
