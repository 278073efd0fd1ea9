"""Spectra into sound without a seam, in windows of a few seconds.

As hibari.dsp of hibari-tts 0.2.1 does it for a whole sentence, but that the pulses of the glottis go on from one window
to the next in phase.
"""

import numpy as np
from numpy.typing import NDArray

from engine.sketch.voice.network import Curve
from engine.speech.network import FRAME_SAMPLES, RATE_HZ, Frames, Spectra

VOICED_HZ = 40.0
_HIGHEST_HZ = 11_000.0  # harmonics end here
_TURN = 2 * np.pi


def glottis(pitch: Curve) -> NDArray[np.float32]:
    """(300 F,) at 24 kHz: all harmonics below 11 kHz at unit amplitude, silence where the pitch is at most 40 Hz.

    The sum of cos(h t) for h up to H is sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2 (Dirichlet's kernel).
    """
    frames = len(pitch)
    at = (np.arange(frames * FRAME_SAMPLES, dtype=np.float64) + 0.5) / FRAME_SAMPLES - 0.5
    hertz = np.interp(at, np.arange(frames), pitch).astype(np.float32)
    del at
    voiced = hertz > VOICED_HZ
    np.maximum(hertz, VOICED_HZ, out=hertz)
    turns = np.cumsum(hertz, dtype=np.float64)
    turns /= RATE_HZ
    np.mod(turns, 1.0, out=turns)
    angle = (turns * _TURN).astype(np.float32)
    del turns
    kernel = np.floor(_HIGHEST_HZ / hertz) + np.float32(0.5)
    below = 2 * np.sin(angle / 2)
    near = np.abs(below) <= 2e-3  # where the kernel is H + 1/2
    below[near] = 1
    pulse: NDArray[np.float32] = np.sin(kernel * angle) / below
    pulse[near] = kernel[near]
    pulse -= 0.5
    pulse[~voiced] = 0
    return pulse


def windowed_sound(
    spectra: Spectra, pulses: NDArray[np.float32], draw: np.random.Generator
) -> NDArray[np.float32]:
    """(300 F,) at 24 kHz of spectra (F frames) and the pulses (300 F,) that ring in them."""
    from hibari import dsp  # imports scipy, which takes 0.3 s

    spectrum = dsp.stft(pulses, spectra.harmonic.shape[1])
    spectrum *= _turned(np.tanh(spectra.phase) * np.float32(np.pi), spectra.harmonic)
    noise = draw.standard_normal((*spectra.noise.shape, 2), dtype=np.float32).view(np.complex64)[..., 0]
    noise *= dsp.ex(spectra.noise)
    spectrum += noise
    spectrum += _turned(spectra.free_phase, spectra.free)
    sound: NDArray[np.float32] = dsp.ola(spectrum)
    return sound


def _turned(angle: Frames, level: Frames) -> NDArray[np.complex64]:
    """exp(level) at the angle."""
    from hibari import dsp

    turned = np.empty(angle.shape, np.complex64)
    np.cos(angle, out=turned.real)
    np.sin(angle, out=turned.imag)
    turned *= dsp.ex(level)
    return turned
