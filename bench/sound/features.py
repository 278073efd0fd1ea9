"""What can be measured of sound: spectra, onsets, pitch classes, timbre, loudness of bands, pitch."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.signal import find_peaks, get_window

Signal = NDArray[np.float32]  # (N,), one channel
Grid = NDArray[np.float64]

WINDOW: Final = 2048
HOP: Final = 512
BANDS_HZ: Final = ((20, 120), (120, 500), (500, 2000), (2000, 6000), (6000, 16000))
BAND_NAMES: Final = ("bass", "low", "middle", "presence", "air")
MEL_BANDS: Final = 40
CEPSTRA: Final = 13


def one_channel(samples: NDArray[np.float32]) -> Signal:
    """The mean of the channels of samples (N, C)."""
    return np.asarray(samples.mean(axis=1), np.float32)


def spectrogram(signal: Signal) -> Grid:
    """Magnitudes (bins, frames) of windows of 2048 samples, one each 512."""
    padded = np.pad(signal, (WINDOW // 2, WINDOW // 2 + HOP))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    return np.abs(np.fft.rfft(frames * get_window("hann", WINDOW), axis=1)).T


def onset_strength(grid: Grid) -> NDArray[np.float64]:
    """How much louder each frame is than the one before, over all bins, on a logarithmic scale."""
    loud = np.log1p(100 * grid / max(1e-9, float(grid.max())))
    risen = np.maximum(0.0, np.diff(loud, axis=1)).mean(axis=0)
    return np.concatenate([[0.0], risen])


def onsets(grid: Grid, rate: int) -> NDArray[np.float64]:
    """Seconds at which something begins: peaks of the strength that stand out from their surroundings."""
    strength = onset_strength(grid)
    around = np.convolve(strength, np.ones(43) / 43, mode="same")
    peaks, _ = find_peaks(strength - around, height=0.5 * float(strength.std()), distance=4)
    return np.asarray(peaks * HOP / rate, np.float64)


def chroma(grid: Grid, rate: int) -> Grid:
    """Energy of the twelve pitch classes (12, frames) between 60 Hz and 4 kHz; C is row 0."""
    hertz = np.arange(grid.shape[0]) * rate / WINDOW
    heard = (hertz > 60) & (hertz < 4000)
    classes = np.round(69 + 12 * np.log2(hertz[heard] / 440)).astype(int) % 12
    energy = grid[heard] ** 2
    return np.stack([energy[classes == one].sum(axis=0) for one in range(12)])


def mel_energies(grid: Grid, rate: int) -> Grid:
    """Logarithms of the energy in 40 bands as wide as hearing has them (40, frames), up to 16 kHz."""
    edges = _hertz(np.linspace(_mel(40.0), _mel(16_000.0), MEL_BANDS + 2))
    hertz = np.arange(grid.shape[0]) * rate / WINDOW
    rising = (hertz - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - hertz) / np.diff(edges)[1:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return np.log(weights @ grid**2 + 1e-9)


def cepstra(grid: Grid, rate: int) -> Grid:
    """Timbre (12, frames): the cepstrum of the mel bands without its first coefficient, which is loudness."""
    return np.asarray(dct(mel_energies(grid, rate), axis=0, norm="ortho")[1:CEPSTRA])


def balance(grid: Grid, rate: int) -> NDArray[np.float64]:
    """The share of five bands in the energy, in dB."""
    hertz = np.arange(grid.shape[0]) * rate / WINDOW
    energy = (grid**2).sum(axis=1)
    parts = np.array([energy[(hertz >= low) & (hertz < high)].sum() for low, high in BANDS_HZ])
    return np.asarray(10 * np.log10(parts / max(1e-12, energy.sum()) + 1e-9))


def centroid(grid: Grid, rate: int) -> float:
    """The median over time of where the middle of the spectrum is, in Hz."""
    hertz = np.arange(grid.shape[0]) * rate / WINDOW
    energy = grid.sum(axis=0)
    loud = energy > 0.05 * energy.max()
    return float(np.median((hertz @ grid)[loud] / energy[loud]))


def by_spans(values: Grid, rate: int, spans: list[tuple[float, float]]) -> Grid:
    """The mean of the values (n, frames) within each span of seconds, (n, spans)."""
    edges = [
        (int(start * rate / HOP), max(int(end * rate / HOP), int(start * rate / HOP) + 1))
        for start, end in spans
    ]
    return np.stack([values[:, first:last].mean(axis=1) for first, last in edges], axis=1)


def similarity(values: Grid) -> Grid:
    """The cosine between columns (n, n) after each row was brought to mean 0 and about the same spread."""
    spread = values.std(axis=1, keepdims=True)
    spread = spread + 0.1 * spread.max() + 1e-9  # rows in which nothing happens stay small
    columns = (values - values.mean(axis=1, keepdims=True)) / spread
    lengths = np.linalg.norm(columns, axis=0) + 1e-9
    return np.asarray((columns.T @ columns) / np.outer(lengths, lengths))


def pitch(
    signal: Signal, rate: int, hop_seconds: float = 0.01
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Seconds and Hz of a voice alone; nan where it has no pitch. Normalised autocorrelation, its peak interpolated."""
    size = int(0.05 * rate)
    starts = np.arange(0, max(1, len(signal) - size), int(hop_seconds * rate))
    found = np.array(
        [_period(np.asarray(signal[start : start + size], np.float64), rate) for start in starts]
    )
    return (starts + size / 2) / rate, found


def _period(frame: NDArray[np.float64], rate: int) -> float:
    """Hz of one frame; nan for noise and silence."""
    if float(np.sqrt((frame**2).mean())) < 1e-3:
        return float("nan")
    length = len(frame)
    spectrum = np.abs(np.fft.rfft(frame, 2 * length)) ** 2
    correlation = np.fft.irfft(spectrum)[:length]
    squares = np.concatenate([[0.0], np.cumsum(frame**2)])
    lags = np.arange(length)
    energy = (squares[length - lags] + squares[length] - squares[lags]) / 2
    clear = correlation / np.maximum(energy, 1e-9)
    shortest, longest = int(rate / 900), min(int(rate / 65), length - 2)
    peaks, _ = find_peaks(clear[shortest:longest], height=0.6)
    if not len(peaks):
        return float("nan")
    lag = _first_good(clear, peaks + shortest)
    left, middle, right = clear[lag - 1 : lag + 2]
    curved = left - 2 * middle + right
    return rate / (lag + (0.5 * (left - right) / curved if curved else 0.0))


def _first_good(clear: NDArray[np.float64], peaks: NDArray[np.int64]) -> int:
    """The shortest lag that is nearly as good as the best: multiples of a period correlate as well as it."""
    best = clear[peaks].max()
    return int(peaks[np.argmax(clear[peaks] > 0.93 * best)])


def _mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def _hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(700 * (10 ** (mel / 2595) - 1))
