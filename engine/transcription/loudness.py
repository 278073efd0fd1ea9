"""Where a recording is loud: what is no silence may be sung, whether or not it sounds like speech."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.transcription.spans import FRAME_SAMPLES, Span, SpanFinder

FLOOR: Final = 10 ** (-45 / 20)  # root mean square of a frame, full scale at 1


def levels(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Root mean square of each whole frame of 512 samples (N,): (N // 512,)."""
    whole = len(samples) // FRAME_SAMPLES * FRAME_SAMPLES
    found: NDArray[np.float32] = np.sqrt(
        np.square(samples[:whole]).reshape(-1, FRAME_SAMPLES).mean(axis=1, dtype=np.float32)
    )
    return found


class RecordingLoudness:
    """Owner of the place in one recording, and of samples that do not fill a frame yet."""

    def __init__(self) -> None:
        self._finder = SpanFinder()
        self._rest = np.zeros(0, np.float32)
        self._samples = 0

    @property
    def open_since(self) -> int | None:
        """Where the loud part began that has not ended yet."""
        return self._finder.open_since

    def feed(self, samples: NDArray[np.float32]) -> list[Span]:
        """Loud spans that have ended by the end of the next samples (N,)."""
        self._samples += len(samples)
        heard = np.concatenate([self._rest, samples])
        self._rest = heard[len(heard) // FRAME_SAMPLES * FRAME_SAMPLES :].copy()
        return self._finder.feed((levels(heard) > FLOOR).astype(np.float32).tolist())

    def finish(self) -> list[Span]:
        """The loud span that ends with the recording."""
        span = self._finder.finish(self._samples)
        return [] if span is None else [span]
