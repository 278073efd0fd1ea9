"""Audio files read into arrays."""

from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from engine.audio.samples import Samples
from engine.errors import InvalidRequest


def decode(source: Path | BinaryIO, *, field: str = "file") -> tuple[Samples, int]:
    """Samples (N, C) and sample rate in Hz of a WAV, FLAC, MP3, Ogg Vorbis or Ogg Opus file.

    A file object is read from its start. Raises InvalidRequest, naming `field`, for anything else.
    """
    try:
        samples, rate = soundfile.read(source, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise InvalidRequest(
            field, f"The audio cannot be read ({error}); send WAV, FLAC, MP3 or Ogg."
        ) from error
    return np.asarray(samples, dtype=np.float32), int(rate)
