"""The autoregressive half: from tokens to what comes next, with what it has read kept in a cache."""

from collections.abc import Iterator, Sequence

import torch
from torch.nn import functional

from engine.control import Check, unchecked
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.allocation import allocate
from engine.yue2.network.attention import attend_causal
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.layers import Layer, add_attended, add_feed_forward, project, rms_norm
from engine.yue2.network.places import Place
from engine.yue2.network.rotary import Rotary
from engine.yue2.network.tiles import attention_rows, product_rows, spans
from engine.yue2.network.weights import DecoderWeights
from engine.yue2.vocabulary import TokenRows

CONVERSION_ROWS = 24
"""From here on it is quicker to convert float16 weights than to multiply with them on a processor."""


class Decoder:
    """The autoregressive half on one device, and the only writer of the cache's sequences.

    Raising from a check leaves the weights and all other sequences as they were; the sequence that was being read is
    to be read again from its start.
    """

    def __init__(self, weights: DecoderWeights, config: ModelConfig, cache: KvCache, rotary: Rotary) -> None:
        self.weights = weights
        self.config = config
        self.cache = cache
        self.rotary = rotary

    @torch.inference_mode()
    def prefill(self, tokens: Sequence[int], slot: int, start: int, check: Check) -> torch.Tensor:
        """Read tokens at positions start.. of a slot whose earlier positions were read before.

        Checks between layers and within long ones. Gives the last position's state (1, hidden), ready for `logits`.
        """
        rows = self.embed(torch.tensor(tokens, device=self.cache.device))  # (tokens, hidden)
        for index, layer in enumerate(self._layers_for(len(tokens))):
            check()
            self.read_layer(index, layer, rows, slot, start, check)
        return self.normed(rows[-1:])

    @torch.inference_mode()
    def step(self, tokens: torch.Tensor, place: Place, check: Check = unchecked) -> torch.Tensor:
        """One token (S,), int64 on the device, for each sequence of the place; their states (S, hidden).

        Checks before each layer; a graph captures steps without a check.
        """
        rows = self.embed(tokens)
        standing = place.enter(self.cache, self.rotary)
        for index, layer in enumerate(self.weights.layers):
            check()
            parts = project(layer, rows, standing.angles, self.config)
            attended = standing.attend(index, parts.queries, parts.keys, parts.values)
            add_attended(layer, rows, attended)
            add_feed_forward(layer, rows, self.config)
        return self.normed(rows)

    @torch.inference_mode()
    def logits(self, states: torch.Tensor, rows: TokenRows) -> torch.Tensor:
        """Logits of the ids in `rows` alone: states (S, hidden) to (S, rows.count), in the head's dtype."""
        return functional.linear(states, self.weights.head[rows.first : rows.first + rows.count])

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens (rows,), int64 on the device, as new residual rows (rows, hidden)."""
        return functional.embedding(tokens, self.weights.embedding).to(self.weights.precision.residual)

    def normed(self, rows: torch.Tensor) -> torch.Tensor:
        """Residual rows after the final norm, in the head's dtype; the same shape."""
        normed = rms_norm(rows, self.weights.final_norm, self.config.rms_norm_eps)
        return normed.to(self.weights.head.dtype)

    def read_layer(
        self, index: int, layer: Layer, rows: torch.Tensor, slot: int, start: int, check: Check
    ) -> None:
        """Pass residual rows (rows, hidden) at positions start.. through a layer, in place, keeping keys and values."""
        device, dtype, length = self.cache.device, self.cache.dtype, start + len(rows)
        queries = torch.empty(len(rows), self.config.heads, self.config.head_dim, dtype=dtype, device=device)
        for part in spans(len(rows), product_rows(device)):
            check()
            angles = self.rotary.between(start + part.start, start + part.stop)
            projected = project(layer, rows[part], angles, self.config)
            queries[part] = projected.queries
            self.cache.write(index, slot, start + part.start, projected.keys, projected.values)
        for part in spans(len(rows), attention_rows(device, length, self.config)):
            check()
            keys, values = self.cache.read(index, slot, start + part.stop)
            add_attended(layer, rows[part], attend_causal(queries[part], keys, values, start + part.start))
        for part in spans(len(rows), product_rows(device)):
            check()
            add_feed_forward(layer, rows[part], self.config)

    def _layers_for(self, rows: int) -> Iterator[Layer]:
        """The layers in the dtype that multiplies so many rows quickest.

        On a processor float16 is for single rows. What the file holds as bfloat16 is that again after conversion,
        but for numbers below float16's normal ones (6e-5), which are multiples of 6e-8 since they were loaded.
        """
        layers = self.weights.layers
        converted = self.cache.device.type == "cpu" and layers[0].qkv.dtype is torch.float16
        if not converted or rows < CONVERSION_ROWS:
            yield from layers
            return
        scratch = _scratch(layers[0])
        for layer in layers:
            yield _converted(layer, scratch)


def _scratch(layer: Layer) -> Layer:
    """Room for the products of one layer in bfloat16."""
    device = torch.device("cpu")
    qkv, output, gate_up, down = (
        allocate(tuple(weight.shape), torch.bfloat16, device)
        for weight in (layer.qkv, layer.output, layer.gate_up, layer.down)
    )
    return Layer(qkv, output, gate_up, down, layer.input_norm, layer.ffn_norm, layer.head_norms)


def _converted(layer: Layer, scratch: Layer) -> Layer:
    """The layer in the scratch's dtype, its products in the scratch's memory."""
    return Layer(
        scratch.qkv.copy_(layer.qkv),
        scratch.output.copy_(layer.output),
        scratch.gate_up.copy_(layer.gate_up),
        scratch.down.copy_(layer.down),
        layer.input_norm,
        layer.ffn_norm,
        layer.head_norms,
    )
