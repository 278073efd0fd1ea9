"""Acoustic latents as bytes: float32, little-endian, row by row, without a header."""

from typing import BinaryIO, Final

import numpy as np

from engine.errors import InvalidRequest
from engine.song_model import Latents

LATENT_TYPE: Final = "application/octet-stream"
NUMBER_BYTES: Final = 4


def read_latents(raw: bytes | memoryview, channels: int) -> Latents:
    """Latents (T, channels) over the same memory.

    Raises InvalidRequest where the bytes are no whole number of rows, or none.
    """
    row_bytes = channels * NUMBER_BYTES
    if not raw or len(raw) % row_bytes:
        raise InvalidRequest(
            "latents",
            f"The latents must be rows of {channels} float32 numbers, {row_bytes} bytes each; you sent {len(raw)} bytes.",
        )
    return np.frombuffer(raw, "<f4").reshape(-1, channels).astype(np.float32, copy=False)


def write_latents(latents: Latents, sink: BinaryIO) -> None:
    """Write latents (T, C)."""
    sink.write(np.ascontiguousarray(latents, "<f4").data)
