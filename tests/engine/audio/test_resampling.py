"""Samples at another rate, and in two channels."""

import numpy as np
import pytest
import soxr

from engine.audio import Samples, resample, resampled_length, stereo

RATES = [(44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (8_000, 48_000), (11_025, 48_000)]


def tone(rate_hz: int, frames: int, frequency_hz: float = 1000.0) -> Samples:
    phase = 2 * np.pi * frequency_hz * np.arange(frames) / rate_hz
    return np.stack([0.5 * np.sin(phase), 0.5 * np.cos(phase)], axis=1).astype(np.float32)


@pytest.mark.parametrize(("from_hz", "to_hz"), RATES)
def test_a_tone_keeps_its_frequency_level_and_phase(from_hz: int, to_hz: int) -> None:
    found = resample(tone(from_hz, from_hz), from_hz, to_hz)
    assert found.dtype == np.float32
    inner = slice(to_hz // 10, -to_hz // 10)
    assert np.abs(found - tone(to_hz, to_hz))[inner].max() < 1e-5


@pytest.mark.parametrize(("from_hz", "to_hz"), RATES)
def test_slices_give_what_one_piece_gives(from_hz: int, to_hz: int) -> None:
    samples = np.random.default_rng(3).standard_normal((70_001, 3)).astype(np.float32)
    expected = soxr.resample(samples, from_hz, to_hz)
    asked: list[None] = []
    found = resample(samples, from_hz, to_hz, lambda: asked.append(None))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-6
    assert len(asked) == 3


@pytest.mark.parametrize("frames", [0, 1, 2, 3, 100, 1001, 32_768, 32_769])
@pytest.mark.parametrize(("from_hz", "to_hz"), RATES)
def test_the_length_is_the_nearest_whole_number(from_hz: int, to_hz: int, frames: int) -> None:
    found = resample(np.ones((frames, 1), np.float32), from_hz, to_hz)
    assert len(found) == resampled_length(frames, from_hz, to_hz)
    assert abs(len(found) * from_hz - frames * to_hz) * 2 <= from_hz


def test_equal_rates_change_nothing() -> None:
    samples = tone(48_000, 100)
    assert resample(samples, 48_000, 48_000) is samples


def test_columns_of_a_larger_array_are_resampled_alike() -> None:
    wide = np.random.default_rng(4).standard_normal((500, 4))
    expected = resample(wide[:, :2].astype(np.float32), 44_100, 48_000)
    assert np.array_equal(resample(wide[:, :2].astype(np.float32, order="F"), 44_100, 48_000), expected)


def test_one_channel_goes_to_both_sides() -> None:
    mono = np.array([[0.5], [-1.0]], np.float32)
    assert stereo(mono).tolist() == [[0.5, 0.5], [-1.0, -1.0]]


def test_two_channels_are_left_alone() -> None:
    samples = tone(48_000, 10)
    assert stereo(samples) is samples


def test_further_channels_are_heard_on_both_sides_and_full_scale_is_not_passed() -> None:
    samples = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, -1, 1, 1]], np.float32)
    half = 0.5**0.5
    expected = np.array([[1, 0], [0, 1], [half, half], [1 + 2 * half, 2 * half - 1]]) / (1 + 2 * half)
    found = stereo(samples)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-6


class Stopped(Exception):
    """The caller's own error."""


def test_a_stop_is_heard_between_slices() -> None:
    left = iter(range(2))

    def check() -> None:
        if next(left, None) is None:
            raise Stopped

    with pytest.raises(Stopped):
        resample(np.zeros((100_000, 1), np.float32), 44_100, 48_000, check)
    with pytest.raises(Stopped):
        stereo(np.zeros((100_000, 1), np.float32), check)
