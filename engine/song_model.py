"""What the server asks of a model that makes songs, and what it gets back.

All methods but `describe`, the `check…`, the `…stages` and `notes` run on the one working thread; properties are read
by any.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.request import SongRequest

Latents = NDArray[np.float32]
"""Acoustic latents, float32 of shape (T, C), 25 rows a second."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A phase that work is to pass through and its size; `source` says where the size is from.

    `score`: from what was sent, such as the score; `history`: from earlier songs; `budget`: the most it can be.
    """

    phase: str
    units: float
    source: str = "history"


@dataclass(frozen=True, slots=True)
class Track:
    """One song as sound, and the request that gives it again.

    `notes` are sentences for whoever asked: what differs from what was asked for, and why.
    """

    replay: dict[str, JsonValue]
    samples: Samples  # (N, 2), at `sample_rate_hz`
    sample_rate_hz: int
    seconds: float
    latents: Latents | None = None  # (T, C), where they were asked for
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A score as ABC text, and sentences for whoever asked."""

    abc: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoded:
    """Audio as latents, and sentences for whoever asked."""

    latents: Latents  # (T, C)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """Latents as audio, and sentences for whoever asked."""

    samples: Samples  # (1920 T - 64, 2)
    notes: tuple[str, ...] = ()


class SongModel(Protocol):
    """A model that turns style and lyrics, or a score, into songs."""

    @property
    def id(self) -> str:
        """The name requests choose it by."""

    @property
    def rates_id(self) -> str:
        """The name under which its speed is learnt: differs with device and precision."""

    @property
    def latent_channels(self) -> int:
        """C of its latents; 0 where it has none."""

    def describe(self) -> dict[str, JsonValue]:
        """What `/props` tells of it."""

    def check(self, request: SongRequest, latents: Latents | None = None) -> None:
        """Raise InvalidRequest, naming the field, for what this model cannot do, and ScoreError for a bad score."""

    def check_plan(self, request: SongRequest) -> None:
        """As `check`, for a score alone."""

    def plan(self, request: SongRequest, control: Control) -> Plan:
        """The score of the request: the one it brings, else a new one drawn with `lm_seed`."""

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """Tracks, song-major; the request's seeds are resolved. With latents only their decoding is left to do."""

    def stages(self, request: SongRequest, latents: Latents | None = None) -> list[Expected]:
        """Phases of `generate`, and the caller's `encoding` after each track, as often as they are entered, in order."""

    def plan_stages(self, request: SongRequest) -> list[Expected]:
        """Phases of `plan`; none where the score is there."""

    def notes(self, request: SongRequest, latents: Latents | None = None) -> tuple[str, ...]:
        """What a client should know before the work begins, such as a replay's origin on another machine."""

    def unload(self) -> None:
        """Give memory back; the next work loads again."""


class LatentCodec(Protocol):
    """A model's audio codec, as an operation of its own: audio to latents and back."""

    @property
    def sample_rate_hz(self) -> int:
        """The rate of what it encodes and decodes."""

    @property
    def shortest_seconds(self) -> float:
        """The least audio that it encodes: one row of latents."""

    def check_latents(self, latents: Latents) -> None:
        """Raise InvalidRequest('latents') unless they are (T, C), finite and within the longest song."""

    def encode(self, samples: Samples, control: Control) -> Encoded:
        """Latents of stereo samples (N, 2) at its rate."""

    def decode(self, latents: Latents, control: Control) -> Decoded:
        """Samples of latents (T, C), at its rate, not clipped."""

    def finished(self, samples: Samples, output_format: str, peak_clip: int, control: Control) -> Samples:
        """Decoded samples as songs are given out: the (1 - peak_clip / 10^6) quantile at full scale, the rest clipped.

        `peak_clip` as in requests, so 0 is the true peak. A wav32 keeps what `decode` gave. The samples may be changed
        in place.
        """

    def encode_stages(self, seconds: float) -> list[Expected]:
        """Phases of `encode` of audio of that length."""

    def decode_stages(self, frames: int) -> list[Expected]:
        """Phases of `decode` of so many latent rows."""


class SongCodec(SongModel, LatentCodec, Protocol):
    """A model of songs that also lends its audio codec."""
