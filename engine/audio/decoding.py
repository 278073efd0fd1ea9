"""Audio files read into arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from engine.audio.samples import Samples
from engine.errors import InvalidRequest


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
        told = soundfile.info(source)
    except soundfile.LibsndfileError as error:
        raise _unreadable(field, error) from error
    return AudioHeader(int(told.frames), int(told.samplerate), int(told.channels))


def decode(
    source: Path | BinaryIO, *, field: str = "file", most_frames: int | None = None
) -> tuple[Samples, int]:
    """Samples (N, C) and sample rate in Hz of a WAV, FLAC, MP3, Ogg Vorbis or Ogg Opus file.

    A file object is read from its start; with `most_frames` no further, whatever the header says. Raises
    InvalidRequest, naming `field`, for anything else.
    """
    frames = -1 if most_frames is None else most_frames
    try:
        samples, rate = soundfile.read(source, frames, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise _unreadable(field, error) from error
    return np.asarray(samples, dtype=np.float32), int(rate)


def _unreadable(field: str, error: soundfile.LibsndfileError) -> InvalidRequest:
    reason = error.error_string.rstrip(".").lower()  # the error's own words name the object that was opened
    return InvalidRequest(field, f"The audio cannot be read ({reason}); send WAV, FLAC, MP3 or Ogg.")
