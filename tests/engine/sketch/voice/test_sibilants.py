"""Hissing consonants stay behind the rest of the voice."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from engine.sketch.notes import RATE_HZ
from engine.sketch.voice import Singer
from engine.sketch.voice.sibilants import softened
from tests.engine.sketch.voice.songs import melody

FRAMES = 24_000


def decibels(samples: NDArray[np.float32], rate: int) -> NDArray[np.float64]:
    """(n,) the level of every 20 ms."""
    width = rate // 50
    cells = samples[: len(samples) // width * width].reshape(-1, width).astype(np.float64)
    return np.asarray(10 * np.log10(np.mean(np.square(cells), axis=1) + 1e-12))


def hiss(samples: NDArray[np.float32], rate: int, high: float) -> NDArray[np.float64]:
    """(n,) the level of every 20 ms above 6.5 kHz."""
    band = butter(6, [6_500, high], "band", fs=rate, output="sos")
    filtered: NDArray[np.float32] = sosfilt(band, samples)
    return decibels(filtered, rate)


def noise(low: float, high: float, rms: float) -> NDArray[np.float32]:
    spectrum = np.fft.rfft(np.random.default_rng(3).standard_normal(FRAMES))
    hertz = np.fft.rfftfreq(FRAMES, 1 / 24_000)
    spectrum[(hertz < low) | (hertz > high)] = 0
    sound = np.fft.irfft(spectrum)
    return np.asarray(sound * rms / np.sqrt(np.mean(np.square(sound))), np.float32)


def test_loud_hissing_is_taken_back_and_the_voice_below_it_is_not() -> None:
    loud, voice = noise(6_500, 11_000, 0.08), noise(100, 4_000, 0.1)
    heard = softened(loud + voice, 0.12)
    assert np.median(hiss(loud, 24_000, 11_500) - hiss(heard, 24_000, 11_500)) > 6
    assert np.abs(softened(voice, 0.12) - voice).max() < 1e-3


def test_soft_hissing_stays_as_it_is() -> None:
    soft = noise(6_500, 11_000, 0.006)
    assert softened(soft, 0.12) == pytest.approx(soft)


def test_what_is_sung_hisses_less_than_its_vowels(singer: Singer) -> None:
    keys = [52, 54, 56, 57, 56, 54]
    line = melody("Sleep so soft she sails south", keys, [0.4] * 5 + [0.9])
    heard = singer.sing(line, 4.0, seed=1).samples
    levels = decibels(heard, RATE_HZ)
    usual = np.percentile(levels[levels > -50], 95)
    assert hiss(heard, RATE_HZ, 14_000).max() < usual - 8
