"""Loudness after ITU-R BS.1770-4, measured and set.

The K-weighting is applied in the frequency domain to segments of 100 ms: no filter state, one short transform a
segment, and the 400 ms blocks of the standard are four neighbours.
"""

import numpy as np
from numpy.typing import NDArray

from engine.audio.samples import Samples
from engine.control import Check, unchecked

_SEGMENT_SECONDS = 0.1
_SEGMENTS_A_BLOCK = 4
_OFFSET_DB = -0.691
_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = 10.0
_CELL_FRAMES = 64  # the limiter's gain is computed once a cell and interpolated inside it
_ATTACK_CELLS = 6
_RELEASE_CELLS = 60
_CHUNK_SEGMENTS = 100
_CHUNK_CELLS = 1024
_ROUNDS = 12

Energies = NDArray[np.float64]  # (segments,): K-weighted mean squares, summed over channels


def integrated_loudness(samples: Samples, sample_rate_hz: int, check: Check = unchecked) -> float:
    """Gated loudness in LUFS of (N, C) samples; -inf for silence. Clips under 0.4 s are measured as one block.

    `check` is called every few milliseconds and stops the work by raising.
    """
    return _gated(_segment_energies(samples, sample_rate_hz, check))


def normalise_loudness(
    samples: Samples,
    sample_rate_hz: int,
    target_lufs: float = -14.0,
    ceiling_dbfs: float = -1.0,
    *,
    in_place: bool = False,
    check: Check = unchecked,
) -> Samples:
    """(N, C) samples at the target loudness, peaks held under the ceiling by a look-ahead limiter.

    Peaks between samples are estimated at the midpoints. Silence comes back as it is; so does, but for the
    limiter, whatever cannot reach the target because nearly all of it lies above the ceiling. `check` is called every
    few milliseconds and stops the work by raising; samples changed in place are then of no use.
    """
    out = samples if in_place else samples.copy()
    energies = _segment_energies(samples, sample_rate_hz, check)
    if not np.isfinite(_gated(energies)):
        return out
    ceiling = 10 ** (ceiling_dbfs / 20)
    peaks = _cell_peaks(samples, check)
    gain = _gain_to(target_lufs, energies, peaks, ceiling, _segment_frames(sample_rate_hz), check)
    curve = _limiter_curve(peaks * gain, ceiling) * gain
    _apply(out, curve, ceiling, check)
    return out


def _segment_frames(sample_rate_hz: int) -> int:
    return round(sample_rate_hz * _SEGMENT_SECONDS)


