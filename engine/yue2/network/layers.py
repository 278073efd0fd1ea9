"""One transformer layer, as both halves have it (Qwen3): pre-norm attention with normed heads, gated feed-forward.

The residual stream is changed in place. Products are computed in the dtype of the weights, norms and sums in that of
the stream.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch.nn import functional

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.rotary import Angles


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one layer of one half; norms are in the dtype of the residual stream.

    Products that share their input are one: queries, keys and values (in this order), and gate and up.
    """

    qkv: torch.Tensor  # (q_width + 2 * kv_width, hidden)
    output: torch.Tensor  # (hidden, q_width)
    gate_up: torch.Tensor  # (2 * ffn, hidden)
    down: torch.Tensor  # (hidden, ffn)
    input_norm: torch.Tensor  # (hidden,)
    ffn_norm: torch.Tensor  # (hidden,)
    head_norms: torch.Tensor  # (heads + kv_heads, head_dim): query heads share one row, key heads another

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""
        return (getattr(self, item.name) for item in fields(self))


@dataclass(frozen=True, slots=True)
class Projection:
    """Rotated queries (rows, heads, head_dim) and keys, and values, each (rows, kv_heads, head_dim)."""

    queries: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


def rms_norm(rows: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """x / rms(x) * w over the last dimension, in the dtype of x; the weight is (width,) or has rows of that width.

    In half precision the factor is computed in float32 and rounded before it is multiplied, as the model was run
    in training.
    """
    if rows.dtype is not torch.float32:
        factor = torch.rsqrt(rows.float().square().mean(dim=-1, keepdim=True) + epsilon)
        return (rows * factor.to(rows.dtype)).mul_(weight)
    if weight.dim() == 1:
        return functional.rms_norm(rows, weight.shape, weight, epsilon)
    return functional.rms_norm(rows, weight.shape[-1:], None, epsilon).mul_(weight)


def project(layer: Layer, rows: torch.Tensor, angles: Angles, config: ModelConfig) -> Projection:
    """Queries, keys and values of residual rows (rows, hidden), each at its angle."""
    normed = rms_norm(rows, layer.input_norm, config.rms_norm_eps).to(layer.qkv.dtype)
    product = functional.linear(normed, layer.qkv)
    heads = product.view(rows.shape[0], -1, config.head_dim)  # (rows, heads + 2 kv_heads, head_dim)
    turning = config.heads + config.kv_heads
    normed_heads = rms_norm(heads[:, :turning].to(rows.dtype), layer.head_norms, config.rms_norm_eps)
    turned = angles.turn(normed_heads)  # (rows, heads + kv_heads, head_dim)
    return Projection(turned[:, : config.heads], turned[:, config.heads :], heads[:, turning:])


def add_attended(layer: Layer, rows: torch.Tensor, attended: torch.Tensor) -> None:
    """Add the output product of attended heads (rows, q_width) to residual rows (rows, hidden)."""
    rows.add_(functional.linear(attended.to(layer.output.dtype), layer.output))


def add_feed_forward(layer: Layer, rows: torch.Tensor, config: ModelConfig) -> None:
    """Add the feed-forward of residual rows (rows, hidden) to them: Wdown (silu(Wgate u) * Wup u)."""
    normed = rms_norm(rows, layer.ffn_norm, config.rms_norm_eps).to(layer.gate_up.dtype)
    gate, up = functional.linear(normed, layer.gate_up).chunk(2, dim=-1)  # each (rows, ffn)
    rows.add_(functional.linear(functional.silu(gate).mul_(up), layer.down))
