"""Where the VAE's work is cut: into tiles, as in the release.

Tiles see some frames to either side, and of each only its own samples are kept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """Decode the latent frames `left` to `right`, skip `skip` samples of it and put `count` samples at `at`."""

    left: int
    right: int
    skip: int
    count: int
    at: int


def vae_tiles(frames: int, core: int, halo: int, strides: Sequence[int]) -> tuple[Tile, ...]:
    """Tiles of `core` frames, each with up to `halo` frames to either side, in order.

    Together they give `decoded_samples(frames, strides)` samples; strides are at least 2, so that a decode lacks
    less than a frame. Raises ValueError for a core below 1, and for a halo below 1, with which a tile would lack
    samples at its end.
    """
    if core < 1 or halo < 1:
        raise ValueError(f"tiles need a core and a halo of at least a frame, not {core} and {halo}")
    ratio = math.prod(strides)
    total = decoded_samples(frames, strides)
    tiles = []
    for start in range(0, frames, core):
        end, left = min(start + core, frames), max(0, start - halo)
        count = min(end * ratio, total) - start * ratio
        tiles.append(Tile(left, min(frames, end + halo), (start - left) * ratio, count, start * ratio))
    return tuple(tiles)


def decoded_samples(frames: int, strides: Sequence[int]) -> int:
    """Samples that the decoder makes of latent frames: 1920 T - 64 for the strides 2, 2, 4, 4, 5, 6.

    `strides` go from the sound to the latents. A transposed convolution of stride s, kernel 2 s and padding
    ceil(s / 2) makes s L samples of L, one less for odd s.
    """
    length = frames
    for stride in reversed(strides):
        length = length * stride - stride % 2
    return length


def encoded_frames(samples: int, strides: Sequence[int]) -> int:
    """Latent frames that the encoder makes of samples; `strides` go from the sound to the latents.

    A convolution of stride s, kernel 2 s and padding ceil(s / 2) makes L / s of L samples, rounded down, with one
    sample more for odd s.
    """
    length = samples
    for stride in strides:
        length = (length + stride % 2) // stride
    return length
