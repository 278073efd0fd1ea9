"""Loudness evened out along a line."""

import numpy as np
from numpy.typing import NDArray

from engine.sketch.voice.levels import LINE_RMS, levelled


def _tone(*levels: float) -> NDArray[np.float32]:
    """Half a second at each level."""
    time = np.arange(12_000) / 24_000
    wave = np.sin(2 * np.pi * 220 * time)
    return np.concatenate([level * wave for level in levels]).astype(np.float32)


def _rms(sound: NDArray[np.float32], place: int) -> float:
    return float(np.sqrt(np.mean(np.square(sound[12_000 * place + 3000 : 12_000 * place + 9000]))))


def test_loud_syllables_have_one_level_whatever_they_had() -> None:
    for level in (0.05, 0.5):
        assert abs(_rms(levelled(_tone(level)), 0) / LINE_RMS - 1) < 0.1


def test_a_syllable_that_jumps_out_is_held_back_and_a_soft_one_lifted() -> None:
    evened = levelled(_tone(*[0.2] * 9, 0.8, 0.07))
    assert _rms(evened, 9) / _rms(evened, 2) < 2
    assert 0.07 / 0.2 * 1.2 < _rms(evened, 10) / _rms(evened, 2) < 0.8


def test_what_is_hardly_there_is_not_lifted() -> None:
    evened = levelled(_tone(0.2, 0.2, 0.2, 0.002))
    assert _rms(evened, 3) / _rms(evened, 1) < 0.012


def test_silence_stays_silence() -> None:
    assert not levelled(np.zeros(3000, np.float32)).any()
