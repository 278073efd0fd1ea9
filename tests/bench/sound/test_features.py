"""Features of sounds whose nature is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.sound.features import (
    balance,
    by_spans,
    centroid,
    chroma,
    onsets,
    pitch,
    similarity,
    spectrogram,
)

RATE = 24_000


def tone(hertz: float, seconds: float, overtones: int = 4) -> NDArray[np.float32]:
    """A tone with overtones that get softer."""
    time = np.arange(int(seconds * RATE)) / RATE
    parts = [np.sin(2 * np.pi * hertz * nth * time) / nth for nth in range(1, overtones + 1)]
    return np.asarray(0.2 * sum(parts), np.float32)


@pytest.mark.parametrize("hertz", [98.0, 220.0, 441.3, 659.3])
def test_the_pitch_of_a_tone_is_within_two_cents(hertz: float) -> None:
    _, found = pitch(tone(hertz, 0.5), RATE)
    assert np.abs(1200 * np.log2(found / hertz)).max() < 2


def test_noise_and_silence_have_no_pitch() -> None:
    noise = 0.1 * np.random.default_rng(1).standard_normal(RATE // 2).astype(np.float32)
    assert np.isnan(pitch(noise, RATE)[1]).mean() > 0.9
    assert np.isnan(pitch(np.zeros(RATE // 2, np.float32), RATE)[1]).all()


def test_onsets_are_where_tones_begin() -> None:
    begins = (0.5, 1.0, 1.75)
    sound = np.zeros(3 * RATE, np.float32)
    for begin, hertz in zip(begins, (220, 330, 262), strict=True):
        decay = np.exp(-4 * np.arange(RATE) / RATE)
        sound[int(begin * RATE) : int(begin * RATE) + RATE] += (tone(hertz, 1.0) * decay).astype(np.float32)
    found = onsets(spectrogram(sound), RATE)
    assert len(found) == 3
    assert np.abs(found - begins).max() < 0.03


def test_a_tone_is_of_its_pitch_class() -> None:
    assert chroma(spectrogram(tone(440, 0.5, 1)), RATE).sum(axis=1).argmax() == 9


def test_energy_is_told_by_bands() -> None:
    parts = balance(spectrogram(tone(1000, 0.5, 1)), RATE)
    assert parts.argmax() == 2
    assert parts[2] == pytest.approx(0.0, abs=0.1)
    assert centroid(spectrogram(tone(1000, 0.5, 1)), RATE) == pytest.approx(1000, rel=0.05)


def test_spans_that_are_alike_are_similar() -> None:
    sound = np.concatenate([tone(hertz, 0.5) for hertz in (220, 330, 220)])
    spans = [(0.0, 0.5), (0.5, 1.0), (1.0, 1.5)]
    alike = similarity(by_spans(chroma(spectrogram(sound), RATE), RATE, spans))
    assert alike[0, 2] > 0.9 > 0.5 > alike[0, 1]
