"""A shared room: convolution of a mono send with a stereo impulse response, in blocks."""

import numpy as np
from numpy.typing import NDArray

from engine.control import Control

_SEED = 20
_LENGTH = 180_000  # of the transform; its small factors make it twice as fast as a power of two of that size


class Reverb:
    """Owns the transform of one impulse response; the room is the same for every song."""

    def __init__(self, rate_hz: int, seconds: float = 1.3) -> None:
        response = impulse_response(rate_hz, seconds)
        self._tail = response.shape[1]
        self._transform = np.fft.rfft(response, _LENGTH, axis=1)

    def add(self, send: NDArray[np.float32], mix: NDArray[np.float32], control: Control) -> None:
        """Add what the room answers to `send` (n,) onto `mix` (2, n)."""
        frames, step = len(send), _LENGTH - self._tail
        padded = np.zeros(_LENGTH, dtype=np.float32)
        spectrum, product = np.empty_like(self._transform[0]), np.empty_like(self._transform[0])
        for start in range(0, frames, step):
            control.check_cancelled()
            block = send[start : start + step]
            if not block.any():
                continue
            padded[: len(block)] = block
            padded[len(block) :] = 0
            np.fft.rfft(padded, out=spectrum)
            stop = min(start + _LENGTH, frames)
            for side in (0, 1):
                np.multiply(spectrum, self._transform[side], out=product)
                answer = np.fft.irfft(product, _LENGTH)
                mix[side, start:stop] += answer[: stop - start]


def impulse_response(rate_hz: int, seconds: float) -> NDArray[np.float32]:
    """(2, n) noise that falls by 60 dB in `seconds`, the treble twice as fast, without bass; unit energy a side."""
    count = min(round(seconds * rate_hz), _LENGTH // 2)
    time = np.arange(count) / rate_hz
    noise = np.random.Generator(np.random.PCG64(_SEED)).standard_normal((2, count))
    spectrum = np.fft.rfft(noise, axis=1)
    frequency = np.fft.rfftfreq(count, 1 / rate_hz)
    low_cut = 1 / (1 + (180 / np.maximum(frequency, 1)) ** 2)
    treble_share = 1 / (1 + (3_000 / np.maximum(frequency, 1)) ** 2)
    dull = np.fft.irfft(spectrum * low_cut * (1 - treble_share), count, axis=1)
    bright = np.fft.irfft(spectrum * low_cut * treble_share, count, axis=1)
    fall = np.exp(-np.log(1000) * time / seconds)
    rise = np.clip((time - 0.012) / 0.02, 0, 1)
    response = (dull * fall + bright * fall**2) * rise
    response *= np.clip((count - np.arange(count)) / (0.05 * rate_hz), 0, 1)
    response /= np.sqrt(np.square(response).sum(axis=1, keepdims=True))
    return np.asarray(response, dtype=np.float32)
