"""A decode step with head and draw, beside the traffic that it cannot avoid and beside the naive loop."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch
from torch.nn import functional

from bench.engine.least import Formats, least_pass
from bench.engine.naive import AR_NAMES, Half, NaiveDecoder, endless, random_cache
from bench.engine.options import Options
from bench.engine.product import Backbone
from bench.engine.rounds import GIGABYTE, Memory, milliseconds, ratio_row, synchronise, timed_row
from bench.report import Row
from engine.yue2.files.tensors import decoder_names
from engine.yue2.vocabulary import CODEC_FIRST, SEMANTIC_ROWS

Samples = dict[str, list[float]]
COPIES = 3
WARMING = 3  # tokens


@dataclass
class Turns:
    """Counts the tokens of a decoding and, every so many, lets others have their turn; owner of the clock.

    The first step after the others' turn does not count: it may have been computed meanwhile. Nor do the first few of
    all, in which graphs are captured.
    """

    steps: int
    rounds: int
    others: Callable[[], None]
    device: torch.device
    began: tuple[int, float] | None = None

    def __post_init__(self) -> None:
        self.taken: list[float] = []  # milliseconds a step

    @property
    def tokens(self) -> int:
        """How many the decoding has to draw for all rounds."""
        return WARMING + self.rounds * (self.steps + 1) + 1

    def drawn(self, count: int) -> None:
        """Hear that so many tokens are drawn."""
        now = time.perf_counter()
        if count <= WARMING:
            return
        if self.began is None:
            self.began = count, now
        elif count - self.began[0] >= self.steps:
            self.taken.append((now - self.began[1]) / (count - self.began[0]) * 1e3)
            self.began = None
            if len(self.taken) <= self.rounds:
                synchronise(self.device)
                self.others()


def measure_decoding(backbone: Backbone, options: Options) -> tuple[list[Row], Samples]:
    """Rows and samples; the semantic stage, of one song without guidance."""
    samples: Samples = {"copy": [], "read": [], "naive step": [], "products alone": []}
    others = _Others(backbone, options, samples)
    turns = Turns(options.steps, options.rounds, others.run, backbone.device)
    sampling = endless(turns.tokens)
    prefix = [CODEC_FIRST + n for n in range(max(2, options.context - turns.tokens // 2))]
    backbone.decode(prefix, SEMANTIC_ROWS, sampling, turns.drawn)
    samples["step"] = turns.taken[: options.rounds]
    traffic = step_bytes(backbone, options.context) / GIGABYTE
    samples["floor"] = [traffic / rate * 1e3 for rate in samples["copy"]]
    return _rows(samples, traffic, options), samples


def _rows(samples: Samples, traffic: float, options: Options) -> list[Row]:
    step, floor = samples["step"], samples["floor"]
    above, ahead = options.bars.step_above_floor, options.bars.step_ahead_of_naive
    return [
        timed_row("memory, copied (read + written)", samples["copy"], "GB/s"),
        timed_row("memory, read only", samples["read"], "GB/s"),
        Row("decode step, least traffic", traffic, "GB"),
        timed_row("decode step", step),
        timed_row("decode step, floor: traffic at the rate of a copy", floor),
        timed_row("decode step, its products and attention alone", samples["products alone"]),
        timed_row("decode step, naive loop", samples["naive step"]),
        ratio_row("decode step above its floor", step, floor, above),
        ratio_row("decode step ahead of the naive loop", samples["naive step"], step, ahead),
    ]


def step_bytes(backbone: Backbone, context: int) -> int:
    """Bytes that a step must read: layers, final norm, the head's allowed rows, one embedding, the context's cache."""
    config, precision = backbone.config, backbone.precision
    layer = (
        2 * config.hidden_size * (config.q_width + config.kv_width) + 3 * config.hidden_size * config.ffn_size
    )
    weights = config.layers * layer + (SEMANTIC_ROWS.count + 2) * config.hidden_size
    cached = 2 * config.layers * config.kv_width * context
    return weights * precision.decoder.itemsize + cached * precision.cache.itemsize


class _Others:
    """What takes turns with the product's steps; owner of the naive loop and of the buffers that are copied."""

    def __init__(self, backbone: Backbone, options: Options, samples: Samples) -> None:
        config, device = backbone.config, backbone.device
        self._samples, self._steps, self._device = samples, options.steps, device
        formats = Formats(backbone.precision.decoder, backbone.precision.cache)
        self._memory = Memory(options.copied_bytes, device)
        self._least = least_pass(config, 1, options.context, formats, device)
        self._head = torch.zeros(
            SEMANTIC_ROWS.count, config.hidden_size, dtype=backbone.precision.decoder, device=device
        )
        weights = backbone.plain_weights(decoder_names(config))
        cache = random_cache(config, options.context, torch.bfloat16, device)
        half = Half(config, weights.__getitem__, AR_NAMES, cache, keeps=True)
        generator = torch.Generator(device).manual_seed(831001)
        self._naive = NaiveDecoder(half, SEMANTIC_ROWS, endless(options.context), generator)
        self._token = CODEC_FIRST

    def run(self) -> None:
        """One round of each."""
        taken = self._samples
        taken["copy"].append(median(self._memory.copy_rate() for _ in range(COPIES)))
        taken["read"].append(median(self._memory.read_rate() for _ in range(COPIES)))
        taken["products alone"].append(self._time_a_step(self._products))
        taken["naive step"].append(self._time_a_step(self._naive_steps))

    def _time_a_step(self, steps: Callable[[int], None]) -> float:
        steps(1)  # what is in the machine's caches is another's
        return milliseconds(lambda: steps(self._steps), self._device) / self._steps

    def _products(self, count: int) -> None:
        for _ in range(count):
            self._least.run()
            functional.linear(self._head.new_zeros(1, self._head.shape[1]), self._head)

    def _naive_steps(self, count: int) -> None:
        for _ in range(count):
            self._token = self._naive.step(self._token)
