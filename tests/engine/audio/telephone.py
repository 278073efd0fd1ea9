"""What FFmpeg hears in bytes of G.711."""

import io

import av
import numpy as np
from numpy.typing import NDArray

NAMES = {"ulaw": "mulaw", "alaw": "alaw"}


def telephone_values(law: str, octets: bytes) -> NDArray[np.int16]:
    """(N,) values of 16 bits, one for each of the N bytes."""
    with av.open(io.BytesIO(octets), "r", format=NAMES[law]) as container:
        frames = [np.asarray(frame.to_ndarray(), np.int16).ravel() for frame in container.decode(audio=0)]
    return np.concatenate(frames)
