"""How far the VAE's layers reach: whole frames from the strides alone.

Strides are given from the sound to the latents, as in `config.json`; a frame is one latent column. Padding and
kernels are those of `engine.yue2.vae.layers`.
"""

from collections.abc import Sequence
from math import prod

from engine.yue2.vae.layers import change_padding
from engine.yue2.vae.windows import decoded_samples

_UNITS_REACH = 3 * (1 + 3 + 9)  # kernel 7 at dilations 1, 3 and 9
_ENDS_REACH = 3  # the convolutions of kernel 7 at the sound's end, and at the decoder's latent end
_MOMENTS_REACH = 1  # kernel 3 at the encoder's latent end


def decoder_reach(strides: Sequence[int]) -> int:
    """Frames on either side that the samples of a frame depend on: 12 for strides 2, 2, 4, 4, 5, 6.

    Walks from the samples of frame 0 back to the latents and looks at every layer's range, because a tile that ends
    inside such a range has zeros there that the whole has not. Odd strides end a tile some columns early.
    """
    rate, early = prod(strides), prod(strides) - decoded_samples(1, strides)
    first, last = -_ENDS_REACH, rate - 1 + _ENDS_REACH
    reach = _outside(first, last + early, rate)
    for stride in strides:
        first, last = first - _UNITS_REACH, last + _UNITS_REACH
        reach = max(reach, _outside(first, last + early, rate))
        rate, early = rate // stride, (early + stride - 2 * change_padding(stride)) // stride
        first = -((2 * stride - 1 - first - change_padding(stride)) // stride)
        last = (last + change_padding(stride)) // stride
        reach = max(reach, _outside(first, last + early, rate))
    return max(reach, _outside(first - _ENDS_REACH, last + _ENDS_REACH, 1))


def encoder_reach(strides: Sequence[int]) -> int:
    """Frames' worth of samples on either side that a frame depends on: 10 for strides 2, 2, 4, 4, 5, 6."""
    first, last, rate = -_MOMENTS_REACH, _MOMENTS_REACH, 1
    reach = _outside(first, last, rate)
    for stride in reversed(strides):
        rate *= stride
        first = first * stride - change_padding(stride)
        last = last * stride - change_padding(stride) + 2 * stride - 1
        first, last = first - _UNITS_REACH, last + _UNITS_REACH
        reach = max(reach, _outside(first, last, rate))
    return max(reach, _outside(first - _ENDS_REACH, last + _ENDS_REACH, rate))


def _outside(first: int, last: int, rate: int) -> int:
    """Whole frames of `rate` columns that the columns [first, last] reach out of frame 0, the larger of both sides."""
    return max(-(first // rate), last // rate)
