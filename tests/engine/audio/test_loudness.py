"""Loudness against an independent meter, and the limiter."""

import numpy as np
import pyloudnorm
import pytest

from engine.audio import Samples, integrated_loudness, normalise_loudness

RATE = 48_000


def noise(seconds: float, seed: int = 1) -> Samples:
    """Pink noise whose level swells and sinks."""
    count = round(seconds * RATE)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal((count, 2)), axis=0)
    pink = np.fft.irfft(spectrum / np.sqrt(np.arange(len(spectrum)) + 5)[:, None], count, axis=0)
    swell = 0.3 + np.sin(np.arange(count) / RATE * 2) ** 4
    return np.asarray(pink / np.abs(pink).max() * 0.2 * swell[:, None], dtype=np.float32)


def tone(frequency_hz: float, seconds: float = 2.0, level: float = 0.3) -> Samples:
    wave = level * np.sin(2 * np.pi * frequency_hz * np.arange(round(seconds * RATE)) / RATE)
    return np.stack([wave, wave], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    "samples", [noise(4), tone(100), tone(997), tone(8_000)], ids=["noise", "100", "997", "8000"]
)
def test_the_meter_agrees_with_pyloudnorm(samples: Samples) -> None:
    expected = pyloudnorm.Meter(RATE).integrated_loudness(samples)
    assert integrated_loudness(samples, RATE) == pytest.approx(expected, abs=0.1)


def test_a_full_scale_997_hz_tone_in_one_channel_is_the_standards_reference() -> None:
    samples = tone(997, level=1.0)
    samples[:, 1] = 0
    assert integrated_loudness(samples, RATE) == pytest.approx(-3.01, abs=0.05)


@pytest.mark.parametrize("target", [-14.0, -12.0, -23.0])
def test_the_target_is_met_and_no_sample_passes_the_ceiling(target: float) -> None:
    out = normalise_loudness(noise(4), RATE, target)
    assert pyloudnorm.Meter(RATE).integrated_loudness(out) == pytest.approx(target, abs=0.5)
    assert np.abs(out).max() <= 10 ** (-1 / 20)


def test_the_limiter_bends_the_level_smoothly() -> None:
    quiet = tone(200, level=0.05)
    quiet[RATE : RATE + 2_400] *= 18
    out = normalise_loudness(quiet, RATE, -20.0)
    steady = np.abs(np.diff(tone(200, level=1.0)[:, 0])).max()
    assert np.abs(np.diff(out[:, 0])).max() < 2 * steady


def test_peaks_between_samples_are_seen() -> None:
    # A quarter of the rate, sampled at 45°: no sample shows the true peak.
    wave = np.sin(np.pi / 2 * np.arange(RATE) + np.pi / 4)
    out = normalise_loudness(np.stack([wave, wave], axis=1).astype(np.float32), RATE, 0.0)
    assert np.abs(out).max() < 0.9 * 10 ** (-1 / 20)


def test_silence_and_short_clips_survive() -> None:
    silence = np.zeros((RATE, 2), dtype=np.float32)
    assert np.array_equal(normalise_loudness(silence, RATE), silence)
    for frames in (1, 50, 4_000):
        out = normalise_loudness(tone(440)[7 : 7 + frames], RATE)
        assert np.isfinite(out).all()
        assert 0 < np.abs(out).max() <= 10 ** (-1 / 20)
    assert normalise_loudness(np.zeros((0, 2), dtype=np.float32), RATE).shape == (0, 2)


def test_in_place_saves_the_copy() -> None:
    samples = noise(1)
    assert normalise_loudness(samples, RATE, in_place=True) is samples
