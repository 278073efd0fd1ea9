"""RIFF WAVE written in slices, its header first, so that equal samples always give equal bytes.

Format: Microsoft "Multimedia Programming Interface and Data Specifications 1.0"; tags 1 (PCM) and 3 (IEEE float).
"""

import struct
from typing import BinaryIO, Final, Literal

import numpy as np

from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.control import Check

Depth = Literal[16, 24, 32]  # 32 is floating point
_DITHER_SEEDS: Final = (0x7D1F, 0x7D20)
_UNKNOWN: Final = 0xFFFFFFFF  # the size of what is still being written: as much as there will be


def header(frames: int | None, channels: int, sample_rate_hz: int, depth: Depth) -> bytes:
    """Everything before the first sample of a file that holds `frames` frames, None where that is not yet known."""
    width = channels * depth // 8
    is_float = depth == 32
    layout = struct.pack(
        "<HHIIHH", 3 if is_float else 1, channels, sample_rate_hz, sample_rate_hz * width, width, depth
    )
    chunks = b"fmt " + struct.pack("<I", len(layout)) + layout
    if is_float:
        chunks += b"fact" + struct.pack("<II", 4, frames or 0)
    size = _UNKNOWN if frames is None else frames * width
    return (
        b"RIFF"
        + struct.pack("<I", _UNKNOWN if frames is None else 4 + len(chunks) + 8 + size)
        + b"WAVE"
        + chunks
        + b"data"
        + struct.pack("<I", size)
    )


class WavWriter(AudioWriter):
    """A WAVE file, whose header leaves the size open until it is finished; holds nothing back."""

    def __init__(
        self, sample_rate_hz: int, channels: int, depth: Depth, sink: BinaryIO, check: Check
    ) -> None:
        super().__init__(channels, check)
        self._sample_rate_hz = sample_rate_hz
        self._depth = depth
        self._sink = sink
        self._quantiser = SampleQuantiser(depth)
        self._origin = sink.tell()
        sink.write(self._header(None))

    def _header(self, frames: int | None) -> bytes:
        return header(frames, self._channels, self._sample_rate_hz, self._depth)

    def _put(self, samples: Samples) -> None:
        self._sink.write(self._quantiser.quantise(samples))

    def _end(self) -> None:
        end = self._sink.tell()
        self._sink.seek(self._origin)
        self._sink.write(self._header(self._frames))
        self._sink.seek(end)


class SampleQuantiser:
    """Turns float slices into the bytes of a depth; owns the dither's random streams.

    16 bits get triangular dither of ±1 step, drawn from fixed seeds: two streams, one number of each for a sample,
    so that it does not depend on where slices end.
    """

    def __init__(self, depth: Depth) -> None:
        self._depth = depth
        self._dither = tuple(np.random.Generator(np.random.PCG64(seed)) for seed in _DITHER_SEEDS)

    def quantise(self, samples: Samples) -> memoryview:
        """Little-endian bytes of a slice (n, C); values beyond full scale are clipped."""
        if self._depth == 32:
            return np.ascontiguousarray(samples, dtype="<f4").data.cast("B")
        if self._depth == 24:
            return self._packed(samples)
        scaled = samples * np.float32(32767.0)
        above, below = self._dither
        scaled += above.random(samples.shape, dtype=np.float32)
        scaled -= below.random(samples.shape, dtype=np.float32)
        np.rint(scaled, out=scaled)
        np.clip(scaled, -32768.0, 32767.0, out=scaled)
        return np.ascontiguousarray(scaled.astype("<i2")).data.cast("B")

    @staticmethod
    def _packed(samples: Samples) -> memoryview:
        # 8388607 is exact in float32, so the product keeps the 24 bits that a float32 sample has.
        scaled = np.rint(np.clip(samples, -1.0, 1.0) * np.float32(8388607.0)).astype("<i4")
        octets = np.ascontiguousarray(scaled).view(np.uint8).reshape(-1, 4)[:, :3]
        return np.ascontiguousarray(octets).data.cast("B")
