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
UNTOLD_FRAMES = 2**62  # from here on libsndfile means that the file does not tell
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


def read_header(source: Path | BinaryIO, *, field: str = "file", most_samples: int = 0) -> AudioHeader:
    """What a file that `decode` reads says of itself. Raises InvalidRequest as `decode`.

    Where a file does not tell its length, its frames are counted if no more than `most_samples` are in them of all
    channels together; else it has UNTOLD_FRAMES or more.
    """
    try:
        with opened(source, field) as file:
            rate_hz, channels = int(file.samplerate), int(file.channels)
            frames = int(file.frames)
            if frames >= UNTOLD_FRAMES:
                frames = _counted(file, most_samples // channels)
            return AudioHeader(frames, rate_hz, channels)
    except soundfile.LibsndfileError as error:
        raise unreadable(field, error.error_string, _FORMATS) from error


def _counted(file: soundfile.SoundFile, most_frames: int) -> int:
    """How many frames there are, if no more than so many; the samples are dropped."""
    block, frames = np.empty((max(1, _SLICE_SAMPLES // file.channels), file.channels), np.float32), 0
    while frames <= most_frames:
        read = len(file.read(out=block))
        if not read:
            return frames
        frames += read
    return UNTOLD_FRAMES


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
