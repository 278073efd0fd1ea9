"""RIFF WAVE written in slices, its header first, so that equal samples always give equal bytes.

Format: Microsoft "Multimedia Programming Interface and Data Specifications 1.0"; tags 1 (PCM) and 3 (IEEE float).
"""

import struct
from typing import Literal

import numpy as np

from engine.audio.samples import Samples

Depth = Literal[16, 24, 32]  # 32 is floating point
_DITHER_SEED = 0x7D1F


def header(frames: int, channels: int, sample_rate_hz: int, depth: Depth) -> bytes:
    """Everything before the first sample of a file that holds `frames` frames."""
    width = channels * depth // 8
    is_float = depth == 32
    layout = struct.pack(
        "<HHIIHH", 3 if is_float else 1, channels, sample_rate_hz, sample_rate_hz * width, width, depth
    )
    chunks = b"fmt " + struct.pack("<I", len(layout)) + layout
    if is_float:
        chunks += b"fact" + struct.pack("<II", 4, frames)
    size = frames * width
    return (
        b"RIFF"
        + struct.pack("<I", 4 + len(chunks) + 8 + size)
        + b"WAVE"
        + chunks
        + b"data"
        + struct.pack("<I", size)
    )


class SampleQuantiser:
    """Turns float slices into the bytes of a depth; owns the dither's random stream.

    16 bits get triangular dither of ±1 step, drawn from a fixed seed.
    """

    def __init__(self, depth: Depth) -> None:
        self._depth = depth
        self._dither = np.random.Generator(np.random.PCG64(_DITHER_SEED))

    def quantise(self, samples: Samples) -> memoryview:
        """Little-endian bytes of a slice (n, C); values beyond full scale are clipped."""
        if self._depth == 32:
            return np.ascontiguousarray(samples, dtype="<f4").data.cast("B")
        if self._depth == 24:
            return self._packed(samples)
        scaled = samples * np.float32(32767.0)
        scaled += self._dither.random(samples.shape, dtype=np.float32)
        scaled -= self._dither.random(samples.shape, dtype=np.float32)
        np.rint(scaled, out=scaled)
        np.clip(scaled, -32768.0, 32767.0, out=scaled)
        return np.ascontiguousarray(scaled.astype("<i2")).data.cast("B")

    @staticmethod
    def _packed(samples: Samples) -> memoryview:
        # 8388607 is exact in float32, so the product keeps the 24 bits that a float32 sample has.
        scaled = np.rint(np.clip(samples, -1.0, 1.0) * np.float32(8388607.0)).astype("<i4")
        octets = np.ascontiguousarray(scaled).view(np.uint8).reshape(-1, 4)[:, :3]
        return np.ascontiguousarray(octets).data.cast("B")
