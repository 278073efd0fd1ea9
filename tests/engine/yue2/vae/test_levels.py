"""Decoded sound brought to full scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from engine.audio import Samples
from engine.yue2.vae.levels import normalised

VALUES = st.floats(-4, 4, width=32) | st.sampled_from([0.0, -0.0, 0.5, 1e-38])
SOUNDS = arrays.arrays(np.float32, st.tuples(st.integers(1, 40), st.just(2)), elements=VALUES)


@settings(max_examples=60)
@given(samples=SOUNDS, peak_clip=st.sampled_from([0, 10, 12_500, 100_000, 500_000, 999_999]))
def test_the_reference_is_the_magnitude_with_so_many_above_it(samples: Samples, peak_clip: int) -> None:
    falling = np.sort(np.abs(samples).reshape(-1))[::-1]
    reference = falling[samples.size * peak_clip // 1_000_000] or falling[0] or np.float32(1)
    with np.errstate(over="ignore"):
        expected = np.clip(samples / reference, -1, 1)
    before = samples.copy()
    assert np.array_equal(normalised(samples, peak_clip), expected)
    assert np.array_equal(samples, before)


def test_the_true_peak_comes_to_full_scale_and_nothing_is_cut_off() -> None:
    samples = np.array([[0.25, -0.5], [0.125, 0.1]], np.float32)
    assert normalised(samples, 0).tolist() == [[0.5, -1.0], [0.25, pytest.approx(0.2)]]


def test_ten_millionths_of_a_long_sound_may_be_cut_off() -> None:
    samples = np.random.default_rng(5).standard_normal((150_000, 2)).astype(np.float32)
    louder = normalised(samples, 10)
    reference = np.sort(np.abs(samples).reshape(-1))[-4]
    assert np.abs(louder).max() == 1
    assert int((np.abs(samples) > reference).sum()) == 3
    assert np.array_equal(louder, np.clip(samples / reference, -1, 1))


def test_silence_stays_silence_and_a_lone_click_in_it_comes_to_full_scale() -> None:
    silence = np.zeros((1000, 2), np.float32)
    assert not normalised(silence, 10).any()
    assert normalised(silence[:0], 10).shape == (0, 2)
    click = silence.copy()
    click[500, 1] = -0.01
    assert normalised(click, 100_000)[500].tolist() == [0, -1]


def test_in_place_gives_the_same_array_changed() -> None:
    samples = np.array([[0.25, -0.5], [2.0, 0.0]], np.float32)
    expected = normalised(samples, 0)
    assert normalised(samples, 0, in_place=True) is samples
    assert np.array_equal(samples, expected)


def test_columns_of_a_larger_array_are_levelled_alike() -> None:
    wide = np.random.default_rng(6).standard_normal((300, 4)).astype(np.float32)
    assert np.array_equal(normalised(wide[:, ::2], 10_000), normalised(wide[:, ::2].copy(), 10_000))


class Stopped(Exception):
    """The caller's own error."""


def test_a_stop_is_heard() -> None:
    def check() -> None:
        raise Stopped

    samples = np.ones((10, 2), np.float32)
    with pytest.raises(Stopped):
        normalised(samples, 10, check)
