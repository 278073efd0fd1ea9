"""The two halves of the VAE as chains of layers, and the loading of each without the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch

from engine.control import Check, unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeBlock, VaeConfig
from engine.yue2.files.tensors import BYTES_OF, vae_tensors
from engine.yue2.vae.layers import Layer, Slices, Weights, change_padding

_DILATIONS = (1, 3, 9)  # of a block's residual units
_SLICE_TENSORS = 6  # alive at once inside a layer, each no larger than a slice
_VALUE_BYTES = 4


@dataclass(frozen=True, slots=True)
class VaePart:
    """Encoder or decoder: stages in a row, each a row of layers. The stages are those of the checkpoint's names.

    Decoder: one convolution, the blocks, one convolution behind a snake; (64, T) to (2, 1920 T - 64).
    Encoder: the same mirrored; (2, N) to (128, T), the means over the scales.
    """

    stages: tuple[tuple[Layer, ...], ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(tensor.nbytes for stage in self.stages for layer in stage for tensor in layer.tensors())

    def __call__(self, x: torch.Tensor, slices: Slices) -> torch.Tensor:
        """(C, L) through all layers."""
        for stage in self.stages:
            for layer in stage:
                x = layer(x, slices)
        return x


def load_decoder_part(
    checkpoint: Checkpoint, config: VaeConfig, device: torch.device, check: Check = unchecked
) -> VaePart:
    """The decoder on a device; `check` is called before each tensor. Raises CheckpointError."""
    weights = Weights(checkpoint, device, check)
    blocks = config.blocks[::-1]
    last = len(blocks) + 1
    return VaePart(
        (
            (weights.convolution("decoder.layers.0", padding=3),),
            *(
                tuple(_decoder_block(weights, f"decoder.layers.{place}.layers", block))
                for place, block in enumerate(blocks, start=1)
            ),
            (
                weights.convolution(
                    f"decoder.layers.{last + 1}", f"decoder.layers.{last}", padding=3, bias=False
                ),
            ),
        )
    )


def load_encoder_part(
    checkpoint: Checkpoint, config: VaeConfig, device: torch.device, check: Check = unchecked
) -> VaePart:
    """The encoder on a device; `check` is called before each tensor. Raises CheckpointError."""
    weights = Weights(checkpoint, device, check)
    last = len(config.blocks) + 1
    return VaePart(
        (
            (weights.convolution("encoder.layers.0", padding=3),),
            *(
                tuple(_encoder_block(weights, f"encoder.layers.{place}.layers", block))
                for place, block in enumerate(config.blocks, start=1)
            ),
            (weights.convolution(f"encoder.layers.{last + 1}", f"encoder.layers.{last}", padding=1),),
        )
    )


def _decoder_block(weights: Weights, name: str, block: VaeBlock) -> Iterator[Layer]:
    yield weights.upsampling(f"{name}.1", f"{name}.0", block.stride)
    for place, dilation in enumerate(_DILATIONS, start=2):
        yield weights.residual_unit(f"{name}.{place}", dilation)


def _encoder_block(weights: Weights, name: str, block: VaeBlock) -> Iterator[Layer]:
    for place, dilation in enumerate(_DILATIONS):
        yield weights.residual_unit(f"{name}.{place}", dilation)
    padding = change_padding(block.stride)
    yield weights.convolution(f"{name}.4", f"{name}.3", stride=block.stride, padding=padding)


def part_bytes(config: VaeConfig, part: Literal["decoder", "encoder"]) -> int:
    """Bytes of a half's stored weights; loaded they are the same to a thousandth."""
    return sum(
        BYTES_OF[spec.dtype] * torch.Size(spec.shape).numel()
        for name, spec in vae_tensors(config).items()
        if name.startswith(part)
    )


def working_bytes(config: VaeConfig, frames: int, slice_elements: int) -> int:
    """Bytes that either half needs beside its weights for `frames` frames at once, halos included.

    The largest change of rate: its input and its output, and a slice's tensors. A convolution's own workspace is not
    in it.
    """
    rate, most = config.downsampling_ratio, 0
    for block in config.blocks:
        most = max(most, rate * block.narrow + rate // block.stride * block.wide)
        rate //= block.stride
    return _VALUE_BYTES * (most * frames + _SLICE_TENSORS * slice_elements)
