"""How far a recorded tone lies from its nominal pitch."""

import numpy as np
from numpy.typing import NDArray

from engine.sketch.fourier import fast_length

_SEARCH_SEMITONES = 1.3
_FEWEST_PERIODS = 6
_LEAST_CONFIDENCE = 0.5
_KEPT_SHARE = 0.8  # a multiple that is much less alike says more about beating than about pitch
_MULTIPLES = (2, 4, 8, 16)


def deviation_cents(tone: NDArray[np.float32], rate_hz: float, nominal_hz: float) -> float | None:
    """Cents that `tone` (n,) sounds above `nominal_hz`; None where it is too short or has no clear pitch there.

    The lag of the autocorrelation's peak is followed to ever higher multiples of the period, which divides the error
    of a single lag and averages over vibrato and the voices of a choir.
    """
    period = rate_hz / nominal_hz
    if len(tone) < _FEWEST_PERIODS * period or period < 4:
        return None
    similarity = _autocorrelation(tone)
    spread = 2 ** (_SEARCH_SEMITONES / 12)
    low, high = int(period / spread), int(period * spread) + 2
    peak = low + int(np.argmax(similarity[low:high]))
    if similarity[peak] < _LEAST_CONFIDENCE or peak in (low, high - 1):
        return None
    found = _vertex(similarity, peak)
    for multiple in _MULTIPLES:
        around, reach = round(found * multiple), max(2, int(found * 0.2))
        if around + reach + 2 > len(tone) * 0.45:
            break
        further = around - reach + int(np.argmax(similarity[around - reach : around + reach + 1]))
        if similarity[further] < _KEPT_SHARE * similarity[peak]:
            break
        peak = further
        found = _vertex(similarity, peak) / multiple
    return float(1200 * np.log2(period / found))


def _autocorrelation(tone: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n,) normalised by the window's own, so that a periodic tone gives peaks of equal height."""
    count = len(tone)
    window = np.hanning(count)
    length = fast_length(2 * count)
    own = np.fft.irfft(np.abs(np.fft.rfft(window, length)) ** 2, length)[:count]
    raw = np.fft.irfft(np.abs(np.fft.rfft(tone * window, length)) ** 2, length)[:count]
    similarity: NDArray[np.float64] = raw / np.maximum(own, 1e-9 * own[0])
    return similarity / max(float(similarity[0]), 1e-12)


def _vertex(values: NDArray[np.float64], peak: int) -> float:
    """Where the parabola through a peak and its neighbours is highest."""
    left, middle, right = (float(values[peak + shift]) for shift in (-1, 0, 1))
    bend = left - 2 * middle + right
    return peak + (0.5 * (left - right) / bend if bend else 0.0)
