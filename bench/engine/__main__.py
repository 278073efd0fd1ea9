"""`python -m bench.engine`: measure, print the table, keep the samples; 1 where a bar is missed."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from bench.engine.acoustics import measure_evaluation, measure_prefills
from bench.engine.checkpoints import Pair, random_checkpoints
from bench.engine.codec import measure_codec
from bench.engine.decoding import Samples, measure_decoding
from bench.engine.options import Options, read_options
from bench.engine.product import open_backbone, open_codec
from bench.engine.song import measure_song
from bench.report import Row, begin, end
from engine.yue2.machine.device import choose_device, give_back

METHOD = "median; between the 5th and 95th percentile of the rounds"


def measure(directory: Path, options: Options) -> tuple[list[Row], Samples]:
    """Everything that the options ask for, on checkpoints below a folder."""
    if options.threads:
        torch.set_num_threads(options.threads)
    pair = random_checkpoints(directory, options.size)
    rows: list[Row] = []
    samples: Samples = {}
    with torch.inference_mode():
        for some_rows, some_samples in _parts(pair, options):
            rows += some_rows
            samples |= some_samples
    return rows, samples


def _parts(pair: Pair, options: Options) -> Iterator[tuple[list[Row], Samples]]:
    """One after another; each gives its memory back before the next."""
    yield from _of_the_backbone(pair, options)
    if not options.check:
        yield from _of_the_codec(pair, options)
    give_back(choose_device(options.device))
    if not options.check or options.bars.song:
        yield measure_song(pair, options)


def _of_the_backbone(pair: Pair, options: Options) -> Iterator[tuple[list[Row], Samples]]:
    with open_backbone(pair.model, options) as backbone:
        yield measure_decoding(backbone, options)
        yield measure_evaluation(backbone, options)
        if not options.check:
            yield measure_prefills(backbone, options)


def _of_the_codec(pair: Pair, options: Options) -> Iterator[tuple[list[Row], Samples]]:
    with open_codec(pair.vae, options) as codec:
        yield measure_codec(codec, options)


def main() -> int:
    """Measure what the command line asks for."""
    options = read_options()
    report = begin("engine", METHOD)
    with TemporaryDirectory() as folder:
        return report.conclude(*measure(Path(folder), options))


if __name__ == "__main__":
    end(main)
