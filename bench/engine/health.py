"""How promptly /health answers while the engine sings on the processor.

`python -m bench.engine.health`; the sizes of `python -m bench.engine` can be said. In each round a process of its own
probes a bare server, then the product with a random checkpoint and nothing to do, then the product while it loads the
checkpoint and sings one song after another. A probe is planned every 5 ms and timed from that instant.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.engine.checkpoints import Pair, random_checkpoints
from bench.engine.options import read_options
from bench.engine.song import song_of
from bench.floors import bare, random_file
from bench.health import answer_rows
from bench.load import Work, keep_in_flight, seconds_within
from bench.probe import METHOD, Probe, Probed
from bench.processes import Server, free_port, on_port
from bench.report import Row, begin, end

ROUNDS = 2
SECONDS = 45.0
SINGING = "loading and singing"
SCORE_TOKENS, FRAMES = 64, 100  # so that every stage has its turn in every round


def environment(pair: Pair, directory: Path) -> dict[str, str]:
    """What the product's process is told."""
    return {
        "YUE2_MODEL": str(pair.model),
        "YUE2_VAE": str(pair.vae),
        "YUE2_DEVICE": "cpu",
        "YUE2_RESULT_DIR": str(directory / "jobs"),
    }


@contextmanager
def product(pair: Pair, directory: Path) -> Iterator[Server]:
    """The server over a pair of checkpoints, which it loads with the first song."""
    port = free_port()
    with on_port(
        ["-m", "server", "serve", "--port", str(port)], environment(pair, directory), port
    ) as server:
        yield server


def while_singing(server: Server, seconds: float) -> tuple[Probed, list[Work]]:
    """Probe while songs follow one another; also the songs, of which the last may be cut short."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as feeder:
        songs = feeder.submit(keep_in_flight, server, "/synth", song_of(SCORE_TOKENS, FRAMES), over)
        try:
            probed = Probe(server.port, seconds).probed()
        finally:
            over.set()
        return probed, songs.result()


def main() -> int:
    """Measure in turns, each round on a fresh server, and hold the best round against the bars."""
    size = read_options().size
    report = begin("engine-health", METHOD)
    turns: dict[str, list[Probed]] = {"bare": [], "idle": [], SINGING: []}
    songs: list[float] = []
    with TemporaryDirectory() as folder:
        pair = random_checkpoints(Path(folder), size)
        file = random_file(Path(folder), 1000)
        for turn in range(ROUNDS):
            with bare("app", file) as floor, product(pair, Path(folder) / str(turn)) as server:
                turns["bare"].append(Probe(floor.port, SECONDS / 5).probed())
                turns["idle"].append(Probe(server.port, SECONDS / 5).probed())
                probed, sung = while_singing(server, SECONDS)
            turns[SINGING].append(probed)
            songs.append(seconds_within(sung, probed.began, probed.ended))
    rows = [row for name, taken in turns.items() for row in answer_rows(name, taken, SINGING)]
    samples = {
        f"{name}, round {number}": turn.answers
        for name, taken in turns.items()
        for number, turn in enumerate(taken, 1)
    }
    return report.conclude(
        [*rows, Row("load: songs in the worker", min(songs), "s"), Row("length of the round", SECONDS, "s")],
        samples | {"songs in the worker": songs},
    )


if __name__ == "__main__":
    end(main)
