"""Where each sequence of a decoding step stands: which slot it has, and which position its token takes.

`ExactPlace` reads as much of the cache as there is, sequence by sequence. `BucketPlace` reads a fixed length and hides
the rest behind a mask: every shape is static and nothing waits for the device, so that a graph can capture the step.
"""

from dataclasses import dataclass, field
from typing import Protocol

import torch

from engine.yue2.network.attention import attend_last, attend_masked
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.rotary import Angles, Rotary


class Standing(Protocol):
    """A place during one step."""

    @property
    def angles(self) -> Angles:
        """Of the positions that the step's tokens take, one row a sequence."""

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Keep this step's keys and values, each (S, kv_heads, head_dim), and attend to all up to them.

        Queries are (S, heads, head_dim); the result is (S, heads * head_dim) in the cache's dtype, whatever theirs.
        """


class Place(Protocol):
    """Where the sequences of a step stand."""

    def enter(self, cache: KvCache, rotary: Rotary) -> Standing:
        """Begin a step."""


@dataclass(frozen=True, slots=True)
class ExactPlace:
    """Sequences by slot and position, both known to the host."""

    slots: tuple[int, ...]
    positions: tuple[int, ...]

    def enter(self, cache: KvCache, rotary: Rotary) -> "ExactStanding":
        """Begin a step."""
        first = self.positions[0]
        if len(self.positions) == 1:
            return ExactStanding(self, cache, rotary.between(first, first + 1))
        positions = torch.tensor(self.positions, device=cache.device)  # (S,)
        return ExactStanding(self, cache, rotary.at(positions))


@dataclass(frozen=True, slots=True)
class ExactStanding:
    """An `ExactPlace` during one step."""

    place: ExactPlace
    cache: KvCache
    angles: Angles

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """As `Standing.attend`."""
        queries = queries.to(self.cache.dtype)
        attended = []
        for row, (slot, position) in enumerate(zip(self.place.slots, self.place.positions, strict=True)):
            kept_keys, kept_values = self.cache.read(layer, slot, position + 1)
            kept_keys[:, position].copy_(keys[row])
            kept_values[:, position].copy_(values[row])
            attended.append(attend_last(queries[row], kept_keys, kept_values))
        return attended[0] if len(attended) == 1 else torch.cat(attended)


@dataclass(frozen=True, slots=True, eq=False)
class BucketPlace:
    """Sequences in slots 0..S-1 at `positions` (S,), int64 on the device; all lie below `length`.

    The positions may be written between steps. The whole of slots 0..S-1 below `length` must hold finite numbers.
    """

    positions: torch.Tensor
    length: int
    _sequences: torch.Tensor = field(init=False)  # (S, 1)
    _axis: torch.Tensor = field(init=False)  # (length,)

    def __post_init__(self) -> None:
        device = self.positions.device
        sequences = torch.arange(len(self.positions), device=device).unsqueeze(1)
        object.__setattr__(self, "_sequences", sequences)
        object.__setattr__(self, "_axis", torch.arange(self.length, device=device))

    def enter(self, cache: KvCache, rotary: Rotary) -> "BucketStanding":
        """Begin a step."""
        hidden = self._axis > self.positions.unsqueeze(1)  # (S, length)
        bias = torch.zeros(hidden.shape, dtype=cache.dtype, device=cache.device).masked_fill_(
            hidden, -torch.inf
        )
        heads = torch.arange(cache.keys.shape[2], device=cache.device).unsqueeze(0)  # (1, kv_heads)
        index = (self._sequences, heads, self.positions.unsqueeze(1))
        return BucketStanding(cache, self.length, rotary.at(self.positions), bias[:, None, None, :], index)


@dataclass(frozen=True, slots=True)
class BucketStanding:
    """A `BucketPlace` during one step; `bias` is (S, 1, 1, length), `index` says where the new keys go."""

    cache: KvCache
    length: int
    angles: Angles
    bias: torch.Tensor
    index: tuple[torch.Tensor, torch.Tensor, torch.Tensor]

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """As `Standing.attend`."""
        sequences, dtype = queries.shape[0], self.cache.dtype
        kept_keys, kept_values = self.cache.keys[layer, :sequences], self.cache.values[layer, :sequences]
        kept_keys.index_put_(self.index, keys.to(dtype))
        kept_values.index_put_(self.index, values.to(dtype))
        return attend_masked(
            queries.to(dtype), kept_keys[:, :, : self.length], kept_values[:, :, : self.length], self.bias
        )
