"""How far the VAE's layers reach."""

from collections.abc import Sequence

import pytest

from engine.yue2.vae.reach import decoder_reach, encoder_reach
from engine.yue2.vae.windows import decoded_samples

RELEASE = (2, 2, 4, 4, 5, 6)


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
