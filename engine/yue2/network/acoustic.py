"""The acoustic half: how fast and whereto latents move at a moment of the flow, given what the decoder has read."""

import math
from dataclasses import dataclass

import torch
from torch.nn import functional

from engine.control import Check
from engine.yue2.files.config import ModelConfig
from engine.yue2.files.tensors import TIME_FEATURES
from engine.yue2.network.attention import attend_all
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.layers import Layer, add_attended, add_feed_forward, project, rms_norm
from engine.yue2.network.rotary import Angles, Rotary
from engine.yue2.network.tiles import attention_rows, product_rows, spans
from engine.yue2.network.weights import AcousticWeights, Affine
from engine.yue2.vocabulary import MARKER_ROWS

LONGEST_PERIOD = 10_000.0  # of the time features


class Acoustic:
    """The acoustic half on one device.

    It attends to the first `ar_length` positions of a slot, which the decoder has read, and overwrites those behind
    them. Raising from a check leaves the weights and all that was read as they were.
    """

    def __init__(self, weights: AcousticWeights, config: ModelConfig, cache: KvCache, rotary: Rotary) -> None:
        self.weights = weights
        self.config = config
        self.cache = cache
        self.rotary = rotary

    @torch.inference_mode()
    def velocity(
        self, state: torch.Tensor, raw_time: float, slot: int, ar_length: int, check: Check
    ) -> torch.Tensor:
        """The velocity (B, T, C) of B variations of latents (B, T, C), in the dtype of the residual stream.

        `raw_time` is the logit of the time, 1 being noise and 0 music. Every row attends to the positions read and to
        all rows of its own variation. Checks between layers and within long ones.
        """
        variations, frames, channels = state.shape
        rows = self.embed(state, self.time_vector(raw_time))  # (B * N, hidden)
        scratch = Scratch.of(self, variations, frames + MARKER_ROWS, slot, ar_length)
        for index, layer in enumerate(self.weights.layers):
            check()
            self.pass_layer(index, layer, rows, scratch, check)
        return self.unembed(rows).view(variations, -1, channels)[:, 1:-1]

    def time_value(self, raw_time: float) -> torch.Tensor:
        """The time that a logit stands for, shifted as the configuration says: a scalar, rounded as the stream is."""
        dtype, device = self.weights.precision.residual, self.cache.device
        raw = torch.full((), raw_time, dtype=dtype, device=device)  # filled there; a copy would be waited for
        linear = torch.sigmoid(raw)
        shift = self.config.timestep_shift
        return shift * linear / (1 + (shift - 1) * linear)

    def time_vector(self, raw_time: float) -> torch.Tensor:
        """The embedding of a time, (hidden,): cosines and sines through a small network."""
        half = TIME_FEATURES // 2
        steps = torch.arange(half, dtype=torch.float32, device=self.cache.device)  # (half,)
        turns = self.time_value(raw_time).float() * torch.exp(-math.log(LONGEST_PERIOD) * steps / half)
        waves = torch.cat((turns.cos(), turns.sin()))  # (TIME_FEATURES,)
        features = waves.to(self.weights.precision.residual)
        inner = functional.silu(_affine(self.weights.time_in, features))
        return _affine(self.weights.time_out, inner)

    def embed(self, state: torch.Tensor, time_vector: torch.Tensor) -> torch.Tensor:
        """Residual rows (B * N, hidden) of latents (B, T, C) between their marker rows, N = T + 2."""
        framed = functional.pad(state.to(self.weights.precision.residual), (0, 0, 1, 1))  # (B, N, C)
        indices = torch.arange(framed.shape[1], device=self.cache.device)  # (N,)
        indices.clamp_(max=self.config.max_latent_frames - 1)
        positions = self.weights.positions[indices]  # (N, hidden)
        rows = _affine(self.weights.into, framed).add_(time_vector).add_(positions)  # (B, N, hidden)
        return rows.view(-1, self.config.hidden_size)

    def unembed(self, rows: torch.Tensor) -> torch.Tensor:
        """Velocities (rows, C) of residual rows (rows, hidden)."""
        return _affine(self.weights.out, rms_norm(rows, self.weights.final_norm, self.config.rms_norm_eps))

    def pass_layer(
        self, index: int, layer: Layer, rows: torch.Tensor, scratch: "Scratch", check: Check
    ) -> None:
        """Pass residual rows (B * N, hidden) through a layer, in place."""
        device = self.cache.device
        for part in spans(len(rows), product_rows(device)):
            check()
            projected = project(layer, rows[part], scratch.angles.rows(part), self.config)
            scratch.queries[part] = projected.queries
            scratch.keys[part] = projected.keys
            scratch.values[part] = projected.values
        for first in range(0, len(rows), scratch.rows):
            self._attend(index, layer, rows, scratch, first, check)
        for part in spans(len(rows), product_rows(device)):
            check()
            add_feed_forward(layer, rows[part], self.config)

    def _attend(
        self, index: int, layer: Layer, rows: torch.Tensor, scratch: "Scratch", first: int, check: Check
    ) -> None:
        """Add what the variation whose rows begin at `first` attends to; its keys take the place of the last one's."""
        own = slice(first, first + scratch.rows)
        self.cache.write(index, scratch.slot, scratch.ar_length, scratch.keys[own], scratch.values[own])
        length = scratch.ar_length + scratch.rows
        keys, values = self.cache.read(index, scratch.slot, length)
        queries, residual = scratch.queries[own], rows[own]
        for part in spans(scratch.rows, attention_rows(self.cache.device, length, self.config)):
            check()
            add_attended(layer, residual[part], attend_all(queries[part], keys, values))


@dataclass(frozen=True, slots=True)
class Scratch:
    """One evaluation's place in the cache, the angles of its rows, and room for a layer's heads.

    `queries` (B * N, heads, head_dim), `keys` and `values` (B * N, kv_heads, head_dim); `rows` is N.
    """

    slot: int
    ar_length: int
    rows: int
    angles: Angles
    queries: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of(cls, acoustic: Acoustic, variations: int, rows: int, slot: int, ar_length: int) -> "Scratch":
        """For `variations` of `rows` rows each, whose positions follow the first `ar_length` of a slot."""
        config, cache = acoustic.config, acoustic.cache
        angles = acoustic.rotary.between(ar_length, ar_length + rows).repeated(variations)
        queries, keys, values = (
            torch.empty(variations * rows, heads, config.head_dim, dtype=cache.dtype, device=cache.device)
            for heads in (config.heads, config.kv_heads, config.kv_heads)
        )
        return cls(slot, ar_length, rows, angles, queries, keys, values)


def _affine(affine: Affine, rows: torch.Tensor) -> torch.Tensor:
    return functional.linear(rows, affine.weight, affine.bias)
