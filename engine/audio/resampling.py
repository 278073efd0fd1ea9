"""Samples at another rate, and in two channels."""

import numpy as np
import soxr

from engine.audio.samples import Samples
from engine.control import Check, unchecked

_SLICE_FRAMES = 32_768
_SIDE_GAIN = np.float32(0.5**0.5)  # a channel in the middle is heard from both sides


def resampled_length(frames: int, from_hz: int, to_hz: int) -> int:
    """Frames after resampling: frames to_hz / from_hz, rounded to the nearest whole number, halves up."""
    return (2 * frames * to_hz + from_hz) // (2 * from_hz)


def resample(samples: Samples, from_hz: int, to_hz: int, check: Check = unchecked) -> Samples:
    """(N, C) samples at `from_hz`, as (M, C) at `to_hz`, M of `resampled_length`; the same array at equal rates.

    By soxr at its high quality (about 20 bits), slice by slice; `check` is called before each and stops the work by
    raising. The caller bounds N and both rates, because M grows with their ratio.
    """
    if from_hz == to_hz:
        return samples
    out = np.zeros((resampled_length(len(samples), from_hz, to_hz), samples.shape[1]), np.float32)
    stream = soxr.ResampleStream(from_hz, to_hz, samples.shape[1], dtype="float32")
    written = 0
    for start in range(0, len(samples), _SLICE_FRAMES):
        check()
        stop = start + _SLICE_FRAMES
        part = np.ascontiguousarray(samples[start:stop], dtype=np.float32)
        made = stream.resample_chunk(part, last=stop >= len(samples))[: len(out) - written]
        out[written : written + len(made)] = made
        written += len(made)
    return out


def stereo(samples: Samples, check: Check = unchecked) -> Samples:
    """(N, C) samples as (N, 2); the same array where they are.

    One channel goes to both sides. Of more, the first two keep their sides and all others go to both at -3 dB (the
    downmix of ITU-R BS.775, whatever the order), the sum scaled so that full scale cannot be passed. `check` is
    called before each slice.
    """
    frames, channels = samples.shape
    if channels == 2:
        return samples
    out = np.empty((frames, 2), np.float32)
    for start in range(0, frames, _SLICE_FRAMES):
        check()
        part = samples[start : start + _SLICE_FRAMES]
        middle = _SIDE_GAIN * part[:, 2:].sum(axis=1, keepdims=True, dtype=np.float32)
        out[start : start + _SLICE_FRAMES] = (part[:, :2] + middle) / (1 + _SIDE_GAIN * max(channels - 2, 0))
    return out
