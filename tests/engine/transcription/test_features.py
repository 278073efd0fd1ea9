"""Log-mel spectra."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.transcription.features import WINDOW_FRAMES, WINDOW_SAMPLES, log_mel, mel_filters


def naive(samples: NDArray[np.float32], bands: int, count: int) -> NDArray[np.float64]:
    """The first frames by the definition: a sum over each frame of 400 samples, centred on every 160th sample."""
    padded = np.concatenate([samples[200:0:-1], samples, np.zeros(800)]).astype(np.float64)
    window = np.sin(np.pi * np.arange(400) / 400) ** 2
    waves = np.exp(-2j * np.pi * np.outer(np.arange(201), np.arange(400)) / 400)
    frames = np.stack([padded[160 * place : 160 * place + 400] * window for place in range(count)], axis=1)
    levels = np.log10(np.maximum(mel_filters(bands) @ np.abs(waves @ frames) ** 2, 1e-10))
    scaled: NDArray[np.float64] = (np.maximum(levels, levels.max() - 8) + 4) / 4
    return scaled


@pytest.mark.parametrize("bands", [80, 128])
def test_features_are_those_of_the_definition(bands: int) -> None:
    samples = np.random.default_rng(1).normal(0, 0.1, 8_000).astype(np.float32)
    features = log_mel(samples, bands)
    assert features.shape == (bands, WINDOW_FRAMES)
    assert features.dtype == np.float32
    assert np.allclose(features[:, :52], naive(samples, bands, 52), atol=2e-6)


def test_what_follows_the_sound_is_the_lowest_level() -> None:
    features = log_mel(np.full(1_600, 0.5, np.float32), 80)
    assert np.all(features[:, 12:] == features.min())
    assert features.max() - features.min() == pytest.approx(2)


def test_a_whole_window_and_none_at_all_are_windows() -> None:
    assert log_mel(np.zeros(0, np.float32), 80).shape == (80, WINDOW_FRAMES)
    whole = np.random.default_rng(2).normal(0, 0.1, WINDOW_SAMPLES).astype(np.float32)
    assert np.ptp(log_mel(whole, 80)[:, -1]) > 0


def test_filters_are_triangles_of_area_one_evenly_spaced_in_mel() -> None:
    filters = mel_filters(80)
    wide = filters[60:]  # narrow ones fall between the bins
    assert np.allclose(wide.sum(axis=1) * 40, 1, atol=0.01)
    peaks = filters.argmax(axis=1) * 40
    highest_mel = 15 + 27 * np.log(8) / np.log(6.4)
    assert peaks[79] == pytest.approx(1_000 * 6.4 ** ((highest_mel * 80 / 81 - 15) / 27), abs=20)
    assert np.all(np.diff(peaks) >= 0)


def test_a_tone_is_loudest_in_the_band_of_its_pitch() -> None:
    tone = np.sin(2 * np.pi * 1_000 * np.arange(16_000) / 16_000).astype(np.float32)
    band = int(log_mel(tone, 80)[:, 50].argmax())
    assert mel_filters(80)[band].argmax() * 40 == 1_000
