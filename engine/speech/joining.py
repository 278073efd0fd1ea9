"""Pieces of speech brought to one loudness and joined without clicks."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.speech.network import RATE_HZ
from engine.speech.voice import Sound

LOUDNESS_DB: Final = -20.0  # of what is not silent, root mean square below full scale
MOST_GAIN_DB: Final = 12.0
PEAK: Final = 0.89  # 1 dB below full scale
_FLOOR_DB: Final = -34.0  # below the loudest stretch: silence
STRETCH: Final = 240  # samples, 10 ms
_LEAD: Final = 0.03  # seconds kept before the first sound: a soft consonant
_TAIL: Final = 0.08  # and after the last: the end of a breath
_FADE: Final = 0.008


def levels(sound: Sound) -> Sound:
    """Root mean square of each 10 ms."""
    whole = len(sound) // STRETCH * STRETCH
    return np.asarray(np.sqrt(np.mean(np.square(sound[:whole].reshape(-1, STRETCH)), axis=1)), np.float32)


def active(sound: Sound) -> NDArray[np.bool_]:
    """(ceil(N / 240),) whether there is something to hear in each 10 ms, the rest at the end included."""
    loud = levels(np.pad(sound, (0, -len(sound) % STRETCH)))
    return np.asarray(loud > loud.max(initial=0.0) * 10 ** (_FLOOR_DB / 20), np.bool_)


def heard(sound: Sound) -> tuple[int, int]:
    """From which to which sample there is something to hear, with a little before and after; (0, 0) for silence."""
    loud = levels(sound)
    if not len(loud) or loud.max() <= 1e-5:
        return 0, 0
    places = np.flatnonzero(loud > loud.max() * 10 ** (_FLOOR_DB / 20))
    first = int(places[0]) * STRETCH - int(_LEAD * RATE_HZ)
    last = (int(places[-1]) + 1) * STRETCH + int(_TAIL * RATE_HZ)
    return max(first, 0), min(last, len(sound))


def evened(sound: Sound) -> Sound:
    """The sound at the loudness that all pieces have, lower where its peak would come near full scale."""
    loud = levels(sound)
    if not len(loud) or loud.max() <= 1e-5:
        return sound
    active = loud[loud > loud.max() * 10 ** (_FLOOR_DB / 20)]
    wanted = 10 ** (LOUDNESS_DB / 20) / float(np.sqrt(np.mean(np.square(active))))
    gain = min(wanted, 10 ** (MOST_GAIN_DB / 20), PEAK / float(np.abs(sound).max()))
    return (sound * np.float32(gain)).astype(np.float32)


def faded(sound: Sound) -> Sound:
    """The sound rising from and falling to nothing within 8 ms, so that silence may stand beside it."""
    length = min(int(_FADE * RATE_HZ), len(sound) // 2)
    if not length:
        return sound
    slope = (0.5 - 0.5 * np.cos(np.pi * (np.arange(length) + 0.5) / length)).astype(np.float32)
    soft = sound.copy()
    soft[:length] *= slope
    soft[-length:] *= slope[::-1]
    return soft


def pause(seconds: float) -> Sound:
    """Silence."""
    return np.zeros(round(seconds * RATE_HZ), np.float32)