def _k_weight(frequencies_hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Power response of the two filters of BS.1770 (annex 1), as analogue prototypes at any sample rate."""
    s = 1j * frequencies_hz
    high, quality, gain = 1681.9744509555319, 0.7071752369554193, 10 ** (3.999843853973347 / 20)
    middle = gain**0.4996667741545416
    shelf = (gain * s**2 + middle * high / quality * s + high**2) / (s**2 + high / quality * s + high**2)
    low, low_quality = 38.13547087602444, 0.5003270373238773
    high_pass = s**2 / (s**2 + low / low_quality * s + low**2)
    response: NDArray[np.float64] = np.abs(shelf * high_pass) ** 2
    return response


def _segment_energies(samples: Samples, sample_rate_hz: int, check: Check) -> Energies:
    """K-weighted mean square of every whole segment; a shorter clip is one segment of its own length."""
    frames, channels = samples.shape
    size = min(_segment_frames(sample_rate_hz), max(frames, 2))
    weight = 2.0 * _k_weight(_warped(size, sample_rate_hz)) / size**2
    count = frames // size
    energies = np.zeros(count)
    for start in range(0, count, _CHUNK_SEGMENTS):
        check()
        stop = min(start + _CHUNK_SEGMENTS, count)
        for channel in range(channels):
            block = samples[start * size : stop * size, channel].reshape(stop - start, size)
            spectrum = np.fft.rfft(block, axis=1)
            power = np.square(spectrum.real) + np.square(spectrum.imag)
            energies[start:stop] += power @ weight
    return energies


def _warped(size: int, sample_rate_hz: int) -> NDArray[np.float64]:
    """(size / 2 + 1,) analogue frequencies of a transform's bins, after the bilinear transform's warping."""
    bins = np.minimum(np.arange(size // 2 + 1, dtype=np.float64) / size, 0.4999)
    warped: NDArray[np.float64] = np.tan(np.pi * bins) * sample_rate_hz / np.pi
    return warped


def _gated(energies: Energies) -> float:
    window = min(_SEGMENTS_A_BLOCK, len(energies))
    if window == 0:
        return -np.inf
    sums = np.concatenate(([0.0], np.cumsum(energies)))
    blocks = np.maximum((sums[window:] - sums[:-window]) / window, 1e-12)
    blocks = blocks[_lufs(blocks) > _ABSOLUTE_GATE_LUFS]
    if not blocks.size:
        return -np.inf
    gate = _lufs(blocks.mean()) - _RELATIVE_GATE_LU
    return float(_lufs(blocks[_lufs(blocks) > gate].mean()))


def _lufs(power: NDArray[np.float64]) -> NDArray[np.float64]:
    loudness: NDArray[np.float64] = _OFFSET_DB + 10 * np.log10(power)
    return loudness


def _cell_peaks(samples: Samples, check: Check) -> NDArray[np.float64]:
    """(cells,) largest magnitude of each cell over channels, samples and cubic midpoints between samples."""
    frames, channels = samples.shape
    cells = -(-frames // _CELL_FRAMES)
    peaks = np.zeros(cells)
    for first in range(0, cells, _CHUNK_CELLS):
        check()
        last = min(first + _CHUNK_CELLS, cells)
        level = np.zeros((last - first) * _CELL_FRAMES, dtype=np.float32)
        for channel in range(channels):
            np.maximum(level, _magnitudes(samples[:, channel], first * _CELL_FRAMES, len(level)), out=level)
        # Halving by pairs is several times faster than a maximum along short rows.
        while len(level) > last - first:
            level = np.maximum(level[0::2], level[1::2])
        peaks[first:last] = level
    return peaks


def _magnitudes(channel: NDArray[np.float32], start: int, count: int) -> NDArray[np.float32]:
    """(count,) the larger of each sample and the midpoint behind it, zero beyond the end."""
    part = np.zeros(count + 3, dtype=np.float32)
    first = max(start - 1, 0)
    piece = channel[first : start + count + 2]
    part[first - start + 1 : first - start + 1 + len(piece)] = piece
    middle: NDArray[np.float32] = (part[1:-2] + part[2:-1]) * np.float32(0.5625)
    middle -= (part[:-3] + part[3:]) * np.float32(0.0625)
    np.abs(middle, out=middle)
    np.maximum(middle, np.abs(part[1:-2]), out=middle)
    return middle


def _limiter_curve(peaks: NDArray[np.float64], ceiling: float) -> NDArray[np.float64]:
    """(cells + 1,) gain at the cells' edges, such that the line between two edges keeps the cell under the ceiling.

    A sliding minimum over attack and release, then a mean over the same span: every value averaged already respects
    the cell, so the smooth curve does too.
    """
    if not peaks.size or peaks.max() <= ceiling:
        return np.ones(len(peaks) + 1)
    needed = np.minimum(1.0, ceiling / np.maximum(peaks, 1e-9))
    edges = np.minimum(np.append(needed, 1.0), np.append(1.0, needed))
    span = _ATTACK_CELLS + _RELEASE_CELLS
    padded = np.pad(edges, (_RELEASE_CELLS + _ATTACK_CELLS, span), constant_values=1.0)
    floor = _sliding_minimum(padded, span + 1)
    sums = np.concatenate(([0.0], np.cumsum(floor)))
    smooth: NDArray[np.float64] = (sums[span + 1 :] - sums[: -span - 1]) / (span + 1)
    return smooth[: len(edges)]


def _sliding_minimum(values: NDArray[np.float64], span: int) -> NDArray[np.float64]:
    """(n - span + 1,) the least of each `span` neighbours of (n,) values, by spans that double."""
    least, covered = values, 1
    while 2 * covered <= span:
        least, covered = np.minimum(least[:-covered], least[covered:]), 2 * covered
    rest = span - covered
    return np.minimum(least[: len(least) - rest], least[rest:])


def _gain_to(
    target_lufs: float,
    energies: Energies,
    peaks: NDArray[np.float64],
    ceiling: float,
    segment_frames: int,
    check: Check,
) -> float:
    """Linear gain before the limiter that brings the limited signal to the target."""
    gain_db = target_lufs - _gated(energies)
    for _ in range(_ROUNDS):
        check()
        gain = 10 ** (gain_db / 20)
        curve = _limiter_curve(peaks * gain, ceiling) * gain
        error = target_lufs - _gated(energies * _segment_powers(curve, len(energies), segment_frames))
        if abs(error) < 0.02 or not np.isfinite(error) or gain_db + error > 80:
            break
        gain_db += error
    return float(10 ** (gain_db / 20))


def _segment_powers(curve: NDArray[np.float64], segments: int, segment_frames: int) -> NDArray[np.float64]:
    """(segments,) mean square of the gain curve in each segment."""
    sums = np.concatenate(([0.0], np.cumsum(np.square(curve))))
    edges = np.minimum(np.arange(segments + 1) * segment_frames / _CELL_FRAMES, len(curve) - 1.0)
    totals = np.interp(edges, np.arange(len(sums)), sums)
    powers: NDArray[np.float64] = np.diff(totals) / np.maximum(np.diff(edges), 1e-9)
    return powers


def _apply(samples: Samples, curve: NDArray[np.float64], ceiling: float, check: Check) -> None:
    """Multiply (N, C) samples in place by the curve, interpolated from its cell edges."""
    ramp = (np.arange(_CELL_FRAMES, dtype=np.float32) / _CELL_FRAMES)[None, :]
    edges = curve.astype(np.float32)
    for first in range(0, len(edges) - 1, _CHUNK_CELLS):
        check()
        start = edges[first : first + _CHUNK_CELLS + 1]
        gain = (start[:-1, None] + np.diff(start)[:, None] * ramp).reshape(-1)
        part = samples[first * _CELL_FRAMES : first * _CELL_FRAMES + len(gain)]
        part *= gain[: len(part), None]
        np.clip(part, -ceiling, ceiling, out=part)
