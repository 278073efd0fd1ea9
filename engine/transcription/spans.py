"""Stretches of speech, from how likely each moment is speech.

The rule is that of `get_speech_timestamps` of silero-vad (MIT): speech begins with a frame at 0.5 or more and ends
where frames stay below 0.35 for 150 ms; what lasts no longer than 250 ms is no speech.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.transcription.features import RATE_HZ

FRAME_SAMPLES: Final = 512
BEGINS: Final = 0.5
ENDS: Final = 0.35
PAUSE_SAMPLES: Final = RATE_HZ * 150 // 1_000
SHORTEST_SAMPLES: Final = RATE_HZ * 250 // 1_000


@dataclass(frozen=True, slots=True)
class Span:
    """From one sample to before another, counted from the start of the audio at 16 kHz."""

    start: int
    stop: int

    def overlap(self, other: "Span") -> int:
        """Samples that both have; below 0 how far they lie apart."""
        return min(self.stop, other.stop) - max(self.start, other.start)


class SpanFinder:
    """Owner of the place in one recording; told of its frames in order."""

    def __init__(self) -> None:
        self._now = 0
        self._start: int | None = None
        self._quiet_since: int | None = None

    @property
    def open_since(self) -> int | None:
        """Where the speech began that has not ended yet."""
        return self._start

    def feed(self, probabilities: Iterable[float]) -> list[Span]:
        """Spans that have ended with these frames; each frame is 512 samples."""
        ended = []
        for probability in probabilities:
            span = self._step(probability)
            self._now += FRAME_SAMPLES
            if span is not None:
                ended.append(span)
        return ended

    def _step(self, probability: float) -> Span | None:
        if probability >= BEGINS:
            self._quiet_since = None
            if self._start is None:
                self._start = self._now
        elif self._start is not None and probability < ENDS:
            if self._quiet_since is None:
                self._quiet_since = self._now
            if self._now - self._quiet_since >= PAUSE_SAMPLES:
                return self._ended(self._quiet_since)
        return None

    def finish(self, samples: int) -> Span | None:
        """What was still being said when the recording of so many samples ended."""
        return self._ended(samples if self._quiet_since is None else self._quiet_since)

    def _ended(self, stop: int) -> Span | None:
        start, self._start, self._quiet_since = self._start, None, None
        return None if start is None or stop - start <= SHORTEST_SAMPLES else Span(start, stop)
