"""What is measured: the size of the random checkpoints, how much of it, on which device."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.report import Bar

FRAMES_PER_SECOND = 25


@dataclass(frozen=True, slots=True)
class Size:
    """The dimensions of a backbone and of a codec's decoder."""

    layers: int = 8
    hidden: int = 1024
    heads: int = 8
    kv_heads: int = 4
    head_dim: int = 128
    ffn: int = 3072
    vae_channels: int = 64


BAR_SIZE = Size()
REAL_SIZE = Size(28, 2048, 16, 8, 128, 6144, 64)


@dataclass(frozen=True, slots=True)
class Bars:
    """What the product has to keep at the sizes that bars are set for; times as multiples of another time."""

    step_above_floor: Bar | None = None
    step_ahead_of_naive: Bar | None = None
    evaluation_above_floor: Bar | None = None
    song: Bar | None = None  # seconds of work for one of sound


CPU_BARS = Bars(Bar(1.6), Bar(3.0, at_most=False), Bar(1.3))
CUDA_BARS = Bars(Bar(1.3), None, Bar(1.6), Bar(0.08))  # the song's is for a card of the class of an H200


@dataclass(frozen=True, slots=True)
class Options:
    """One run. Context and prefills in tokens, frames in acoustic rows, steps in tokens a round."""

    size: Size = BAR_SIZE
    device: str = "cpu"
    precision: str = "auto"
    context: int = 2000
    frames: int = 1500
    steps: int = 16
    rounds: int = 7
    prefills: tuple[int, ...] = (130, 1500, 6000)
    vae_frames: int = 64
    song_seconds: float = 10.0
    copied_bytes: int = 256 << 20
    threads: int = 0
    check: bool = False

    @property
    def on_cuda(self) -> bool:
        """Whether a GPU does the work."""
        return self.device.startswith("cuda")

    @property
    def bars(self) -> Bars:
        """Those of the size, if it has any."""
        if self.on_cuda and self.size == REAL_SIZE:
            return CUDA_BARS
        return CPU_BARS if not self.on_cuda and self.size == BAR_SIZE else Bars()

    @property
    def song_frames(self) -> int:
        """Tokens of the song."""
        return max(1, round(self.song_seconds * FRAMES_PER_SECOND))


CPU = Options()
CUDA = Options(device="cuda", steps=64, rounds=9, vae_frames=1500, song_seconds=180.0, copied_bytes=1 << 30)
NUMBERS = {
    "context": "tokens in the cache of a decode step and of an evaluation",
    "frames": "acoustic rows of an evaluation, without the markers",
    "steps": "decode steps a round",
    "rounds": "rounds of everything",
    "vae_frames": "latent rows of a decoding",
    "copied_bytes": "bytes of the buffer that is copied for the bandwidth",
    "threads": "threads of a CPU; 0 leaves them to torch",
}


def read_options(arguments: Sequence[str] | None = None) -> Options:
    """The command line's wishes; defaults differ with the device."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the real model's size")
    parser.add_argument("--check", action="store_true", help="measure only what has a bar")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--song-seconds", type=float)
    parser.add_argument("--prefills", type=_numbers, metavar="N,N,…")
    for name in Size.__dataclass_fields__:
        parser.add_argument(_flag(name), type=int)
    for name, meaning in NUMBERS.items():
        parser.add_argument(_flag(name), type=int, help=meaning)
    chosen = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    size = replace(
        REAL_SIZE if chosen.pop("full") else BAR_SIZE,
        **{name: chosen.pop(name) for name in Size.__dataclass_fields__ if name in chosen},
    )
    defaults = CUDA if str(chosen["device"]).startswith("cuda") else CPU
    return replace(defaults, size=size, **chosen)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))
