"""The backbone as anyone would first write it: every projection by itself, caches that are concatenated.

Formulas: Qwen3's layers; the acoustic half attends to its own keys behind those of the autoregressive half.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.nn import functional

from engine.sampling_request import Sampling
from engine.yue2.files.config import ModelConfig
from engine.yue2.vocabulary import TokenRows

Weights = Callable[[str], torch.Tensor]
Cached = tuple[torch.Tensor, torch.Tensor]  # keys and values, (kv_heads, positions, head_dim) each
AR_NAMES = ("input_layernorm", "self_attn", "post_attention_layernorm", "mlp")
NAR_NAMES = ("nar_input_layernorm", "nar_self_attn", "nar_pre_mlp_layernorm", "nar_mlp")


def random_cache(
    config: ModelConfig, positions: int, dtype: torch.dtype, device: torch.device
) -> list[Cached]:
    """One layer's keys and values after another."""
    shape = (config.kv_heads, positions, config.head_dim)
    return [
        (torch.randn(shape, dtype=dtype, device=device), torch.randn(shape, dtype=dtype, device=device))
        for _ in range(config.layers)
    ]


@dataclass
class Half:
    """One of the two sets of layers, and a cache that grows; owner of the cache where `keeps`."""

    config: ModelConfig
    weights: Weights
    names: tuple[str, str, str, str]
    cache: list[Cached]
    keeps: bool

    def forward(self, x: torch.Tensor, causal: bool = False) -> torch.Tensor:
        """The stream (positions, hidden) after all layers and the final norm."""
        first = self.cache[0][0].shape[1]
        angles = self._angles(first, x.shape[0], x.device)
        for layer in range(self.config.layers):
            prefix = f"model.layers.{layer}."
            norm, attention, mlp_norm, mlp = (prefix + name for name in self.names)
            x = x + self._attend(layer, attention, self._norm(x, f"{norm}.weight"), angles, causal)
            x = x + self._feed(mlp, self._norm(x, f"{mlp_norm}.weight"))
        return self._norm(x, "model.norm.weight")

    def _attend(
        self, layer: int, name: str, h: torch.Tensor, angles: torch.Tensor, causal: bool
    ) -> torch.Tensor:
        rows, width = h.shape[0], self.config.head_dim
        q = functional.linear(h, self.weights(f"{name}.q_proj.weight")).view(rows, -1, width)
        k = functional.linear(h, self.weights(f"{name}.k_proj.weight")).view(rows, -1, width)
        v = functional.linear(h, self.weights(f"{name}.v_proj.weight")).view(rows, -1, width)
        q = rotate(self._norm(q, f"{name}.q_norm.weight").transpose(0, 1), angles)
        k = rotate(self._norm(k, f"{name}.k_norm.weight").transpose(0, 1), angles)
        keys = torch.cat([self.cache[layer][0], k], 1)
        values = torch.cat([self.cache[layer][1], v.transpose(0, 1)], 1)
        if self.keeps:
            self.cache[layer] = keys, values
        group = self.config.heads // self.config.kv_heads
        keys, values = (each.repeat_interleave(group, 0) for each in (keys, values))
        seen = functional.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=causal)[0]
        return functional.linear(seen.transpose(0, 1).flatten(1), self.weights(f"{name}.o_proj.weight"))

    def _feed(self, name: str, u: torch.Tensor) -> torch.Tensor:
        gate = functional.linear(u, self.weights(f"{name}.gate_proj.weight"))
        up = functional.linear(u, self.weights(f"{name}.up_proj.weight"))
        return functional.linear(functional.silu(gate) * up, self.weights(f"{name}.down_proj.weight"))

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.config.rms_norm_eps)
        return (x.float() * scale).to(x.dtype) * self.weights(name)

    def _angles(self, first: int, count: int, device: torch.device) -> torch.Tensor:
        exponents = torch.arange(0, self.config.head_dim, 2, device=device) / self.config.head_dim
        positions = torch.arange(first, first + count, device=device)
        return positions[:, None] * self.config.rope_theta ** -exponents[None]


def rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of (heads, positions, head_dim) in two halves."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def endless(tokens: int) -> Sampling:
    """The semantic stage's drawing of exactly so many tokens."""
    return Sampling(
        temperature=1.0,
        top_p=0.95,
        top_k=100,
        repetition_penalty=1.2,
        penalty_window=50,
        min_tokens=tokens,
        max_tokens=tokens,
    )


@dataclass
class NaiveDecoder:
    """Draws one token after the other from the whole vocabulary; owner of its history."""

    half: Half
    rows: TokenRows
    sampling: Sampling
    generator: torch.Generator
    drawn: list[int] = field(default_factory=list)

    def step(self, token: int) -> int:
        """Feed a token and draw the next."""
        embedded = self.half.weights("model.embed_tokens.weight")[token][None]
        return self.draw(self.half.forward(embedded)[-1])

    def draw(self, hidden: torch.Tensor) -> int:
        """Draw from the logits of all tokens, of which only the allowed ones count."""
        logits = functional.linear(hidden, self.half.weights("lm_head.weight")).float()
        scores = torch.full_like(logits, -torch.inf)
        allowed = slice(self.rows.first, self.rows.first + self.rows.count)
        scores[allowed] = logits[allowed]
        scores[self.rows.end_id] = -torch.inf
        for id, count in Counter(self.drawn[-self.sampling.penalty_window :]).items():
            penalty = self.sampling.repetition_penalty**count
            scores[id] = scores[id] * penalty if scores[id] < 0 else scores[id] / penalty
        scores = scores / self.sampling.temperature
        scores[scores < torch.topk(scores, self.sampling.top_k).values[-1]] = -torch.inf
        ordered, order = scores.sort(descending=True)
        likely = ordered.softmax(0)
        scores[order[likely.cumsum(0) - likely > self.sampling.top_p]] = -torch.inf
        token = int(torch.multinomial(scores.softmax(0), 1, generator=self.generator))
        self.drawn.append(token)
        return token


@dataclass
class NaiveAcoustic:
    """The velocity of the acoustic half."""

    half: Half

    def velocity(self, state: torch.Tensor, time: float) -> torch.Tensor:
        """dx/dt of latents (T, 64) at a time from 1 (noise) to 0."""
        weights = self.half.weights
        rows = functional.pad(state, (0, 0, 1, 1))
        x = functional.linear(rows, weights("vae2llm.weight"), weights("vae2llm.bias"))
        x = x + self._time(time, state) + weights("latent_pos_embed.pe")[: rows.shape[0]]
        x = self.half.forward(x)
        return functional.linear(x, weights("llm2vae.weight"), weights("llm2vae.bias"))[1:-1]

    def _time(self, time: float, state: torch.Tensor) -> torch.Tensor:
        weights = self.half.weights
        angles = time * 10_000 ** (-torch.arange(128, device=state.device) / 128)
        embedded = torch.cat([angles.cos(), angles.sin()]).to(state.dtype)
        names = [f"time_embedder.mlp.{layer}." for layer in (0, 2)]
        first, second = ((weights(f"{name}weight"), weights(f"{name}bias")) for name in names)
        return functional.linear(functional.silu(functional.linear(embedded, *first)), *second)
