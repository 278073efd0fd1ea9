"""Samples without a head, of which nothing in the file tells rate or channels: 16-bit PCM, and G.711.

Format: ITU-T G.711 (11/88), tables 1 and 2; values are those of 16 bits, of which the mu-law hears 14 and the A-law 13.
"""

from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from engine.audio.samples import Samples
from engine.audio.wav import SampleQuantiser
from engine.audio.writer import AudioWriter
from engine.control import Check

_MU_BIAS: Final = 0x84
_MU_MOST: Final = 32_635
_A_INVERTED: Final = 0x55


class PcmWriter(AudioWriter):
    """Little-endian 16 bits, with the dither of 16-bit WAVE; holds nothing back."""

    def __init__(self, channels: int, sink: BinaryIO, check: Check) -> None:
        super().__init__(channels, check)
        self._sink = sink
        self._quantiser = SampleQuantiser(16)

    def _put(self, samples: Samples) -> None:
        self._sink.write(self._quantiser.quantise(samples))

    def _end(self) -> None:
        """There is no head."""


class TelephoneWriter(AudioWriter):
    """One byte a sample of one channel, by `ulaw` or `alaw`; holds nothing back.

    Without dither: the steps of these laws are wider than any, and the A-law, which has no zero, would hiss in silence.
    """

    def __init__(self, law: str, sink: BinaryIO, check: Check) -> None:
        super().__init__(1, check)
        self._sink = sink
        self._table = _a_law() if law == "alaw" else _mu_law()

    def _put(self, samples: Samples) -> None:
        steps = np.clip(np.rint(samples[:, 0] * np.float32(32_767.0)), -32_768, 32_767).astype(np.int64)
        self._sink.write(self._table[steps + 32_768].tobytes())

    def _end(self) -> None:
        """There is no head."""


def _mu_law() -> NDArray[np.uint8]:
    """(65536,) the byte of each 16-bit value, from the lowest up: sign, exponent and four bits, all inverted."""
    values = np.arange(-32_768, 32_768)
    size = np.minimum(np.abs(values), _MU_MOST) + _MU_BIAS
    exponent = _magnitude(size) - 7
    mantissa = size >> exponent + 3 & 0x0F
    return np.asarray(~((values < 0) << 7 | exponent << 4 | mantissa) & 0xFF, np.uint8)


def _a_law() -> NDArray[np.uint8]:
    """As `_mu_law`; every other bit is inverted, and the sign's is set for what is positive."""
    values = np.arange(-32_768, 32_768)
    size = np.where(values < 0, ~values, values)
    exponent = np.maximum(_magnitude(size) - 7, 0)
    mantissa = size >> np.maximum(exponent + 3, 4) & 0x0F
    return np.asarray(((values >= 0) << 7 | exponent << 4 | mantissa) ^ _A_INVERTED, np.uint8)


def _magnitude(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of the highest bit that is set, 0 for none."""
    _, exponents = np.frexp(values.astype(np.float64))
    return np.asarray(np.maximum(exponents, 1) - 1, np.int64)
