"""A stand-in for YuE2: no weights, the same promises. Its songs follow from seeds, its sound from its latents."""

import threading
from collections.abc import Iterator
from itertools import product

import numpy as np
from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import SongRequest, replay_of
from engine.song_model import Decoded, Encoded, Expected, Latents, Plan, Track

ROW_SAMPLES = 1_920
CHANNELS = 64
LONGEST_ROWS = 24_576
NOTES = ("Memory was short.",)
FINGERPRINT = {"device": "none", "precision": "exact"}


class Yue2Double:
    """Satisfies `SongModel` and `LatentCodec`. Owner of whether it is loaded; `hold` keeps a song from ending."""

    id = "yue2"
    rates_id = "yue2 none exact"
    latent_channels = CHANNELS
    sample_rate_hz = 48_000
    shortest_seconds = ROW_SAMPLES / 48_000

    def __init__(self) -> None:
        self.loaded = False
        self.unloaded = 0
        self.reached = threading.Event()
        self.hold = threading.Event()
        self.hold.set()

    def describe(self) -> dict[str, JsonValue]:
        """As a model does."""
        return {
            "id": self.id,
            "kind": "yue2",
            "description": "A stand-in.",
            "languages": ["any"],
            "operations": ["synth", "plan", "vae"],
            "unsupported_fields": [],
            "ignored_fields": [],
            "defaults": {},
        }

    def check(self, request: SongRequest, latents: Latents | None = None) -> None:
        """Adapters are unknown, latents have their shape."""
        if request.lora:
            raise InvalidRequest("lora", "There are no adapters here; send an empty list.")
        if latents is not None:
            self.check_latents(latents)

    def check_plan(self, request: SongRequest) -> None:
        """As `check`."""
        if request.cot == "off":
            raise InvalidRequest("cot", "A plan is a score; set cot to full or melody.")
        self.check(request)

    def plan(self, request: SongRequest, control: Control) -> Plan:
        """A line that names the seed."""
        self._load(control)
        return Plan(request.abc or f"X:{request.lm_seed}\nK:C\nC|\n", ("The plan was short.",))

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """A quarter of a second at most, through every phase."""
        self._load(control)
        for song, variation in product(range(request.lm_batch_size), range(request.synth_batch_size)):
            rows = max(1, min(6, int(request.duration * 25)))
            codes = request.codes or tuple(range(rows))
            if latents is None:
                control.report("semantic", 0.0, tokens=0)
                control.expect("semantic", len(codes))
                self._wait(control)
                control.report("acoustic", 0.5, steps=16)
            made = _drawn(request.seed + variation, len(codes)) if latents is None else latents
            abc = request.abc or f"X:{request.lm_seed + song}\nK:C\nC|\n"
            replay = replay_of(
                request,
                song,
                variation,
                model=self.id,
                abc=abc,
                codes=codes,
                abc_tokens=(1, 2),
                fingerprint=FINGERPRINT,
            )
            samples = self.decode(made, control).samples
            kept = made if request.output == "latents" else None
            noted = (f"Song {song} is short.",)
            yield Track(replay, samples, 48_000, len(samples) / 48_000, kept, noted)

    def stages(self, request: SongRequest, latents: Latents | None = None) -> list[Expected]:
        """The semantic budget, and what follows from it."""
        seconds = request.longest_seconds
        begin = [] if latents is not None else [Expected("semantic", 25 * seconds, "budget")]
        end = [Expected("decoding", seconds, "budget"), Expected("encoding", seconds, "budget")]
        return [*begin, *end] * (request.lm_batch_size * request.synth_batch_size)

    def plan_stages(self, request: SongRequest) -> list[Expected]:
        """The score's budget."""
        return [Expected("score", request.abc_sampling.max_tokens, "budget")]

    def notes(self, request: SongRequest, latents: Latents | None = None) -> tuple[str, ...]:
        """Whether a replay comes from elsewhere; latents need no precision."""
        told, names = request.fingerprint, ("device",) if latents is not None else tuple(FINGERPRINT)
        elsewhere = told is not None and any(told.get(name) != FINGERPRINT[name] for name in names)
        return ("This replay was made elsewhere.",) if elsewhere else ()

    def unload(self) -> None:
        """Forget."""
        self.loaded = False
        self.unloaded += 1

    def check_latents(self, latents: Latents) -> None:
        """As the codec does."""
        if latents.shape[1:] != (CHANNELS,) or len(latents) > LONGEST_ROWS or not np.isfinite(latents).all():
            raise InvalidRequest("latents", "The latents must be finite rows of 64.")

    def encode(self, samples: Samples, control: Control) -> Encoded:
        """The mean of each row's samples, left and right by turns."""
        control.report("encoding latents", 0.0)
        rows = len(samples) // ROW_SAMPLES
        means = samples[: rows * ROW_SAMPLES].reshape(rows, ROW_SAMPLES, 2).mean(axis=1)
        latents: Latents = np.tile(means, (1, CHANNELS // 2)).astype(np.float32)
        return Encoded(latents, NOTES)

    def decode(self, latents: Latents, control: Control) -> Decoded:
        """The first two numbers of each row, held; as loud as they are."""
        control.report("decoding", 0.0)
        held: Samples = np.repeat(latents[:, :2], ROW_SAMPLES, axis=0)[: ROW_SAMPLES * len(latents) - 64]
        return Decoded(held, NOTES)

    def finished(self, samples: Samples, output_format: str, peak_clip: int, control: Control) -> Samples:
        """To half of full scale, but for wav32."""
        if output_format == "wav32":
            return samples
        half: Samples = (samples / (2 * np.abs(samples).max())).astype(np.float32)
        return half

    def encode_stages(self, seconds: float) -> list[Expected]:
        """One phase."""
        return [Expected("encoding latents", seconds)]

    def decode_stages(self, frames: int) -> list[Expected]:
        """One phase."""
        return [Expected("decoding", frames / 25)]

    def _load(self, control: Control) -> None:
        if not self.loaded:
            control.report("loading", 0.0)
            self.loaded = True

    def _wait(self, control: Control) -> None:
        self.reached.set()
        while not self.hold.wait(0.005):
            control.check_cancelled()


def _drawn(seed: int, rows: int) -> Latents:
    return np.random.default_rng(seed).normal(0, 0.1, (rows, CHANNELS)).astype(np.float32)
