"""Pieces of speech stand side by side without clicks, alike in loudness."""

import numpy as np
import pytest

from engine.speech.joining import LOUDNESS_DB, MOST_GAIN_DB, PEAK, evened, faded, heard, levels, pause
from engine.speech.voice import Sound

RATE = 24_000


def tone(seconds: float, level: float) -> Sound:
    time = np.arange(round(seconds * RATE)) / RATE
    return np.asarray(level * np.sqrt(2) * np.sin(2 * np.pi * 200 * time), np.float32)


def test_levels_are_root_mean_squares() -> None:
    assert levels(tone(0.1, 0.25)) == pytest.approx(np.full(10, 0.25), abs=1e-4)


def test_silence_around_is_found() -> None:
    begin, end = heard(np.concatenate([pause(0.5), tone(1, 0.1), pause(0.5)]))
    assert begin / RATE == pytest.approx(0.47, abs=0.011)
    assert end / RATE == pytest.approx(1.58, abs=0.011)


@pytest.mark.parametrize("sound", [pause(0), pause(1), pause(0.005)])
def test_in_silence_nothing_is_heard(sound: Sound) -> None:
    assert heard(sound) == (0, 0)
    assert np.array_equal(evened(sound), sound)


@pytest.mark.parametrize("level", [0.03, 0.1, 0.4])
def test_all_pieces_have_one_loudness(level: float) -> None:
    even = evened(np.concatenate([tone(0.5, level), pause(0.5)]))
    assert 20 * np.log10(np.sqrt(np.mean(even[: RATE // 2] ** 2))) == pytest.approx(LOUDNESS_DB, abs=0.1)


def test_a_peak_bounds_the_loudness() -> None:
    sound = tone(0.5, 0.02)
    sound[6_000] = 0.9
    assert np.abs(evened(sound)).max() == pytest.approx(PEAK, abs=1e-6)


def test_a_very_quiet_sound_gains_no_more_than_may_be() -> None:
    quiet = tone(0.5, 0.001)
    assert evened(quiet) == pytest.approx(quiet * 10 ** (MOST_GAIN_DB / 20), rel=1e-5)
    assert MOST_GAIN_DB == 12


def test_edges_rise_from_nothing() -> None:
    soft = faded(np.ones(1000, np.float32))
    assert soft[0] < 0.001 > soft[-1]
    assert soft[500] == 1
    assert np.abs(np.diff(soft)).max() < 0.01


def test_what_is_too_short_to_fade_is_left() -> None:
    assert len(faded(np.ones(1, np.float32))) == 1
