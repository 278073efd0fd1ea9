"""How far a recorded tone lies from its nominal pitch, at each moment; and the tone bent straight."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.sketch.fourier import Mono, fast_length
from engine.sketch.interpolation import interpolated

_SEARCH = 2 ** (1.3 / 12)  # how far from nominal a pitch is looked for
_FEWEST_PERIODS = 6
_LEAST_LIKENESS = 0.5
_KEPT_LIKENESS = 0.8  # a multiple that is much less alike says more about beating than about pitch
_PARTIALS = 3.0  # the lowest partials count most: the upper ones of strings are sharp
_LAGS_A_PERIOD = 24
_MULTIPLES = (2, 4, 8, 16)
_WINDOW_SECONDS = 0.25  # longer than a turn of vibrato, which is to stay
_HOP_SECONDS = 0.15
_LONGEST_SECONDS = 2.5
_LARGEST_CENTS = 70


class PitchMeter:
    """Measures windows of `count` frames against one nominal pitch; holds what all of them share."""

    def __init__(self, count: int, rate_hz: float, nominal_hz: float) -> None:
        self._period = rate_hz / nominal_hz
        self._able = count >= _FEWEST_PERIODS * self._period and self._period >= 4
        length = fast_length(2 * count)
        frequency = np.fft.rfftfreq(length) * self._period  # in multiples of the nominal pitch
        weight = 1 / (1 + (frequency / _PARTIALS) ** 6)
        # Lags are computed only as densely as the partials that count need: the spectrum is cut off above.
        self._step = max(int(self._period / _LAGS_A_PERIOD), 1)
        self._lags = length // self._step & ~1
        self._bins = self._lags // 2 + 1
        self._step_exact = length / self._lags
        self._length = length
        self._weight = weight[: self._bins]
        self._window = np.hanning(count).astype(np.float32)
        self._own = np.fft.irfft(np.abs(np.fft.rfft(self._window, length)[: self._bins]) ** 2, self._lags)
        self._reach = int(count / self._step_exact)

    def deviation_cents(self, tone: Mono) -> float | None:
        """Cents that `tone` (count,) sounds above nominal; None where it is too short or has no clear pitch there.

        The autocorrelation's peak is followed to ever higher multiples of the period, which divides the error of a
        single lag and averages over vibrato and the voices of a choir.
        """
        if not self._able:
            return None
        likeness = self._likeness(tone)
        period = self._period / self._step_exact
        low, high = int(period / _SEARCH), int(period * _SEARCH) + 2
        peak = low + int(np.argmax(likeness[low:high]))
        if likeness[peak] < _LEAST_LIKENESS or peak in (low, high - 1):
            return None
        found = _vertex(likeness, peak)
        for multiple in _MULTIPLES:
            around, reach = round(found * multiple), max(2, int(found * 0.2))
            if around + reach + 2 > self._reach * 0.45:
                break
            further = around - reach + int(np.argmax(likeness[around - reach : around + reach + 1]))
            if likeness[further] < _KEPT_LIKENESS * likeness[peak]:
                break
            peak = further
            found = _vertex(likeness, peak) / multiple
        cents = float(1200 * np.log2(period / found))
        return cents if abs(cents) <= _LARGEST_CENTS else None

    def _likeness(self, tone: Mono) -> NDArray[np.float64]:
        """(lags,) autocorrelation over the window's own, so that a periodic tone gives peaks of equal height."""
        spectrum = np.fft.rfft(tone * self._window, self._length)[: self._bins]
        power = (np.square(spectrum.real) + np.square(spectrum.imag)) * self._weight
        raw = np.fft.irfft(power, self._lags)[: self._reach]
        likeness: NDArray[np.float64] = raw / np.maximum(self._own[: self._reach], 1e-6 * self._own[0])
        return likeness / max(float(likeness[0]), 1e-12)


def _vertex(values: NDArray[np.float64], peak: int) -> float:
    """Where the parabola through a peak and its neighbours is highest."""
    left, middle, right = (float(values[peak + shift]) for shift in (-1, 0, 1))
    bend = left - 2 * middle + right
    return peak + (0.5 * (left - right) / bend if bend else 0.0)


@dataclass(frozen=True, slots=True)
class PitchCurve:
    """Deviations in cents (k,) around places in frames (k,), ascending; k is at least 1."""

    places: NDArray[np.float64]
    cents: NDArray[np.float64]


def pitch_curve(tone: Mono, rate_hz: int, nominal_hz: float) -> PitchCurve | None:
    """How the pitch of `tone` (n,) moves through its first seconds; None where no pitch is clear."""
    window, hop = min(round(_WINDOW_SECONDS * rate_hz), len(tone)), round(_HOP_SECONDS * rate_hz)
    meter = PitchMeter(window, rate_hz, nominal_hz)
    last = min(len(tone), round(_LONGEST_SECONDS * rate_hz)) - window
    found = [
        (start + window / 2, cents)
        for start in range(0, last + 1, hop)
        if (cents := meter.deviation_cents(tone[start : start + window])) is not None
    ]
    if not found:
        return None
    return PitchCurve(np.array([place for place, _ in found]), np.array([cents for _, cents in found]))


def straightened(tone: Mono, curve: PitchCurve, loop_start: int, following: Mono) -> tuple[Mono, int]:
    """The tone (n,) read faster where it is flat and slower where it is sharp, and where its loop starts then.

    The loop ends with the tone; both of its ends come to lie on whole frames. `following` is what sounds after it.
    """
    frames = np.arange(len(tone) + 1, dtype=np.float64)
    stretch = 2 ** (np.interp(frames, curve.places, curve.cents) / 1200)
    reached = np.concatenate(([0.0], np.cumsum(stretch[:-1])))
    start, end = round(reached[loop_start]), round(reached[-1])
    if loop_start:
        reached[:loop_start] *= start / reached[loop_start]
    reached[loop_start:] -= reached[loop_start]
    if reached[-1]:
        reached[loop_start:] *= (end - start) / reached[-1]
    reached[loop_start:] += start
    positions = np.interp(np.arange(end, dtype=np.float64), reached, frames)
    guarded = np.concatenate((tone, following[:4], np.zeros(4, dtype=np.float32)))
    return interpolated(guarded, positions), start
