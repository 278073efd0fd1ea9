"""The least that must be computed: the matrix products, attentions and convolutions alone, on random numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from bench.engine.rounds import milliseconds
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.network.allocation import allocate

Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, bool], torch.Tensor]
KERNEL = 7
DILATIONS = (1, 3, 9)


def grouped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The kernel that knows of grouped queries."""
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)


def repeated(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Keys and values that are there as often as queries; that they are repeated costs as well."""
    group = q.shape[1] // k.shape[1]
    k, v = (each.repeat_interleave(group, 1) for each in (k, v))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def folded(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The queries of a group as rows of one head; cannot be causal."""
    rows = q.reshape(1, k.shape[1], -1, q.shape[-1])
    return functional.scaled_dot_product_attention(rows, k, v).view_as(q)


@dataclass(frozen=True, slots=True)
class LeastPass:
    """What a pass over so many rows behind a context cannot do without; owner of its weights."""

    layers: Sequence[tuple[torch.Tensor, ...]]
    cached: Sequence[tuple[torch.Tensor, torch.Tensor]]  # keys and values of each layer
    attention: Attention
    q: torch.Tensor
    causal: bool
    stream: torch.Tensor  # (rows, hidden)
    attended: torch.Tensor  # (rows, q_width)

    def run(self) -> None:
        """All products and attentions of all layers."""
        for (qkv, out, gate_up, down), (k, v) in zip(self.layers, self.cached, strict=True):
            functional.linear(self.stream, qkv)
            self.attention(self.q, k, v, self.causal)
            functional.linear(self.attended, out)
            functional.linear(functional.linear(self.stream, gate_up)[:, : down.shape[1]], down)


@dataclass(frozen=True, slots=True)
class Formats:
    """Of the products' operands, and of queries, keys and values."""

    products: torch.dtype
    cache: torch.dtype


BF16 = Formats(torch.bfloat16, torch.bfloat16)


def least_pass(
    config: ModelConfig, rows: int, context: int, formats: Formats, device: torch.device, causal: bool = False
) -> LeastPass:
    """With the attention that is fastest here; memory as the engine allocates it."""

    def small(dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return allocate(shape, dtype, device).normal_().mul_(0.02)

    q = small(formats.cache, 1, config.heads, rows, config.head_dim)
    kept = (1, config.kv_heads, context + rows, config.head_dim)
    cached = [(small(formats.cache, *kept), small(formats.cache, *kept)) for _ in range(config.layers)]
    hidden, ffn = config.hidden_size, config.ffn_size
    qkv_width = config.q_width + 2 * config.kv_width
    shapes = ((qkv_width, hidden), (hidden, config.q_width), (2 * ffn, hidden), (hidden, ffn))
    layers = [tuple(small(formats.products, *shape) for shape in shapes) for _ in range(config.layers)]
    stream, attended = (small(formats.products, rows, width) for width in (hidden, config.q_width))
    return LeastPass(layers, cached, _fastest(q, *cached[0], causal), q, causal, stream, attended)


def _fastest(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Attention:
    ways = (grouped, repeated) if causal else (grouped, repeated, folded)

    def cost(way: Attention) -> float:
        return min(milliseconds(lambda: way(q, k, v, causal), q.device) for _ in range(5))

    return min(ways, key=cost)


Convolution = tuple[bool, torch.Tensor, torch.Tensor, dict[str, int]]  # transposed, input, weight, how


@dataclass(frozen=True, slots=True)
class LeastDecoding:
    """The convolutions of a decoding, tile by tile; owner of their inputs and weights."""

    convolutions: Sequence[Convolution]

    def run(self) -> None:
        """All of them, one after another."""
        for transposed, x, weight, how in self.convolutions:
            (functional.conv_transpose1d if transposed else functional.conv1d)(x, weight, None, **how)


def least_decoding(config: VaeConfig, frames: int, device: torch.device) -> LeastDecoding:
    """As tiles of the configured core, each with its halo."""
    weights: dict[tuple[int, ...], torch.Tensor] = {}

    def random(*shape: int) -> torch.Tensor:
        return weights.setdefault(shape, torch.randn(shape, device=device) / math.prod(shape[1:]) ** 0.5)

    lengths = [
        min(frames, start + config.core_frames + config.halo_frames) - max(0, start - config.halo_frames)
        for start in range(0, frames, config.core_frames)
    ]
    return LeastDecoding([each for length in lengths for each in _convolutions(config, length, random)])


def _convolutions(
    config: VaeConfig, length: int, random: Callable[..., torch.Tensor]
) -> Iterator[Convolution]:
    same = {"padding": KERNEL // 2}
    yield False, random(1, config.latent_dim, length), random(config.widest, config.latent_dim, KERNEL), same
    for block in reversed(config.blocks):
        stride, channels = block.stride, block.narrow
        up = {"stride": stride, "padding": -(-stride // 2)}
        yield True, random(1, block.wide, length), random(block.wide, channels, 2 * stride), up
        length = (length - 1) * stride - 2 * up["padding"] + 2 * stride
        x = random(1, channels, length)
        for dilation in DILATIONS:
            dilated = {"padding": dilation * (KERNEL // 2), "dilation": dilation}
            yield False, x, random(channels, channels, KERNEL), dilated
            yield False, x, random(channels, channels, 1), {}
    yield False, random(1, channels, length), random(config.audio_channels, channels, KERNEL), same
