"""Melodies with words, and ears that follow a voice."""

import numpy as np
from numpy.typing import NDArray

from engine.score.model import TimedNote
from engine.sketch.notes import RATE_HZ


def melody(words: str, keys: list[int], seconds: list[float], start: float = 0.5) -> list[TimedNote]:
    """One note behind another; a syllable `.` is a rest."""
    notes = []
    for syllable, key, length in zip(words.split(), keys, seconds, strict=True):
        if syllable != ".":
            notes.append(TimedNote("Vocal", key, start, start + length, 0, syllable))
        start += length
    return notes


SONG = [
    *melody("The cap- tain sees a ship at sea", [52, 54, 56, 57, 56, 54, 52, 54], [0.3] * 7 + [1.0]),
    *melody("Take me to the top", [57, 59, 57, 54, 56], [0.4, 0.4, 0.25, 0.25, 1.2], start=4.2),
]
SECONDS = 7.5


def level(samples: NDArray[np.float32], start: float, end: float) -> float:
    """Root mean square between two instants."""
    heard = samples[max(round(start * RATE_HZ), 0) : round(end * RATE_HZ)]
    return float(np.sqrt(np.mean(np.square(heard)))) if len(heard) else 0.0


def heard_hertz(samples: NDArray[np.float32], instant: float) -> float:
    """Pitch around an instant by autocorrelation (60 to 700 Hz), 0 where there is none; octaves are told apart."""
    half = round(0.03 * RATE_HZ)
    middle = round(instant * RATE_HZ)
    frame = samples[max(middle - half, 0) : middle + half].astype(np.float64) * np.hanning(2 * half)
    spectrum = np.abs(np.fft.rfft(frame, 8 * half)) ** 2
    window = np.fft.irfft(np.abs(np.fft.rfft(np.hanning(2 * half), 8 * half)) ** 2)
    likeness = np.fft.irfft(spectrum) / np.maximum(window, 1e-3 * window[0])
    first, last = RATE_HZ // 700, RATE_HZ // 60
    if likeness[0] < 1e-6:
        return 0.0
    peaks = [lag for lag in range(first, last) if likeness[lag - 1] < likeness[lag] >= likeness[lag + 1]]
    best = max((likeness[lag] for lag in peaks), default=0.0)
    if best < 0.5 * likeness[0]:
        return 0.0
    lag = next(lag for lag in peaks if likeness[lag] > 0.9 * best)
    left, here, right = likeness[lag - 1 : lag + 2]
    return float(RATE_HZ / (lag + 0.5 * (left - right) / (left - 2 * here + right)))


def cents(hertz: float, key: float) -> float:
    """How far a pitch is above a key."""
    return float(1200 * np.log2(hertz / 440) + 6900 - 100 * key)
