"""The weights of each half, filled tensor by tensor from a checkpoint straight into fused tensors on the device."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.control import Check
from engine.errors import NumericalError
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.allocation import allocate
from engine.yue2.network.layers import Layer
from engine.yue2.network.precision import Precision, overflow

DAMAGED = "The model's weights hold what is no number; they are damaged: pull the model again."
SLICE_VALUES = 8 * 2**20  # values copied between two checks


class Tensors(Protocol):
    """Where tensors are read from, such as `engine.yue2.files.checkpoint.Checkpoint`."""

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor on the CPU, in its stored dtype."""


@dataclass(frozen=True, slots=True)
class DecoderWeights:
    """The autoregressive half. The embedding has the file's dtype: rows of it are looked up, never multiplied."""

    precision: Precision
    embedding: torch.Tensor  # (vocab, hidden)
    head: torch.Tensor  # (vocab, hidden)
    final_norm: torch.Tensor  # (hidden,)
    layers: tuple[Layer, ...]

    @property
    def bytes(self) -> int:
        """Bytes on the device."""
        return _bytes_of(self.embedding, self.head, self.final_norm, *_all(self.layers))


@dataclass(frozen=True, slots=True)
class Affine:
    """A product with a bias, in the dtype of the residual stream: weight (outputs, inputs), bias (outputs,)."""

    weight: torch.Tensor
    bias: torch.Tensor


@dataclass(frozen=True, slots=True)
class AcousticWeights:
    """The acoustic half. The position table has the file's dtype: rows of it are added, never multiplied."""

    precision: Precision
    into: Affine  # latent channels to hidden
    out: Affine  # hidden to latent channels
    time_in: Affine  # time features to hidden
    time_out: Affine  # hidden to hidden
    positions: torch.Tensor  # (max_latent_frames, hidden)
    final_norm: torch.Tensor  # (hidden,)
    layers: tuple[Layer, ...]

    @property
    def bytes(self) -> int:
        """Bytes on the device."""
        affine = (self.into, self.out, self.time_in, self.time_out)
        pairs = (tensor for each in affine for tensor in (each.weight, each.bias))
        return _bytes_of(*pairs, self.positions, self.final_norm, *_all(self.layers))


def load_decoder(
    checkpoint: Tensors, config: ModelConfig, device: torch.device, precision: Precision, check: Check
) -> DecoderWeights:
    """Load the autoregressive half; checks before every 16 MiB of the file.

    Raises:
        NumericalError: a weight is too large for the precision, or no number.
        OutOfMemory: the device has no room.
    """
    source = _Source(checkpoint, config, device, precision, check)
    return DecoderWeights(
        precision=precision,
        embedding=source.whole("model.embed_tokens.weight", None),
        head=source.whole("lm_head.weight", precision.decoder),
        final_norm=source.whole("model.norm.weight", precision.residual),
        layers=tuple(
            source.layer(f"model.layers.{index}.", "", "post_attention_layernorm", precision.decoder)
            for index in range(config.layers)
        ),
    )


def load_acoustic(
    checkpoint: Tensors, config: ModelConfig, device: torch.device, precision: Precision, check: Check
) -> AcousticWeights:
    """Load the acoustic half; checks and errors as in `load_decoder`."""
    source = _Source(checkpoint, config, device, precision, check)
    return AcousticWeights(
        precision=precision,
        into=source.affine("vae2llm"),
        out=source.affine("llm2vae"),
        time_in=source.affine("time_embedder.mlp.0"),
        time_out=source.affine("time_embedder.mlp.2"),
        positions=source.whole("latent_pos_embed.pe", None),
        final_norm=source.whole("model.norm.weight", precision.residual),
        layers=tuple(
            source.layer(f"model.layers.{index}.", "nar_", "nar_pre_mlp_layernorm", precision.acoustic)
            for index in range(config.layers)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Copies a checkpoint's tensors to a device."""

    checkpoint: Tensors
    config: ModelConfig
    device: torch.device
    precision: Precision
    check: Check

    def whole(self, name: str, dtype: torch.dtype | None) -> torch.Tensor:
        """One tensor; without a dtype in the file's."""
        stored = self.checkpoint.tensor(name)
        target = allocate(tuple(stored.shape), dtype or stored.dtype, self.device)
        self._fill(target, stored)
        return target

    def fused(self, names: tuple[str, ...], dtype: torch.dtype) -> torch.Tensor:
        """Tensors of the same width, one below the other."""
        parts = [self.checkpoint.tensor(name) for name in names]
        target = allocate((sum(map(len, parts)), parts[0].shape[1]), dtype, self.device)
        first = 0
        for stored in parts:
            self._fill(target[first : first + len(stored)], stored)
            first += len(stored)
        return target

    def affine(self, name: str) -> Affine:
        """`name`.weight and `name`.bias."""
        residual = self.precision.residual
        return Affine(self.whole(f"{name}.weight", residual), self.whole(f"{name}.bias", residual))

    def layer(self, prefix: str, half: str, ffn_norm: str, dtype: torch.dtype) -> Layer:
        """One layer; `half` is what its half's names begin with, `ffn_norm` how the second norm is called."""
        attention, mlp = f"{prefix}{half}self_attn.", f"{prefix}{half}mlp."
        residual = self.precision.residual
        return Layer(
            qkv=self.fused(tuple(f"{attention}{name}_proj.weight" for name in "qkv"), dtype),
            output=self.whole(f"{attention}o_proj.weight", dtype),
            gate_up=self.fused(tuple(f"{mlp}{name}_proj.weight" for name in ("gate", "up")), dtype),
            down=self.whole(f"{mlp}down_proj.weight", dtype),
            input_norm=self.whole(f"{prefix}{half}input_layernorm.weight", residual),
            ffn_norm=self.whole(f"{prefix}{ffn_norm}.weight", residual),
            head_norms=self._head_norms(attention),
        )

    def _head_norms(self, attention: str) -> torch.Tensor:
        """The query norm for each query head, then the key norm for each key head: (heads + kv_heads, head_dim)."""
        residual, heads = self.precision.residual, self.config.heads
        norms = allocate((heads + self.config.kv_heads, self.config.head_dim), residual, self.device)
        norms[:heads].copy_(self.whole(f"{attention}q_norm.weight", residual))
        norms[heads:].copy_(self.whole(f"{attention}k_norm.weight", residual))
        return norms

    def _fill(self, target: torch.Tensor, stored: torch.Tensor) -> None:
        """Copy slice by slice, so that a stop is heard and no second copy of the whole is made."""
        step = slice_rows(stored[0].numel())
        for first in range(0, len(stored), step):
            self.check()
            part, source = target[first : first + step], stored[first : first + step]
            part.copy_(source)
            if part.dtype is torch.float16 and not part.is_meta and not _is_finite(part):
                raise NumericalError(overflow(self.precision) if _is_finite(source) else DAMAGED)


def slice_rows(row_values: int) -> int:
    """How many rows of so many values are copied between two checks."""
    return max(1, SLICE_VALUES // row_values)


def _is_finite(tensor: torch.Tensor) -> bool:
    low, high = torch.aminmax(tensor)  # many times quicker than `isfinite`; both are NaN where a value is
    return math.isfinite(low) and math.isfinite(high)


def _all(layers: tuple[Layer, ...]) -> Iterator[torch.Tensor]:
    return (tensor for layer in layers for tensor in layer.tensors())


def _bytes_of(*tensors: torch.Tensor) -> int:
    return sum(tensor.nbytes for tensor in tensors)
