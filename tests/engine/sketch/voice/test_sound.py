"""Pulses and spectra."""

import numpy as np

from engine.sketch.voice.sound import glottis, windowed_sound
from engine.speech.network import BINS, Spectra


def test_pulses_have_their_pitch_and_all_harmonics() -> None:
    spectrum = np.abs(np.fft.rfft(glottis(np.full(80, 200, np.float32)) * np.hanning(24_000)))
    harmonics = spectrum[200:10_800:200]
    assert harmonics.min() > 0.9 * harmonics.max()
    assert spectrum[300:10_800:200].max() < 0.01 * harmonics.max()
    assert spectrum[11_300:].max() < 0.01 * harmonics.max()


def test_pulses_are_silent_without_a_voice() -> None:
    assert not glottis(np.zeros(10, np.float32)).any()


def test_a_changing_pitch_never_breaks_the_phase() -> None:
    pulses = glottis(np.linspace(100, 400, 160, dtype=np.float32))
    peaks = np.flatnonzero((pulses[1:-1] > pulses[:-2]) & (pulses[1:-1] > pulses[2:]) & (pulses[1:-1] > 15))
    gaps = np.diff(peaks)
    assert gaps.min() >= 58
    assert gaps.max() <= 242


def test_spectra_of_nothing_are_silent() -> None:
    quiet, still, hush = (np.full((BINS, 40), level, np.float32) for level in (-12.0, 0.0, -14.0))
    silence = Spectra(quiet, still, hush, hush, still, np.zeros(40, np.float32), np.array([40], np.int64))
    sound = windowed_sound(silence, np.zeros(40 * 300, np.float32), np.random.default_rng(0))
    assert sound.shape == (12_000,)
    assert np.abs(sound).max() < 1e-3
