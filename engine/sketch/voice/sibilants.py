"""Softens the hissing consonants, which would else be the loudest thing in a song (a de-esser)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.speech.network import FRAME_SAMPLES, RATE_HZ

LOW_HZ: Final = 5_000.0  # hissing lies above
_SLOPE_HZ: Final = 1_000.0  # how wide the way into that band is
LOUDEST_DB: Final = -20.0  # of a frame's hissing below the loud syllables, before it is taken back
_RATIO: Final = 0.8  # share of what is over that is taken away
_MOST_DB: Final = 14.0
_SPREAD: Final = np.hanning(5)[1:-1]  # frames over which the gain moves


def softened(sound: NDArray[np.float32], loud_rms: float) -> NDArray[np.float32]:
    """(300 F,) a sung line at 24 kHz with the band above 5 kHz held below its `loud_rms`."""
    high = _above(sound)
    power = np.mean(np.square(high.reshape(-1, FRAME_SAMPLES)), axis=1)
    over = 10 * np.log10(power + 1e-12) - (20 * np.log10(loud_rms) + LOUDEST_DB)
    padded = np.pad(np.clip(_RATIO * over, 0, _MOST_DB), len(_SPREAD) // 2, mode="edge")
    reduction = np.convolve(padded, _SPREAD / _SPREAD.sum(), "valid")
    at = (np.arange(len(sound)) + 0.5) / FRAME_SAMPLES - 0.5
    share = np.interp(at, np.arange(len(reduction)), 1 - 10 ** (-reduction / 20)).astype(np.float32)
    soft: NDArray[np.float32] = sound - high * share
    return soft


def _above(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n,) what lies above 5 kHz, without a shift of phase."""
    length = 1 << (len(sound) + RATE_HZ // 20 - 1).bit_length()
    hertz = np.fft.rfftfreq(length, 1 / RATE_HZ)
    band = np.clip((hertz - LOW_HZ + _SLOPE_HZ / 2) / _SLOPE_HZ, 0, 1).astype(np.float32)
    return np.fft.irfft(np.fft.rfft(sound, length) * band, length)[: len(sound)].astype(np.float32)
