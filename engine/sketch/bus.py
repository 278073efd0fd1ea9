"""The mixing desk behind the players: the band held together, and giving way to a singer who stands in front of it.

Gains are worked out once a cell of 5 ms and interpolated between.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.audio import integrated_loudness
from engine.control import Check, unchecked
from engine.score.model import TimedNote
from engine.sketch.fourier import Mono, fast_length

CELL_FRAMES: Final = 240
VOICE_OVER_BAND_LU: Final = 1.5  # before the band steps back
DUCK_DB: Final = 4.0
CARVE_DB: Final = 4.0  # more, around 2.2 kHz
_CELL_SECONDS = 0.005
_ATTACK_SECONDS, _RELEASE_SECONDS = 0.03, 0.2
_AHEAD_CELLS = 6  # the band makes room before a word begins
_HOLD_CELLS = 24  # and does not come back between two syllables
_SILENCE = 0.06  # of a voice's usual level
_CARVE_HZ, _CARVE_QUALITY = 2_200.0, 0.6
_RIDE_SECONDS, _MOST_RIDE_DB = 1.5, 4.0
_SEND, _PREDELAY_FRAMES = 0.13, 960
_GLUE_OVER_DB, _GLUE_RATIO, _MOST_GLUE_DB = 3.0, 2.0, 4.0
_GLUE_ATTACK_SECONDS, _GLUE_RELEASE_SECONDS = 0.02, 0.15
_CHUNK_CELLS = 1024
_BLOCK_FRAMES = 1 << 17
_LOW_CUT_HZ, _PRESENCE_HZ, _PRESENCE_DB = 110.0, 3_200.0, 4.0
_BOTH_SIDES_LU = 3.01  # a voice in the middle comes from two loudspeakers

Cells = NDArray[np.float64]  # (cells,)


@dataclass(frozen=True, slots=True)
class Vocal:
    """A singer's part: the dry voice (n,) at 48 kHz, and the notes of the score that it sings."""

    voice: Mono
    notes: frozenset[TimedNote]


def glue(mix: NDArray[np.float32], send: NDArray[np.float32], check: Check = unchecked) -> None:
    """Hold a band (2, n) and what the room hears of it (n,) together: its loudest moments come down by up to 4 dB."""
    levels = _levels(mix[0], check) + _levels(mix[1], check)
    sounding = levels[levels > 1e-4 * levels.max(initial=0.0)]
    if not sounding.size:
        return
    usual = float(np.mean(sounding))
    over_db = 10 * np.log10(np.maximum(levels, 1e-12) / usual) - _GLUE_OVER_DB
    wanted = np.clip(over_db * (1 - 1 / _GLUE_RATIO), 0.0, _MOST_GLUE_DB)
    reduction = _smoothed(wanted, _GLUE_ATTACK_SECONDS, _GLUE_RELEASE_SECONDS)
    _turn_down((mix[0], mix[1], send), reduction, check)


