"""An evaluation of the velocity, and prefills, beside their products and attentions alone and beside the naive way."""

import torch

from bench.engine.decoding import Samples
from bench.engine.least import BF16, least_pass
from bench.engine.naive import AR_NAMES, NAR_NAMES, Half, NaiveAcoustic, random_cache
from bench.engine.options import Options
from bench.engine.product import Backbone
from bench.engine.rounds import in_turns, ratio_row, timed_row
from bench.report import Row
from engine.yue2.files.tensors import acoustic_names, decoder_names
from engine.yue2.vocabulary import CODEC_FIRST

MARKERS = 2
TIME = 0.5


def measure_evaluation(backbone: Backbone, options: Options) -> tuple[list[Row], Samples]:
    """Rows and samples of one variation of so many frames behind the context."""
    config, device = backbone.config, backbone.device
    bf16 = torch.bfloat16
    state = torch.randn(1, options.frames, config.latent_dim, device=device)
    backbone.fill_cache(options.context)
    least = least_pass(config, options.frames + MARKERS, options.context, BF16, device)
    weights = backbone.plain_weights((*acoustic_names(config), "model.norm.weight"))
    cache = random_cache(config, options.context, bf16, device)
    naive = NaiveAcoustic(Half(config, weights.__getitem__, NAR_NAMES, cache, keeps=False))
    plain_state = state[0].to(bf16)
    calls = {
        "evaluation": lambda: backbone.velocity(state, options.context),
        "evaluation, floor": least.run,
        "naive evaluation": lambda: naive.velocity(plain_state, TIME),
    }
    samples = in_turns(calls, options.rounds, device)
    taken, floor, plain = samples.values()
    return [
        timed_row("evaluation", taken),
        timed_row("evaluation, floor: its products and attention alone", floor),
        timed_row("evaluation, naive", plain),
        ratio_row("evaluation above its floor", taken, floor, options.bars.evaluation_above_floor),
        ratio_row("evaluation ahead of the naive way", plain, taken),
    ], samples


def measure_prefills(backbone: Backbone, options: Options) -> tuple[list[Row], Samples]:
    """Rows and samples of each length."""
    rows: list[Row] = []
    samples: Samples = {}
    weights = backbone.plain_weights(decoder_names(backbone.config))
    for count in options.prefills:
        taken = _prefill(backbone, weights, count, options.rounds)
        samples |= taken
        rows += [timed_row(name, values) for name, values in taken.items()]
    return rows, samples


def _prefill(backbone: Backbone, weights: dict[str, torch.Tensor], count: int, rounds: int) -> Samples:
    config, device = backbone.config, backbone.device
    tokens = [CODEC_FIRST + n % 1000 for n in range(count)]
    least = least_pass(config, count, 0, BF16, device, causal=True)
    empty = random_cache(config, 0, torch.bfloat16, device)
    naive = Half(config, weights.__getitem__, AR_NAMES, empty, keeps=False)
    embedded = weights["model.embed_tokens.weight"][torch.tensor(tokens, device=device)]
    calls = {
        f"prefill of {count}": lambda: backbone.prefill(tokens),
        f"prefill of {count}, floor: its products and attention alone": least.run,
        f"prefill of {count}, naive": lambda: naive.forward(embedded, causal=True),
    }
    return in_turns(calls, max(1, rounds // 2), device)
