"""What Whisper hears: log-mel spectra of a window of 30 s.

Formulas: `whisper/audio.py` of openai-whisper (MIT), whose mel filters are those of Slaney's Auditory Toolbox.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

WINDOW_SECONDS: Final = 30
FRAMES_A_SECOND: Final = 100
WINDOW_FRAMES: Final = WINDOW_SECONDS * FRAMES_A_SECOND
RATE_HZ: Final = 16_000
WINDOW_SAMPLES: Final = WINDOW_SECONDS * RATE_HZ
_HOP: Final = RATE_HZ // FRAMES_A_SECOND
_FOURIER: Final = 400  # samples in a spectrum
_LINEAR_HZ: Final = (
    200 / 3
)  # width of a mel step up to the break, above which steps grow by a constant factor
_BREAK_HZ: Final = 1_000.0
_BREAK_MEL: Final = _BREAK_HZ / _LINEAR_HZ
_LOG_STEP: Final = np.log(6.4) / 27
_FLOOR: Final = 1e-10
_RANGE: Final = 8.0  # tenfolds of power below the loudest that are told apart

Features = NDArray[np.float32]


def log_mel(samples: NDArray[np.float32], bands: int) -> Features:
    """(bands, 3000) of at most 30 s of samples (N,) at 16 kHz; what is missing of them is silence."""
    count = min(
        WINDOW_FRAMES, -(-(len(samples) + _FOURIER // 2) // _HOP)
    )  # all later frames hear only silence
    sound = np.zeros((count - 1) * _HOP + _FOURIER // 2, np.float32)
    part = samples[: len(sound)]
    sound[: len(part)] = part
    padded = np.pad(sound, (_FOURIER // 2, 0), mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FOURIER)[::_HOP]
    spectra = np.fft.rfft(frames * _hann(), axis=1)
    power = spectra.real**2 + spectra.imag**2
    levels = np.full((bands, WINDOW_FRAMES), np.log10(_FLOOR), np.float32)
    levels[:, :count] = np.log10(np.maximum(mel_filters(bands) @ power.T, _FLOOR))
    features: Features = np.maximum(levels, levels.max() - _RANGE) / 4 + 1
    return features


@lru_cache(maxsize=1)
def _hann() -> NDArray[np.float32]:
    """(400,): one period."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FOURIER) / _FOURIER)).astype(np.float32)


@lru_cache(maxsize=2)
def mel_filters(bands: int) -> NDArray[np.float32]:
    """(bands, 201): triangles evenly spaced in mel from 0 to 8 kHz, each of area 1 over Hz."""
    bins = np.linspace(0, RATE_HZ / 2, _FOURIER // 2 + 1)
    corners = _hertz(np.linspace(0, _mel(RATE_HZ / 2), bands + 2))
    rising = (bins - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    falling = (corners[2:, None] - bins) / (corners[2:] - corners[1:-1])[:, None]
    areas = 2 / (corners[2:] - corners[:-2])
    return (np.maximum(0, np.minimum(rising, falling)) * areas[:, None]).astype(np.float32)


def _mel(hertz: float) -> float:
    """Of a pitch above the break."""
    return float(_BREAK_MEL + np.log(hertz / _BREAK_HZ) / _LOG_STEP)


def _hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    curved = _BREAK_HZ * np.exp(_LOG_STEP * (mel - _BREAK_MEL))
    return np.where(mel < _BREAK_MEL, mel * _LINEAR_HZ, curved)