def add_voice(
    voice: Mono, mix: NDArray[np.float32], send: NDArray[np.float32], rate_hz: int, check: Check = unchecked
) -> None:
    """Put a dry voice (m,) into the middle of a band (2, n), which steps back while it sounds, and a little into the room.

    The voice stands a few LU above the band, whatever both of them were.
    """
    voice = brightened(voice[: mix.shape[1]], rate_hz, check)
    if not voice.any():
        return
    band_lufs = integrated_loudness(mix.T, rate_hz, check)
    voice_lufs = integrated_loudness(voice[:, None], rate_hz, check) + _BOTH_SIDES_LU
    gain = 10 ** ((band_lufs + VOICE_OVER_BAND_LU - voice_lufs) / 20) if np.isfinite(band_lufs) else 1.0
    rides = riding(mix, check)
    duck = ducking(voice, mix.shape[1], check)
    _turn_down((mix[0], mix[1], send), duck, check)
    for side in mix:
        _carve(side, duck * (CARVE_DB / DUCK_DB), rate_hz, check)
    _turn_down((voice,), -rides[: -(-len(voice) // CELL_FRAMES)], check)
    voice *= np.float32(gain)
    for start in range(0, len(voice), _BLOCK_FRAMES):
        check()
        part = voice[start : start + _BLOCK_FRAMES]
        mix[:, start : start + len(part)] += part
        heard = send[start + _PREDELAY_FRAMES : start + _PREDELAY_FRAMES + len(part)]
        heard += part[: len(heard)] * np.float32(_SEND)


def _carve(side: Mono, reduction_db: Cells, rate_hz: int, check: Check) -> None:
    """Make the middle of one side (n,) softer in place, where consonants are told from one another.

    What a resonance (a biquad band pass of unit gain, R. Bristow-Johnson's cookbook) lets through is taken away.
    """
    from scipy.signal import lfilter

    turn = 2 * np.pi * _CARVE_HZ / rate_hz
    alpha = np.sin(turn) / (2 * _CARVE_QUALITY)
    forward = np.array([alpha, 0.0, -alpha], np.float32) / np.float32(1 + alpha)
    back = np.array([1 + alpha, -2 * np.cos(turn), 1 - alpha], np.float32) / np.float32(1 + alpha)
    state = np.zeros(2, np.float32)
    for first in range(0, len(reduction_db), _CHUNK_CELLS):
        check()
        span = slice(first * CELL_FRAMES, (first + _CHUNK_CELLS) * CELL_FRAMES)
        middle, state = lfilter(forward, back, side[span], zi=state)
        share = 1 - 10 ** (-reduction_db[first : first + _CHUNK_CELLS + 1] / 20)
        side[span] -= middle * _between(share.astype(np.float32), len(middle))


def riding(mix: NDArray[np.float32], check: Check = unchecked) -> Cells:
    """(cells,) decibels by which a singer gets louder with a band (2, n) that is louder than usual for a while."""
    levels = _levels(mix[0], check) + _levels(mix[1], check)
    usual = float(np.mean(levels)) or 1.0
    slow = _smoothed(levels, _RIDE_SECONDS, _RIDE_SECONDS)
    rides: Cells = np.clip(10 * np.log10(np.maximum(slow, 1e-12) / usual), 0.0, _MOST_RIDE_DB)
    return rides


def ducking(voice: Mono, frames: int, check: Check = unchecked) -> Cells:
    """(cells,) decibels by which a band of so many frames steps back: there before each word, gone after the line."""
    levels = np.sqrt(_levels(voice, check))
    usual = float(np.sqrt(np.mean(np.square(levels[levels > 0])))) if levels.any() else 1.0
    sounding = np.zeros(-(-frames // CELL_FRAMES))
    sounding[: len(levels)] = (levels > _SILENCE * usual)[: len(sounding)]
    reach = np.convolve(sounding, np.ones(_AHEAD_CELLS + _HOLD_CELLS + 1))[
        _AHEAD_CELLS : _AHEAD_CELLS + len(sounding)
    ]
    return DUCK_DB * _smoothed((reach > 0.5).astype(np.float64), _ATTACK_SECONDS, _RELEASE_SECONDS)


def brightened(voice: Mono, rate_hz: int, check: Check = unchecked) -> Mono:
    """(n,) the voice without rumble, its consonants in front: a slope below 110 Hz, a shelf above 3.2 kHz."""
    filtered = np.zeros(len(voice), np.float32)
    tail = rate_hz // 50
    length = fast_length(_BLOCK_FRAMES + 2 * tail)
    hertz = np.fft.rfftfreq(length, 1 / rate_hz)
    shelf = (hertz / _PRESENCE_HZ) ** 2 / (1 + (hertz / _PRESENCE_HZ) ** 2)
    response = (1 + (10 ** (_PRESENCE_DB / 20) - 1) * shelf) / np.sqrt(
        1 + (_LOW_CUT_HZ / np.maximum(hertz, 1)) ** 4
    )
    response = response.astype(np.float32)  # so that the transform stays in single precision
    for start in range(0, len(voice), _BLOCK_FRAMES):
        check()
        block = np.zeros(length, np.float32)
        part = voice[start : start + _BLOCK_FRAMES]
        block[tail : tail + len(part)] = part  # what rings before and after the block lies around it
        answer = np.fft.irfft(np.fft.rfft(block) * response, length)
        first = max(start - tail, 0)
        heard = answer[first - start + tail : len(part) + 2 * tail]
        filtered[first : first + len(heard)] += heard[: len(filtered) - first]
    return filtered


def _levels(signal: NDArray[np.float32], check: Check) -> Cells:
    """(cells,) mean square of each cell; what is left over at the end counts as a whole one."""
    levels = np.zeros(-(-len(signal) // CELL_FRAMES))
    for first in range(0, len(levels), _CHUNK_CELLS):
        check()
        part = signal[first * CELL_FRAMES : (first + _CHUNK_CELLS) * CELL_FRAMES]
        padded = np.zeros(-(-len(part) // CELL_FRAMES) * CELL_FRAMES, np.float32)
        padded[: len(part)] = part
        cells = padded.reshape(-1, CELL_FRAMES)
        levels[first : first + len(cells)] = np.einsum("ij,ij->i", cells, cells) / CELL_FRAMES
    return levels


def _smoothed(wanted: Cells, attack_seconds: float, release_seconds: float) -> Cells:
    """(cells,) rising and falling exponentially with the two times."""
    attack, release = (1 - float(np.exp(-_CELL_SECONDS / time)) for time in (attack_seconds, release_seconds))
    smooth, level = np.empty_like(wanted), 0.0
    for place, target in enumerate(wanted.tolist()):
        level += (attack if target > level else release) * (target - level)
        smooth[place] = level
    return smooth


def _turn_down(signals: tuple[NDArray[np.float32], ...], reduction_db: Cells, check: Check) -> None:
    """Make signals (n,) softer in place by (cells,) decibels."""
    gains = (10 ** (-reduction_db / 20)).astype(np.float32)
    for first in range(0, len(gains), _CHUNK_CELLS):
        check()
        some = gains[first : first + _CHUNK_CELLS + 1]
        if (some == 1).all():
            continue
        span = slice(first * CELL_FRAMES, min((first + _CHUNK_CELLS) * CELL_FRAMES, len(signals[0])))
        curve = _between(some, span.stop - span.start)
        for signal in signals:
            signal[span] *= curve


def _between(cells: Mono, frames: int) -> Mono:
    """(frames,) a straight line from each cell's value to the next one's; the last one stays."""
    count = -(-frames // CELL_FRAMES)
    steps = np.append(cells, cells[-1])
    rise = np.linspace(0, 1, CELL_FRAMES, endpoint=False, dtype=np.float32)
    return np.asarray(
        (steps[:count, None] + np.diff(steps)[:count, None] * rise).ravel()[:frames], np.float32
    )
