"""Pitch measured and straightened, on tones whose pitch is known."""

import numpy as np
import pytest

from engine.sketch.fourier import Mono
from engine.sketch.tuning import PitchMeter, pitch_curve, straightened

RATE = 44_100


def tone(
    hertz: float, seconds: float = 0.5, cents: float = 0.0, drift: float = 0.0, vibrato: float = 0.0
) -> Mono:
    """Five partials; `drift` in cents a second, `vibrato` in cents either way, 5.5 turns a second."""
    time = np.arange(round(seconds * RATE)) / RATE
    bend = cents + drift * time + vibrato * np.sin(2 * np.pi * 5.5 * time)
    phase = 2 * np.pi * np.cumsum(hertz * 2 ** (bend / 1200)) / RATE
    return np.asarray(sum(np.sin(n * phase) / n for n in range(1, 6)), dtype=np.float32)


@pytest.mark.parametrize("hertz", [41.2, 110.0, 440.0, 1_760.0])
@pytest.mark.parametrize("cents", [-45.0, 0.0, 12.0])
def test_a_tone_off_pitch_is_measured(hertz: float, cents: float) -> None:
    sound = tone(hertz, cents=cents)
    assert PitchMeter(len(sound), RATE, hertz).deviation_cents(sound) == pytest.approx(cents, abs=0.5)


def test_vibrato_is_averaged() -> None:
    sound = tone(440, cents=10, vibrato=25)
    assert PitchMeter(len(sound), RATE, 440).deviation_cents(sound) == pytest.approx(10, abs=4)


def test_noise_short_tones_and_other_pitches_have_no_deviation() -> None:
    noise = np.random.default_rng(1).standard_normal(RATE // 4).astype(np.float32)
    assert PitchMeter(len(noise), RATE, 440).deviation_cents(noise) is None
    assert PitchMeter(300, RATE, 440).deviation_cents(tone(440)[:300]) is None
    assert PitchMeter(RATE // 2, RATE, 440).deviation_cents(tone(440, cents=100)) is None


def test_a_drifting_tone_is_straightened() -> None:
    sound = tone(440, seconds=2.0, drift=-20, cents=30)
    curve = pitch_curve(sound, RATE, 440)
    assert curve is not None
    assert np.ptp(curve.cents) > 25
    straight, start = straightened(sound, curve, RATE, sound[RATE:])
    again = pitch_curve(straight, RATE, 440)
    assert again is not None
    assert np.abs(again.cents).max() < 1.5
    assert RATE < start < 1.02 * RATE


def test_a_tone_without_pitch_has_no_curve() -> None:
    assert pitch_curve(np.random.default_rng(2).standard_normal(RATE).astype(np.float32), RATE, 440) is None
    assert pitch_curve(np.zeros(10, dtype=np.float32), RATE, 440) is None
