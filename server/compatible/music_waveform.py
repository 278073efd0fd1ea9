"""A song's outline, for showing a preview of it: few numbers a second, read from its file without holding it."""

import io
import os
from math import ceil
from typing import Final

import numpy as np
import soundfile
from numpy.typing import NDArray

from engine.audio import AudioForm

VALUES_A_SECOND: Final = 4
FULL_SCALE: Final = 1_000
_RAW: Final = {"pcm": "PCM_16", "ulaw": "ULAW", "alaw": "ALAW"}


class FileSpan:
    """A span of an open file as a file to read. Owner of its place, not of the descriptor."""

    def __init__(self, fd: int, offset: int, length: int) -> None:
        self._fd, self._offset = fd, offset
        self.length: Final = length
        self._place = 0

    def tell(self) -> int:
        """Bytes from the span's start."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, and give it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.length}[whence]
        self._place = max(0, base + offset)
        return self._place

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or as many as there are left; all of them for a negative size."""
        left = max(0, self.length - self._place)
        found = os.pread(self._fd, left if size < 0 else min(size, left), self._offset + self._place)
        self._place += len(found)
        return found


def waveform(source: FileSpan, form: AudioForm, seconds: float) -> list[int]:
    """Four values a second from -1000 to 1000: the sample of each quarter that is farthest from zero, mixed down.

    `seconds` is the song's length; it tells how many channels there are in PCM, which has no head.
    """
    values: list[int] = []
    with _opened(source, form, seconds) as file:
        rate = int(file.samplerate)
        ends = [round(rate * part / VALUES_A_SECOND) for part in range(1, VALUES_A_SECOND)]
        for block in file.blocks(blocksize=rate, dtype="float32", always_2d=True):
            mono = np.asarray(block, np.float32).mean(axis=1)
            values += [_farthest(part) for part in np.split(mono, ends) if len(part)]
    return values[: max(1, ceil(seconds * VALUES_A_SECOND))]


def _opened(source: FileSpan, form: AudioForm, seconds: float) -> soundfile.SoundFile:
    subtype = _RAW.get(form.codec)
    if subtype is None:
        return soundfile.SoundFile(source)
    rate = form.rate_hz or 8_000
    octets = 2 if form.codec == "pcm" else 1
    channels = max(1, round(source.length / (octets * rate * seconds))) if seconds > 0 else 1
    return soundfile.SoundFile(
        source, samplerate=rate, channels=channels, format="RAW", subtype=subtype, endian="LITTLE"
    )


def _farthest(samples: NDArray[np.float32]) -> int:
    farthest = float(samples[np.argmax(np.abs(samples))])
    return round(FULL_SCALE * min(1.0, max(-1.0, farthest)))
