"""The level of decoded sound: brought to full scale."""

import numpy as np
from numpy.typing import NDArray

from engine.audio import Samples
from engine.control import Check, unchecked

_SLICE_FRAMES = 2**17  # 1 MiB of stereo float32
_HALF_BITS = 16
_HALF_VALUES = 2**_HALF_BITS
_MILLION = 1_000_000


def normalised(
    samples: Samples, peak_clip: int, check: Check = unchecked, *, in_place: bool = False
) -> Samples:
    """(N, C) samples divided by their reference magnitude, then cut off at ±1.

    The n = N C magnitudes in falling order are m_0, m_1, …; the reference is m_k with k = floor(n peak_clip / 10^6),
    so that at most `peak_clip` millionths of the samples (0 to 999,999) are cut off, and 0 gives the true peak. Where
    m_k is zero, m_0 stands in; silence stays as it is. Samples must be finite. `check` is called before each slice
    and stops the work by raising; samples changed in place are then of no use.
    """
    reference = _magnitude(samples, samples.size * peak_clip // _MILLION, check)
    if not reference:
        reference = _magnitude(samples, 0, check)
    return _divided(samples, reference or 1.0, check, in_place)


def _divided(samples: Samples, divisor: float, check: Check, in_place: bool) -> Samples:
    out = samples if in_place else np.empty_like(samples)
    for start in range(0, len(samples), _SLICE_FRAMES):
        check()
        part = out[start : start + _SLICE_FRAMES]
        with np.errstate(over="ignore"):  # what is far over full scale is cut off anyway
            np.divide(samples[start : start + _SLICE_FRAMES], divisor, out=part)
        np.clip(part, -1, 1, out=part)
    return out


def _magnitude(samples: Samples, rank: int, check: Check) -> float:
    """The magnitude of that rank from the top, from 0; zero where there are no samples.

    Exact and without a copy of the samples: magnitudes are ordered as their bit patterns are, so that a count of the
    upper halves finds the reference's upper half, and a count of the lower halves beside it the lower one.
    """
    if not samples.size:
        return 0.0
    upper, rank = _value_at(_histogram(samples, None, check), rank)
    lower, _ = _value_at(_histogram(samples, upper, check), rank)
    return float(np.array([upper << _HALF_BITS | lower], np.uint32).view(np.float32)[0])


def _histogram(samples: Samples, upper: int | None, check: Check) -> NDArray[np.int64]:
    """(65536,) counts of the magnitudes' upper halves, or of the lower halves of those with that upper half."""
    counts = np.zeros(_HALF_VALUES, np.int64)
    for start in range(0, len(samples), _SLICE_FRAMES):
        check()
        bits = np.abs(samples[start : start + _SLICE_FRAMES]).reshape(-1).view(np.uint32)
        halves = bits >> _HALF_BITS
        if upper is not None:
            halves = bits[halves == upper] & (_HALF_VALUES - 1)
        counts += np.bincount(halves, minlength=_HALF_VALUES)
    return counts


def _value_at(counts: NDArray[np.int64], rank: int) -> tuple[int, int]:
    """The value of that rank from the top, and its rank among its equals."""
    above = np.cumsum(counts[::-1])
    place = int(np.searchsorted(above, rank, side="right"))
    before = int(above[place - 1]) if place else 0
    return _HALF_VALUES - 1 - place, rank - before
