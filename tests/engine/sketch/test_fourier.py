"""Transform lengths, doubling, low pass."""

import numpy as np
import pytest

from engine.sketch.fourier import doubled, fast_length, lowered


@pytest.mark.parametrize("least", [1, 2, 17, 64, 65, 1_000, 4_801, 99_999, 131_072, 140_000])
def test_a_fast_length_is_even_long_enough_and_has_small_factors(least: int) -> None:
    length = fast_length(least)
    assert least <= length <= max(1.35 * least, 4)
    assert length % 2 == 0
    for factor in (2, 3, 5):
        while length % factor == 0:
            length //= factor
    assert length == 1


def sine(cycles: float, count: int = 4_000) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.asarray(np.sin(2 * np.pi * cycles * np.arange(count)), dtype=np.float32)


def test_doubling_reads_between_the_samples() -> None:
    twice = doubled(sine(0.13))
    assert len(twice) == 8_000
    assert np.abs(twice - sine(0.065, 8_000))[200:-200].max() < 0.01


def test_lowering_keeps_what_lies_below_and_drops_what_lies_above() -> None:
    middle = slice(500, -500)
    assert np.abs(lowered(sine(0.1), 0.5) - sine(0.1))[middle].max() < 0.01
    assert np.abs(lowered(sine(0.3), 0.5))[middle].max() < 0.02
