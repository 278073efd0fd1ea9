"""Spans of one kind that are still to be looked at, as a recording is read."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.transcription.spans import Span


class Listener(Protocol):
    """Finds spans in samples that it is fed in order."""

    @property
    def open_since(self) -> int | None:
        """Where the span began that has not ended yet."""

    def feed(self, samples: NDArray[np.float32]) -> list[Span]:
        """Spans that have ended by the end of the next samples (N,)."""

    def finish(self) -> list[Span]:
        """Spans that end with the recording."""


class Lane:
    """Owner of the spans that a listener has found and that lie, in whole or in part, after the place reached."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._reached = 0
        self._ended = False
        self.spans: list[Span] = []

    @property
    def open(self) -> int | None:
        """Where a span begins that has not ended yet."""
        since = self._listener.open_since
        return None if since is None or self._ended else max(since, self._reached)

    @property
    def first(self) -> int | None:
        """Where the first span begins, ended or not."""
        return self.spans[0].start if self.spans else self.open

    def feed(self, samples: NDArray[np.float32]) -> None:
        """Hear the next samples (N,)."""
        self._add(self._listener.feed(samples))

    def finish(self) -> None:
        """Hear the end."""
        self._ended = True
        self._add(self._listener.finish())

    def _add(self, spans: list[Span]) -> None:
        self.spans += spans
        self.reach(self._reached)

    def reach(self, sample: int) -> None:
        """Forget what lies before a sample."""
        self._reached = max(self._reached, sample)
        self.spans = [
            Span(max(span.start, self._reached), span.stop)
            for span in self.spans
            if span.stop > self._reached
        ]

    def between(self, start: int, stop: int) -> list[Span]:
        """The parts of all spans from one sample to before another."""
        begin = self.open
        spans = self.spans if begin is None else [*self.spans, Span(begin, max(begin, stop))]
        cut = [Span(max(span.start, start), min(span.stop, stop)) for span in spans]
        return [span for span in cut if span.start < span.stop]

    def quiet_since(self, sample: int) -> bool:
        """Whether nothing was found after a sample."""
        return self.open is None and (not self.spans or self.spans[-1].stop < sample)
