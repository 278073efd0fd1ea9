"""Speech at paces that no network keeps: sound made longer or shorter while its pitch stays.

A network that is hurried leaves sounds out, and one that is slowed down too far mumbles. So it speaks between half its
own pace and its own, and the rest is stretched by waveform similarity: W. Verhelst and M. Roelands, "An overlap-add
technique based on waveform similarity (WSOLA) for high quality time-scale modification of speech", ICASSP 1993. Where
speech is hurried most, silences give way first, as people's do.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.speech.joining import STRETCH, active
from engine.speech.voice import Sound

SLOWEST_SAID, FASTEST_SAID = 0.5, 1.0
"""Between these the network itself keeps the pace."""

_EXACT: Final = 2.0  # up to this pace speech lasts as long as was asked for
_LONGER: Final = 0.08  # how much longer than asked it lasts from 2.5 on, which makes it easier to follow
_EVEN: Final = 2.0  # up to this pace silences and what is to be heard become shorter alike
_FRAME: Final = 720  # samples, 30 ms: three periods of a low voice
_HOP: Final = _FRAME // 2
_SEARCH: Final = 240  # samples to either side, 10 ms: a period of a low voice
_COARSE: Final = 2  # every so many samples are compared
_FAINT: Final = 1e-9


def said_at(speed: float) -> float:
    """The pace at which a network is to speak where speech is wanted at `speed`."""
    return min(max(speed, SLOWEST_SAID), FASTEST_SAID)


def left_to_pace(speed: float) -> float:
    """How many times faster than at that pace the speech has to become."""
    longer = _LONGER * min(max(2 * (speed - _EXACT), 0.0), 1.0)
    return speed / (1 + longer) / said_at(speed)


@dataclass(frozen=True, slots=True)
class Paced:
    """A sound (N,) at another pace; sample `before[n]` of the old one is heard at sample `after[n]` of it."""

    sound: Sound
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def place(self, sample: float) -> float:
        """Where in the sound that sample of the old one is heard."""
        return float(np.interp(sample, self.before, self.after))


def paced(sound: Sound, speed: float) -> Paced:
    """The sound (N,), round(N / speed) samples long; itself for a speed of 1."""
    before = np.append(np.arange(0, len(sound), STRETCH, dtype=np.float64), len(sound))
    if speed == 1 or not len(sound):
        return Paced(sound, before, before)
    lengths = np.diff(before)
    after = np.concatenate([[0.0], np.cumsum(lengths * _shares(sound, lengths, speed))])
    total = round(len(sound) / speed)
    wanted = np.interp(np.arange(total // _HOP + 2) * _HOP, after, before)
    return Paced(_overlapped(sound, wanted)[:total], before, after)


def _shares(sound: Sound, lengths: NDArray[np.float64], speed: float) -> NDArray[np.float64]:
    """What becomes of each 10 ms, which are `lengths` samples long: of silences less than of what is to be heard."""
    shares = np.full(len(lengths), 1 / speed)
    loud = active(sound)
    voiced = lengths[loud].sum()
    if speed > 1 and voiced:
        kept = min(_EVEN / speed, 1.0) / speed
        shares[~loud] = kept
        shares[loud] = (lengths.sum() / speed - lengths[~loud].sum() * kept) / voiced
    return shares


def _overlapped(sound: Sound, wanted: NDArray[np.float64]) -> Sound:
    """Frames of the sound whose middles are near the places wanted, each half over the one before it."""
    padding = _FRAME + _SEARCH
    padded = np.concatenate([np.zeros(padding, np.float32), sound, np.zeros(2 * padding, np.float32)])
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)).astype(np.float32)
    out = np.zeros((len(wanted) + 1) * _HOP, np.float32)
    place = 0
    for turn, start in enumerate(np.rint(wanted).astype(int) - _HOP + padding):
        place = _alike(padded, place + _HOP, start) if turn else start
        out[turn * _HOP : turn * _HOP + _FRAME] += window * padded[place : place + _FRAME]
    return out[_HOP:]


def _alike(sound: Sound, following: int, start: int) -> int:
    """The place near `start` where the sound goes on most like it does at `following`."""
    goal = sound[following : following + _FRAME : _COARSE]
    near = sound[start - _SEARCH : start + _SEARCH + _FRAME : _COARSE]
    if len(goal) < _FRAME // _COARSE or not goal.any():
        return start
    products = np.correlate(near, goal, "valid")
    squares = np.concatenate([[0.0], np.cumsum(np.square(near, dtype=np.float64))])
    energies = squares[len(goal) :] - squares[: -len(goal)]
    return start - _SEARCH + _COARSE * int(np.argmax(products / np.sqrt(energies + _FAINT)))
