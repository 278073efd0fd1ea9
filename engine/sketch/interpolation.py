"""Reading a signal between its samples."""

import numpy as np
from numpy.typing import NDArray

from engine.sketch.fourier import Mono


def interpolated(frames: Mono, positions: NDArray[np.float64]) -> Mono:
    """(n,) cubic Hermite interpolation of `frames` (m,) at `positions` (n,) from 0 to m - 3."""
    index = positions.astype(np.int32)
    part = (positions - index).astype(np.float32)
    here, after, later = frames[index], frames[index + 1], frames[index + 2]
    before = frames[np.maximum(index - 1, 0)]
    half = np.float32(0.5)
    slope = (after - before) * half
    bend = before - np.float32(2.5) * here + np.float32(2) * after - half * later
    twist = (later - before) * half + np.float32(1.5) * (here - after)
    twist *= part
    twist += bend
    twist *= part
    twist += slope
    twist *= part
    twist += here
    return twist
