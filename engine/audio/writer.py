"""What every encoder is to whoever feeds it: blocks go in, and what has been written can already be played."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

import numpy as np

from engine.audio.samples import Samples
from engine.control import Check

SLICE_FRAMES = 32_768  # 256 KiB of stereo float32; some 10 ms of encoding between two checks


class AudioWriter(ABC):
    """An audio file written block by block at its sink's position; a context manager that finishes it.

    However the samples are cut into blocks, the finished file has the same bytes. After each `write` the sink holds
    a beginning that can be played while the file grows: a head that leaves the length open, which `finish` fills in
    where the format tells it, and all samples but the few that the codec holds back. `check` is called before every
    slice and stops the writer by raising; whatever it or the sink raise is passed on, and such a file is never finished.
    A file without samples can be read as WAVE alone: Opus is then a head with no sound, and all others are empty.

    Owner of its place in the sink, which nobody else moves meanwhile, and of what the codec holds back.
    """

    def __init__(self, channels: int, check: Check) -> None:
        self._channels = channels
        self._check = check
        self._frames = 0
        self._closed = False

    @property
    def frames(self) -> int:
        """Frames written so far."""
        return self._frames

    def write(self, samples: Samples) -> None:
        """Append samples (N, C), all finite, of which what is beyond full scale is clipped but in 32-bit WAVE.

        Raises ValueError for another number of channels, for samples that are not finite, up to which the file has
        then grown by whole slices, and once the file is finished.
        """
        if self._closed:
            raise ValueError("This audio file is finished; open another one for more samples.")
        if samples.ndim != 2 or samples.shape[1] != self._channels:
            raise ValueError(
                f"The samples have the shape {samples.shape}; this file takes (N, {self._channels})."
            )
        for start in range(0, len(samples), SLICE_FRAMES):
            self._check()
            piece = samples[start : start + SLICE_FRAMES]
            if not np.isfinite(piece).all():
                raise ValueError("The samples are not all finite; mend them where they are made.")
            self._put(piece)
            self._frames += len(piece)

    def finish(self) -> None:
        """Write what was held back, complete the head and leave the sink at the file's end. Idempotent."""
        if not self._closed:
            self._closed = True
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        self._closed = True

    @abstractmethod
    def _put(self, samples: Samples) -> None:
        """Encode one slice (n, C), n > 0."""

    @abstractmethod
    def _end(self) -> None:
        """Complete the file; called once, after the last slice."""
