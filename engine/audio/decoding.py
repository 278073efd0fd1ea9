"""Audio files read into arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from engine.audio.opening import opened
from engine.audio.samples import Samples
from engine.audio.source import unreadable
from engine.control import Check, unchecked

_FORMATS = "WAV, FLAC, MP3 or Ogg"
_SLICE_SAMPLES = 2**20  # 11 s of stereo; Opus, the slowest, takes 0.15 s for them


@dataclass(frozen=True, slots=True)
class AudioHeader:
    """What an audio file says of itself: its frames, and channels in each."""

    frames: int
    rate_hz: int
    channels: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.frames / self.rate_hz


def read_header(source: Path | BinaryIO, *, field: str = "file") -> AudioHeader:
    """What a file that `decode` reads says of itself; its samples are not read. Raises InvalidRequest as `decode`."""
    try:
        with opened(source, field) as file:
            return AudioHeader(int(file.frames), int(file.samplerate), int(file.channels))
    except soundfile.LibsndfileError as error:
        raise unreadable(field, error.error_string, _FORMATS) from error


def decode(
    source: Path | BinaryIO, *, field: str = "file", most_frames: int | None = None, check: Check = unchecked
) -> tuple[Samples, int]:
    """Samples (N, C) and sample rate in Hz of a WAV, FLAC, MP3, Ogg Vorbis or Ogg Opus file.

    A file object is read from its start; with `most_frames` no further, whatever the header says. `check` is called
    before each slice and stops the reading by raising. Raises InvalidRequest, naming `field`, for anything else.
    """
    try:
        with opened(source, field) as file:
            frames = file.frames if most_frames is None else min(file.frames, most_frames)
            return _read(file, frames, check), int(file.samplerate)
    except soundfile.LibsndfileError as error:
        raise unreadable(field, error.error_string, _FORMATS) from error


def _read(file: soundfile.SoundFile, frames: int, check: Check) -> Samples:
    """The first `frames` (N, C), or as many as there really are."""
    samples = np.empty((frames, file.channels), np.float32)
    step = max(1, _SLICE_SAMPLES // file.channels)
    for start in range(0, frames, step):
        check()
        part = samples[start : start + step]
        read = len(file.read(out=part))
        if read < len(part):
            return samples[: start + read]
    return samples
