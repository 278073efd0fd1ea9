import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.yue2.vae.windows import decoded_samples, encoded_frames, vae_tiles
from tests.engine.yue2.conftest import Golden

STRIDES = (2, 2, 4, 4, 5, 6)  # of the release
FRAMES = st.integers(0, 3_000)


@settings(max_examples=60)
@given(FRAMES, st.integers(1, 1_100), st.integers(1, 20), st.lists(st.integers(2, 6), min_size=1, max_size=6))
def test_tiles_cover_every_sample_once(frames: int, core: int, halo: int, strides: list[int]) -> None:
    tiles = vae_tiles(frames, core, halo, strides)
    at = 0
    for tile in tiles:
        assert tile.at == at
        assert 0 <= tile.left < tile.right <= frames
        assert tile.right - tile.left <= core + 2 * halo
        assert tile.skip + tile.count <= decoded_samples(tile.right - tile.left, strides)
        assert tile.at - tile.skip == tile.left * math.prod(
            strides
        )  # sample for sample the whole decode's place
        at += tile.count
    assert at == (decoded_samples(frames, strides) if frames else 0)


def test_tiles_see_a_halo_but_for_the_ends() -> None:
    first, second, third = vae_tiles(2_100, 1_024, 16, STRIDES)
    assert (first.left, first.right, first.skip) == (0, 1_040, 0)
    assert (second.left, second.right, second.skip) == (1_008, 2_064, 16 * 1_920)
    assert (third.left, third.right, third.count) == (2_032, 2_100, 52 * 1_920 - 64)


@pytest.mark.parametrize(("core", "halo"), [(0, 16), (-1, 16), (16, 0)])
def test_tiles_without_a_core_or_a_halo_are_refused(core: int, halo: int) -> None:
    with pytest.raises(ValueError, match="at least a frame"):
        vae_tiles(10, core, halo, STRIDES)


def test_lengths_are_the_references(golden: Golden) -> None:
    vae = golden.arrays("vae")
    pairs = zip(vae["lengths_frames"].tolist(), vae["lengths_samples"].tolist(), strict=True)
    assert all(decoded_samples(frames, STRIDES) == samples for frames, samples in pairs)
    assert all(encoded_frames(samples, STRIDES) == frames for samples, frames in vae["enc_lengths"].tolist())


@settings(max_examples=40)
@given(st.integers(1, 30_000))
def test_a_decoded_clip_is_encoded_into_as_many_frames(frames: int) -> None:
    assert decoded_samples(frames, STRIDES) == 1_920 * frames - 64
    assert encoded_frames(decoded_samples(frames, STRIDES), STRIDES) == frames


def convolved(length: int, stride: int) -> int:
    """Places at which a kernel of 2 s fits, s apart, into a padded row; counted."""
    padded = length + 2 * math.ceil(stride / 2)
    return len(range(0, padded - 2 * stride + 1, stride))


def transposed(length: int, stride: int) -> int:
    """Samples that kernels of 2 s reach, s apart, less the padding."""
    return (length - 1) * stride + 2 * stride - 2 * math.ceil(stride / 2)


@pytest.mark.parametrize("stride", range(1, 8))
def test_lengths_are_those_of_the_convolutions(stride: int) -> None:
    rules: list[tuple[Callable[[int, int], int], Callable[[int, tuple[int, ...]], int]]] = [
        (convolved, encoded_frames),
        (transposed, decoded_samples),
    ]
    for counted, told in rules:
        assert [told(length, (stride,)) for length in range(1, 40)] == [
            max(0, counted(length, stride)) for length in range(1, 40)
        ]
