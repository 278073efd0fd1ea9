"""Tiny songs for the tests of the model, and controls that watch or stop their making."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from engine.request import Scalar, SongRequest, read_song
from engine.song_model import Track
from engine.yue2.options import Yue2Options
from engine.yue2.pipeline import Yue2Model, open_yue2

SCORE = {"min_tokens": 2, "max_tokens": 3}
CODES = {"min_tokens": 3, "max_tokens": 4}
TUNE = "X:1\nM:4/4\nL:1/4\nQ:1/4=960\nK:C\nCDEF|\n"  # 0.25 s


def song(**fields: object) -> SongRequest:
    """A song of four frames, from one solver step, of a score of three tokens, unless fields say otherwise."""
    tiny = {"style": "folk", "lyrics": "la", "lm_seed": 3, "seed": 5, "steps": 1, "output_format": "wav32"}
    return read_song({**tiny, "abc_sampling": SCORE, "semantic_sampling": CODES, **fields})


def replay(track: Track, **changes: object) -> SongRequest:
    """The replay of a track, as a client posts it."""
    return read_song({**track.replay, **changes})


def fingerprint(track: Track) -> Mapping[str, Scalar]:
    """What a track was made on, as its replay says."""
    return replay(track).fingerprint or {}


class Stopped(Exception):
    """What a control raises that stops the work."""


class Watch:
    """A control that remembers what it is told, and stops the work at its check number `stop_at`, from 1."""

    def __init__(self, stop_at: int = 0) -> None:
        self.stop_at = stop_at
        self.checks = 0
        self.reports: list[tuple[str, float, Mapping[str, int]]] = []
        self.expected: list[tuple[str, float, str]] = []

    def check_cancelled(self) -> None:
        self.checks += 1
        if self.checks == self.stop_at:
            raise Stopped

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.reports.append((phase, fraction, counters))

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        self.expected.append((phase, units, source))

    @property
    def phases(self) -> list[str]:
        """The phases in the order they were entered."""
        names = [phase for phase, _, _ in self.reports]
        return [name for place, name in enumerate(names) if names[place - 1 : place] != [name]]

    def fractions(self, phase: str) -> list[float]:
        """How far each report of a phase said it is."""
        return [fraction for name, fraction, _ in self.reports if name == phase]


def opened(model_folder: Path, vae_folder: Path, digest_file: Path, **wishes: str) -> Yue2Model:
    """A tiny model on the processor, in float32 unless wished otherwise."""
    asked = {"device": "cpu", "precision": "fp32", **wishes}
    return open_yue2(Yue2Options(model_folder, vae_folder, digest_file, **asked))


def tracks(model: Yue2Model, request: SongRequest, watch: Watch | None = None) -> list[Track]:
    """All tracks of a request that the model finds nothing wrong with."""
    model.check(request)
    return list(model.generate(request, watch or Watch()))


def same(first: Sequence[Track], second: Sequence[Track]) -> bool:
    """Whether the tracks sound the same to the last bit."""
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(one.samples, other.samples) for one, other in pairs)
