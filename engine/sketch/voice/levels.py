"""Evens out how loud a line is sung, so that no syllable is lost and none jumps out."""

import numpy as np
from numpy.typing import NDArray

from engine.speech.network import FRAME_SAMPLES

LINE_RMS = 0.12  # of a line's loud syllables
_LOUD_PERCENTILE = 80.0
_RATIO_ABOVE, _RATIO_BELOW = 0.8, 0.3  # share of the distance to the loud syllables that is taken away
_DEPTH_DB, _FLOOR_DB = 12.0, 30.0  # below the loud syllables: lifted most, and left as it is
_SPREAD = np.hanning(9)[1:-1]  # frames over which levels are told and gains move
_FAINT = 1e-4


def levelled(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """(300 F,) the sound of one line with its loudness evened out, its loud syllables at an RMS of 0.12."""
    power = np.mean(np.square(sound.reshape(-1, FRAME_SAMPLES)), axis=1)
    level = 10 * np.log10(_smooth(power) + 1e-10)
    sounding = level[level > 20 * np.log10(_FAINT)]
    if not len(sounding):
        return sound
    active = sounding[sounding > sounding.max() - _FLOOR_DB]
    loud = float(np.percentile(active, _LOUD_PERCENTILE))
    gain = _smooth(_gain_db(level - loud)) + 20 * np.log10(LINE_RMS) - loud
    at = (np.arange(len(sound)) + 0.5) / FRAME_SAMPLES - 0.5
    curve = np.interp(at, np.arange(len(gain)), 10 ** (gain / 20)).astype(np.float32)
    evened: NDArray[np.float32] = sound * curve
    return evened


def _gain_db(over: NDArray[np.floating]) -> NDArray[np.floating]:
    """Gain for levels told in dB over the loud syllables: less above them, more below, none far below."""
    below = np.clip(-over, 0, None)
    lifted = np.where(
        below <= _DEPTH_DB, below, np.clip(_DEPTH_DB * (_FLOOR_DB - below) / (_FLOOR_DB - _DEPTH_DB), 0, None)
    )
    gain: NDArray[np.floating] = _RATIO_BELOW * lifted - _RATIO_ABOVE * np.clip(over, 0, None)
    return gain


def _smooth(values: NDArray[np.floating]) -> NDArray[np.floating]:
    width = len(_SPREAD) // 2
    padded = np.pad(values, width, mode="edge")
    smooth: NDArray[np.floating] = np.convolve(padded, _SPREAD / _SPREAD.sum(), "valid")
    return smooth
