"""The WAVE header and the quantiser."""

import numpy as np
import pytest

from engine.audio import wav


@pytest.mark.parametrize("depth", [16, 24, 32])
def test_the_header_tells_the_size_of_the_file(depth: wav.Depth) -> None:
    header = wav.header(1_000, 2, 48_000, depth)
    data = 1_000 * 2 * depth // 8
    assert int.from_bytes(header[4:8], "little") == len(header) - 8 + data
    assert int.from_bytes(header[-4:], "little") == data


def test_sixteen_bits_are_dithered_by_at_most_two_steps_and_without_bias() -> None:
    level = np.full((20_000, 2), 0.25 / 32767, dtype=np.float32)
    steps = np.frombuffer(wav.SampleQuantiser(16).quantise(level), "<i2")
    assert set(np.unique(steps)) <= {-1, 0, 1}
    assert steps.mean() == pytest.approx(0.25, abs=0.02)
