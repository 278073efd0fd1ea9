"""The model written down as plainly as can be: float32, no cache, explicit masks, nothing fused. What is fast is held to it."""

import math
from dataclasses import dataclass

import torch

from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig

AR_NAMES = (
    "",
    "post_attention_layernorm",
)  # what names of the half begin with, and what its second norm is called
NAR_NAMES = ("nar_", "nar_pre_mlp_layernorm")


@dataclass(frozen=True, slots=True)
class Stream:
    """Residual rows (rows, hidden) of one half at consecutive positions."""

    rows: torch.Tensor
    first: int
    names: tuple[str, str]

    def then(self, rows: torch.Tensor) -> "Stream":
        return Stream(rows, self.first, self.names)


class NaiveModel:
    """Both halves in one pass."""

    def __init__(self, checkpoint: Checkpoint, config: ModelConfig) -> None:
        self._checkpoint = checkpoint
        self._config = config

    def weight(self, name: str) -> torch.Tensor:
        return self._checkpoint.tensor(name).float()

    def states(self, tokens: list[int]) -> torch.Tensor:
        """States after the final norm (tokens, hidden)."""
        return self._finish(self._pass_layers([self.read(tokens)])[0].rows)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        return states @ self.weight("lm_head.weight").T

    def velocity(self, tokens: list[int], latents: torch.Tensor, raw_time: float) -> torch.Tensor:
        """Velocities (T, C) of latents (T, C), tokens and acoustic rows in one sequence with one mask."""
        _, acoustic = self._pass_layers([self.read(tokens), self._write(len(tokens), latents, raw_time)])
        return self._affine("llm2vae", self._finish(acoustic.rows))[1:-1]

    def read(self, tokens: list[int]) -> Stream:
        return Stream(self.weight("model.embed_tokens.weight")[tokens], 0, AR_NAMES)

    def _write(self, first: int, latents: torch.Tensor, raw_time: float) -> Stream:
        marker = torch.zeros(1, latents.shape[1])
        rows = torch.cat((marker, latents, marker))  # (N, C)
        time = 1 / (1 + math.exp(-raw_time))
        turns = [time * math.exp(-math.log(10_000) * index / 128) for index in range(128)]
        features = torch.tensor([math.cos(turn) for turn in turns] + [math.sin(turn) for turn in turns])
        inner = torch.nn.functional.silu(self._affine("time_embedder.mlp.0", features))
        place = self.weight("latent_pos_embed.pe")[: len(rows)]
        rows = self._affine("vae2llm", rows) + self._affine("time_embedder.mlp.2", inner) + place
        return Stream(rows, first, NAR_NAMES)

    def _pass_layers(self, streams: list[Stream]) -> list[Stream]:
        for layer in range(self._config.layers):
            attended = self._attention(layer, streams)
            streams = [self._after(layer, *pair) for pair in zip(streams, attended, strict=True)]
        return streams

    def _attention(self, layer: int, streams: list[Stream]) -> list[torch.Tensor]:
        """Attended heads (rows, q_width) of each stream; the first is causal, the second sees everything."""
        heads = [self._heads(layer, stream) for stream in streams]
        queries, keys, values = (
            torch.cat([part[index] for part in heads]).transpose(0, 1) for index in range(3)
        )
        group = self._config.heads // self._config.kv_heads
        scores = queries @ keys.repeat_interleave(group, 0).transpose(1, 2) / math.sqrt(self._config.head_dim)
        read, total = len(streams[0].rows), queries.shape[1]
        visible = torch.ones(total, total, dtype=torch.bool)
        visible[:read] = torch.ones(read, total, dtype=torch.bool).tril()
        chances = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)  # (heads, total, total)
        attended = (chances @ values.repeat_interleave(group, 0)).transpose(0, 1).reshape(total, -1)
        return [attended[:read], attended[read:]][: len(streams)]

    def _heads(self, layer: int, stream: Stream) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        half = f"model.layers.{layer}.{stream.names[0]}"
        rows = self._rms(stream.rows, f"{half}input_layernorm")
        shape = (len(rows), -1, self._config.head_dim)
        queries, keys, values = (
            self._product(f"{half}self_attn.{name}_proj", rows).view(shape) for name in "qkv"
        )
        return (
            self._turn(self._rms(queries, f"{half}self_attn.q_norm"), stream.first),
            self._turn(self._rms(keys, f"{half}self_attn.k_norm"), stream.first),
            values,
        )

    def _turn(self, heads: torch.Tensor, first: int) -> torch.Tensor:
        """Rotary positions as products of complex numbers, whose imaginary parts are the second half."""
        width = self._config.head_dim
        frequencies = self._config.rope_theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        positions = torch.arange(first, first + len(heads), dtype=torch.float64)
        turns = torch.polar(
            torch.ones(len(heads), width // 2, dtype=torch.float64), torch.outer(positions, frequencies)
        )
        pairs = torch.complex(*heads.double().chunk(2, dim=-1)) * turns.unsqueeze(1)
        return torch.cat((pairs.real, pairs.imag), dim=-1).float()

    def _after(self, layer: int, stream: Stream, attended: torch.Tensor) -> Stream:
        start, (half, norm) = f"model.layers.{layer}.", stream.names
        rows = stream.rows + self._product(f"{start}{half}self_attn.o_proj", attended)
        normed = self._rms(rows, f"{start}{norm}")
        gate, up = (self._product(f"{start}{half}mlp.{name}_proj", normed) for name in ("gate", "up"))
        return stream.then(
            rows + self._product(f"{start}{half}mlp.down_proj", gate * torch.sigmoid(gate) * up)
        )

    def _rms(self, rows: torch.Tensor, name: str) -> torch.Tensor:
        mean = rows.square().mean(dim=-1, keepdim=True)
        return rows / torch.sqrt(mean + self._config.rms_norm_eps) * self.weight(f"{name}.weight")

    def _finish(self, rows: torch.Tensor) -> torch.Tensor:
        return self._rms(rows, "model.norm")

    def _product(self, name: str, rows: torch.Tensor) -> torch.Tensor:
        return rows @ self.weight(f"{name}.weight").T

    def _affine(self, name: str, rows: torch.Tensor) -> torch.Tensor:
        return self._product(name, rows) + self.weight(f"{name}.bias")
