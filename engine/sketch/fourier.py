"""Short tools around the fast Fourier transform."""

import numpy as np
from numpy.typing import NDArray

Mono = NDArray[np.float32]  # (n,)


def fast_length(least: int) -> int:
    """A transform length of at least `least` whose only prime factors are 2, 3 and 5."""
    power = 1 << max(least - 1, 1).bit_length()
    candidates = [power * above // 32 for above in (18, 20, 24, 25, 27, 30) if power * above % 32 == 0]
    return min((length for length in candidates if length >= least and length % 2 == 0), default=power)


def doubled(signal: Mono) -> Mono:
    """(2n,) the same band-limited signal at twice the rate."""
    length = fast_length(len(signal) + 64)
    spectrum = np.fft.rfft(signal, length)
    twice = np.fft.irfft(spectrum, 2 * length)[: 2 * len(signal)]
    return (twice * np.float32(2)).astype(np.float32)


def lowered(signal: Mono, cutoff: float) -> Mono:
    """(n,) the signal without what lies above `cutoff` times its Nyquist frequency, phase untouched."""
    length = fast_length(len(signal) + 256)
    spectrum = np.fft.rfft(signal, length)
    place = np.linspace(0, 1, len(spectrum), dtype=np.float32) / np.float32(cutoff)
    spectrum *= np.clip((1 - place) * 8, 0, 1)  # a slope over the last eighth keeps the ringing short
    return np.fft.irfft(spectrum, length)[: len(signal)].astype(np.float32)
