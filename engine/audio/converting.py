"""Samples brought to another rate and another number of channels on their way to a file."""

from types import TracebackType

import numpy as np
import soxr

from engine.audio.resampling import resampled_length, stereo
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.control import Check


class ConvertingWriter(AudioWriter):
    """Feeds a writer what it is fed; `frames` counts what came in.

    One channel is the mean of two, and goes to both of them. The rate is changed by soxr at its high quality, as
    `resample` does, which holds back some hundredths of a second.
    """

    def __init__(
        self, made_hz: int, made_channels: int, inner: AudioWriter, rate_hz: int, channels: int, check: Check
    ) -> None:
        super().__init__(made_channels, check)
        self._inner = inner
        self._wanted = channels
        self._rates = made_hz, rate_hz
        self._resampler = (
            None if made_hz == rate_hz else soxr.ResampleStream(made_hz, rate_hz, channels, dtype="float32")
        )

    def _put(self, samples: Samples) -> None:
        part = in_channels(samples, self._wanted)
        if self._resampler is not None:
            part = self._resampler.resample_chunk(np.ascontiguousarray(part, dtype=np.float32))
        self._inner.write(part)

    def _end(self) -> None:
        if self._resampler is not None and self._frames:
            rest = self._resampler.resample_chunk(np.empty((0, self._wanted), np.float32), last=True)
            missing = resampled_length(self._frames, *self._rates) - self._inner.frames
            self._inner.write(of_length(rest, max(missing, 0)))
        self._inner.finish()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except BaseException as fault:
            self._inner.__exit__(type(fault), fault, fault.__traceback__)
            raise
        self._inner.__exit__(kind, error, trace)


def in_channels(samples: Samples, channels: int) -> Samples:
    """(N, C) samples as (N, 1) or (N, 2); the same array where they are."""
    if channels == samples.shape[1]:
        return samples
    return samples.mean(axis=1, dtype=np.float32, keepdims=True) if channels == 1 else stereo(samples)


def of_length(samples: Samples, frames: int) -> Samples:
    """(N, C) samples as (frames, C), cut or followed by silence: soxr may end a frame short of a half rounded up."""
    return np.pad(samples[:frames], ((0, max(frames - len(samples), 0)), (0, 0)))
