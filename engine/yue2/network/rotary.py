"""Rotary position embedding in the rotate-half layout (Su et al. 2021, as in Qwen3).

With a the first and b the last half of a head: a' = a cos - b sin, b' = b cos + a sin. The tables hold both halves
side by side, the sine of the first half negated, so that a turn is x cos + swap(x) sin.
"""

from dataclasses import dataclass

import torch

from engine.yue2.files.config import ModelConfig


@dataclass(frozen=True, slots=True)
class Angles:
    """Cosines and signed sines of some positions: each (rows, 1, head_dim)."""

    cos: torch.Tensor
    sin: torch.Tensor

    def turn(self, heads: torch.Tensor) -> torch.Tensor:
        """Heads (rows, heads, head_dim) turned by the angles of their rows; a new tensor of the same shape.

        Both products are rounded before they are added, as the model was run in training.
        """
        swapped = heads.roll(heads.shape[-1] // 2, dims=-1)  # (rows, heads, head_dim)
        return (heads * self.cos).add_(swapped.mul_(self.sin))

    def rows(self, part: slice) -> "Angles":
        """The angles of some rows; no copy."""
        return Angles(self.cos[part], self.sin[part])

    def repeated(self, times: int) -> "Angles":
        """The same rows so many times over."""
        return self if times == 1 else Angles(self.cos.repeat(times, 1, 1), self.sin.repeat(times, 1, 1))


class Rotary:
    """Tables for every position of the model, in the dtype of the residual stream: each (positions, 1, head_dim).

    Computed in float32 and rounded once; frequencies are theta^(-2i/head_dim).
    """

    def __init__(self, config: ModelConfig, device: torch.device, dtype: torch.dtype) -> None:
        evens = torch.arange(0, config.head_dim, 2, dtype=torch.float32)
        exponents = evens / config.head_dim  # (head_dim / 2,)
        frequencies = 1.0 / (float(config.rope_theta) ** exponents)  # (head_dim / 2,)
        positions = torch.arange(config.max_positions, dtype=torch.float32)  # (positions,)
        angles = torch.outer(positions, frequencies)  # (positions, head_dim / 2)
        cos, sin = angles.cos(), angles.sin()
        self.cos = torch.cat((cos, cos), dim=-1).unsqueeze(1).to(device, dtype)  # (positions, 1, head_dim)
        self.sin = torch.cat((-sin, sin), dim=-1).unsqueeze(1).to(device, dtype)  # (positions, 1, head_dim)

    def between(self, first: int, last: int) -> Angles:
        """The angles of positions first..last-1; no copy."""
        return Angles(self.cos[first:last], self.sin[first:last])

    def at(self, positions: torch.Tensor) -> Angles:
        """The angles of positions (rows,), int64 on the tables' device."""
        return Angles(self.cos.index_select(0, positions), self.sin.index_select(0, positions))
