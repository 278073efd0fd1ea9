"""A whole song through the model as the server uses it, in a process of its own, so that its memory is all its own.

`python -m bench.engine.song JSON` prints what it took as JSON; `Singing` is what it is told.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from pydantic import JsonValue

from bench.engine.checkpoints import Pair
from bench.engine.options import Options
from bench.processes import MEGABYTE, ROOT
from bench.report import Row, end
from engine.control import Uncontrolled
from engine.request import SongRequest, read_song
from engine.yue2.files.config import ModelConfig, read_model_config, read_vae_config
from engine.yue2.files.tensors import acoustic_names, decoder_names, model_tensors, vae_tensors
from engine.yue2.machine.device import choose_device
from engine.yue2.network.precision import Precision, choose
from engine.yue2.options import Yue2Options
from engine.yue2.pipeline import open_yue2
from engine.yue2.stages import ACOUSTIC, DECODING, LOADING, SCORE, SEMANTIC

STATUS = Path("/proc/self/status")
PHASES = (LOADING, SCORE, SEMANTIC, ACOUSTIC, DECODING)
SCORE_TOKENS_A_SECOND = 8
Samples = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Singing:
    """What the process sings: folders, device, threads (0 as torch has it), tokens of the score, frames of the song."""

    model: str
    vae: str
    device: str
    precision: str
    threads: int
    score_tokens: int
    frames: int
    steps: int = 32

    def request(self) -> SongRequest:
        """Its request."""
        return read_song(song_of(self.score_tokens, self.frames, self.steps))


def song_of(score_tokens: int, frames: int, steps: int = 32) -> dict[str, JsonValue]:
    """The body of a request whose stages take exactly so many tokens."""
    return {
        "style": "folk, 96 BPM, acoustic guitar",
        "lyrics": "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n",
        "lm_seed": 7,
        "seed": 7,
        "steps": steps,
        "abc_sampling": {"min_tokens": score_tokens, "max_tokens": score_tokens},
        "semantic_sampling": {"min_tokens": frames, "max_tokens": frames},
    }


class Stopwatch(Uncontrolled):
    """Notes when each phase was first heard of; owner of these instants, on `time.perf_counter`."""

    def __init__(self) -> None:
        self.marks: list[tuple[str, float]] = []

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Keep the instant of a phase that is new."""
        if not self.marks or self.marks[-1][0] != phase:
            self.marks.append((phase, time.perf_counter()))

    def seconds(self, ended: float) -> dict[str, float]:
        """How long each phase lasted until the next or the end."""
        taken = dict.fromkeys(PHASES, 0.0)
        for (phase, began), (_, until) in pairwise([*self.marks, ("", ended)]):
            taken[phase] += until - began
        return taken


def sing(singing: Singing) -> dict[str, float]:
    """Load and sing; seconds of each phase, seconds of sound, MB of memory."""
    if singing.threads:
        torch.set_num_threads(singing.threads)
    device, model_folder, vae_folder = choose_device(singing.device), Path(singing.model), Path(singing.vae)
    imported = resident_megabytes("VmRSS")
    began = time.perf_counter()
    verified = model_folder.parent / "verified.json"
    model = open_yue2(Yue2Options(model_folder, vae_folder, verified, singing.device, singing.precision))
    opened, watch = time.perf_counter(), Stopwatch()
    track = next(iter(model.generate(singing.request(), watch)))
    phases = watch.seconds(time.perf_counter())
    on_card = torch.cuda.max_memory_allocated(device) / MEGABYTE if device.type == "cuda" else 0.0
    return {
        "opening": opened - began,
        **phases,
        "sound": track.seconds,
        "peak": resident_megabytes("VmHWM") - imported,
        "peak on the card": on_card,
        "needed": needed_bytes(model_folder, vae_folder, choose(device, singing.precision), singing)
        / MEGABYTE,
    }


def needed_bytes(model: Path, vae: Path, precision: Precision, singing: Singing) -> int:
    """Weights of both halves and of the codec, and the cache of all positions that the song takes."""
    config = read_model_config(model)
    specs = model_tensors(config)
    decoder = _values(specs[name].shape for name in decoder_names(config))
    acoustic = _values(specs[name].shape for name in acoustic_names(config))
    codec = _values(
        spec.shape for name, spec in vae_tensors(read_vae_config(vae)).items() if name.startswith("decoder")
    )
    weights = decoder * precision.decoder.itemsize + acoustic * precision.acoustic.itemsize + 4 * codec
    return weights + cache_bytes(config, precision, singing.score_tokens + 2 * singing.frames)


def cache_bytes(config: ModelConfig, precision: Precision, positions: int) -> int:
    """Keys and values of so many positions."""
    return 2 * config.layers * config.kv_width * positions * precision.cache.itemsize


def _values(shapes: Iterable[tuple[int, ...]]) -> int:
    return sum(torch.Size(shape).numel() for shape in shapes)


def resident_megabytes(name: str) -> float:
    """`VmRSS` (now) or `VmHWM` (the most ever) of this process, in MB; Linux only."""
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024 / MEGABYTE


def measure_song(pair: Pair, options: Options) -> tuple[list[Row], Samples]:
    """Rows and samples of one song; loading does not count into its speed."""
    singing = Singing(
        str(pair.model),
        str(pair.vae),
        options.device,
        options.precision,
        options.threads,
        max(1, round(options.song_seconds * SCORE_TOKENS_A_SECOND)),
        options.song_frames,
    )
    command = [sys.executable, "-m", "bench.engine.song", json.dumps(asdict(singing))]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    told = {name: float(value) for name, value in json.loads(ran.stdout.splitlines()[-1]).items()}
    read = sum((folder / "model.safetensors").stat().st_size for folder in (pair.model, pair.vae)) / MEGABYTE
    return song_rows(told, read, options), {f"song: {name}": [value] for name, value in told.items()}


def song_rows(told: Mapping[str, float], read_megabytes: float, options: Options) -> list[Row]:
    """A song's speed, the share of each stage, loading and memory."""
    sung = sum(told[phase] for phase in PHASES if phase != LOADING)
    loading = told["opening"] + told[LOADING]
    peak = "peak on the card" if options.on_cuda else "peak"
    return [
        Row("loading", loading, "s"),
        Row("loading, files by time", read_megabytes / loading, "MB/s"),
        Row("song, seconds of sound", told["sound"], "s"),
        Row("song, a second of sound", sung / told["sound"], "s", options.bars.song),
        *(Row(f"song, share of {phase}", told[phase] / sung, "") for phase in PHASES if phase != LOADING),
        Row("song, most memory", told[peak], "MB"),
        Row("song, weights and cache", told["needed"], "MB"),
        Row("song, most memory above weights and cache", told[peak] / told["needed"], "x"),
    ]


def told_song() -> int:
    """Print what the command line's song took, as JSON."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    print(json.dumps(sing(Singing(**asked))))
    return 0


if __name__ == "__main__":
    end(told_song)
