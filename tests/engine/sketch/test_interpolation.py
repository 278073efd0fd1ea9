"""Reading between samples."""

import numpy as np

from engine.sketch.interpolation import interpolated


def test_whole_places_are_the_samples_themselves() -> None:
    frames = np.random.default_rng(1).standard_normal(50).astype(np.float32)
    assert np.array_equal(interpolated(frames, np.arange(47.0)), frames[:47])


def test_a_smooth_wave_is_read_closely_between_its_samples() -> None:
    frames = np.sin(2 * np.pi * 0.02 * np.arange(400)).astype(np.float32)
    places = np.arange(1.0, 390.0, 0.37)
    assert np.abs(interpolated(frames, places) - np.sin(2 * np.pi * 0.02 * places)).max() < 2e-3
