"""Lengths, reaches and tiles of the VAE."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.yue2.vae_reach import (
    decoded_samples,
    decoder_reach,
    encoded_frames,
    encoder_reach,
    tiles,
)
from tests.engine.yue2.conftest import Golden

RELEASE = (2, 2, 4, 4, 5, 6)


def test_decoded_lengths_are_the_references(golden: Golden) -> None:
    arrays = golden.arrays("vae")
    lengths = [decoded_samples(int(frames), RELEASE) for frames in arrays["lengths_frames"]]
    assert lengths == arrays["lengths_samples"].tolist()


def test_encoded_lengths_are_the_references(golden: Golden) -> None:
    table = golden.arrays("vae")["enc_lengths"].tolist()
    assert [[samples, encoded_frames(samples, RELEASE)] for samples, _ in table] == table


def test_encoding_what_was_decoded_gives_as_many_frames() -> None:
    for frames in range(1, 2000):
        samples = decoded_samples(frames, RELEASE)
        assert samples == 1920 * frames - 64
        assert encoded_frames(samples, RELEASE) == frames


def test_the_encoded_length_has_a_closed_form() -> None:
    samples = range(1920, 10_000)
    found = [encoded_frames(count, RELEASE) for count in samples]
    assert found == [((count // 64 + 1) // 5) // 6 for count in samples]


def test_the_released_vae_reaches_twelve_frames_to_decode_and_ten_to_encode() -> None:
    assert (decoder_reach(RELEASE), encoder_reach(RELEASE)) == (12, 10)


def decoder_sources(strides: Sequence[int]) -> set[int]:
    """Latent columns that the samples of frame 0 depend on, layer by layer and kernel value by kernel value."""
    rate = decoded_samples(10**6, strides) // 10**6 + 1
    columns = spread(set(range(rate)), (3,))
    for stride in strides:
        columns = spread(columns, (3 * 9, 3 * 3, 3))
        pad = -(-stride // 2)
        columns = {
            source
            for column in columns
            for source in (
                (column + pad) // stride,
                (column + pad) // stride - 1,
            )
        }
    return spread(columns, (3,))


def spread(columns: set[int], reaches: Sequence[int]) -> set[int]:
    for reach in reaches:
        columns = {column + offset for column in columns for offset in range(-reach, reach + 1)}
    return columns


@pytest.mark.parametrize("strides", [(2,), (6,), (2, 4), (4, 2), (3, 4), (2, 2, 4)])
def test_the_decoders_reach_covers_every_column_that_a_frame_depends_on(strides: tuple[int, ...]) -> None:
    sources = decoder_sources(strides)
    reach = decoder_reach(strides)
    assert max(-min(sources), max(sources)) <= reach


@settings(max_examples=40)
@given(frames=st.integers(1, 40), core=st.integers(1, 50), halo=st.integers(0, 20))
def test_tiles_make_up_the_frames_and_their_halos_stay_inside(frames: int, core: int, halo: int) -> None:
    cut = list(tiles(frames, core, halo))
    assert [frame for tile in cut for frame in range(tile.start, tile.stop)] == list(range(frames))
    for tile in cut:
        assert tile.stop - tile.start <= core
        assert tile.start - tile.left == min(halo, tile.start)
        assert tile.right - tile.stop == min(halo, frames - tile.stop)
