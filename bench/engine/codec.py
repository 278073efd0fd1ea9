"""Decoding of latents into sound, beside its convolutions alone."""

import torch

from bench.engine.decoding import Samples
from bench.engine.least import least_decoding
from bench.engine.options import FRAMES_PER_SECOND, Options
from bench.engine.product import Codec
from bench.engine.rounds import in_turns, ratio_row, timed_row
from bench.report import Row


def measure_codec(codec: Codec, options: Options) -> tuple[list[Row], Samples]:
    """Rows and samples, in seconds of work for one of sound."""
    latents = torch.randn(options.vae_frames, codec.config.latent_dim)
    least = least_decoding(codec.config, options.vae_frames, codec.device)
    calls = {"codec": lambda: codec.decode(latents), "codec, floor": least.run}
    rounds = max(1, options.rounds // 2)
    seconds = options.vae_frames / FRAMES_PER_SECOND
    samples = {
        name: [taken / 1e3 / seconds for taken in values]
        for name, values in in_turns(calls, rounds, codec.device).items()
    }
    taken, floor = samples.values()
    return [
        timed_row("codec, a second of sound", taken, "s"),
        timed_row("codec, floor: its convolutions alone", floor, "s"),
        ratio_row("codec above its floor", taken, floor),
    ], samples
