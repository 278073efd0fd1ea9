"""A recording cut into windows of at most 30 s for Whisper, at pauses; what holds no speech is left out.

No more than one window and a little beyond it is held, however long the recording.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.transcription.features import RATE_HZ, WINDOW_SAMPLES
from engine.transcription.spans import PAUSE_SAMPLES, SHORTEST_SAMPLES, Span
from engine.transcription.voice_activity import RecordingSpeech

LEAD_SAMPLES: Final = RATE_HZ // 5  # before the first speech of a window, for what the detector hears late
TAIL_SAMPLES: Final = RATE_HZ * 3 // 10
LONGEST_GAP: Final = 5 * RATE_HZ  # a longer pause ends the window: Whisper makes words up in long silence
_CUT_REACH: Final = 10 * RATE_HZ  # the longest pause so near the window's end is where it is cut
_SETTLED: Final = (
    PAUSE_SAMPLES + SHORTEST_SAMPLES + RATE_HZ // 10
)  # by then the detector has made its mind up


@dataclass(frozen=True, slots=True)
class Window:
    """A part of the recording. Where it is not `whole`, it was cut in mid-speech, at 30 s."""

    start: int  # sample
    samples: NDArray[np.float32]  # (N,), at most 30 s at 16 kHz
    spans: tuple[Span, ...]  # of speech in it, samples from the recording's start
    whole: bool

    @property
    def stop(self) -> int:
        """The first sample after it."""
        return self.start + len(self.samples)

    def until(self, stop: int) -> "Window":
        """The part of it before a sample."""
        spans = (Span(span.start, min(span.stop, stop)) for span in self.spans if span.start < stop)
        return replace(self, samples=self.samples[: stop - self.start], spans=tuple(spans))


class Windows:
    """Owner of the samples that are still to be looked at; `resume` must follow every window."""

    def __init__(self, blocks: Iterator[NDArray[np.float32]], speech: RecordingSpeech) -> None:
        self._blocks = blocks
        self._speech = speech
        self._sound = np.zeros(0, np.float32)
        self._sound_start = 0
        self._spans: list[Span] = []
        self._resumed = 0
        self._ended = False

    @property
    def heard(self) -> int:
        """Samples read so far; the recording's length once there is no further window."""
        return self._sound_start + len(self._sound)

    @property
    def resumed(self) -> int:
        """The sample up to which all has been written down."""
        return self._resumed

    def next(self) -> Window | None:
        """The next window with speech in it; None at the end."""
        while (window := self._ready()) is None:
            if self._ended:
                return None
            self._listen()
        return window

    def resume(self, sample: int) -> None:
        """Go on from there: speech before it has been written down."""
        self._resumed = sample
        self._spans = [Span(max(span.start, sample), span.stop) for span in self._spans if span.stop > sample]

    def _listen(self) -> None:
        block = next(self._blocks, None)
        if block is None:
            self._ended = True
            self._spans += self._unread(self._speech.finish())
            return
        self._forget()
        self._sound = np.concatenate([self._sound, block])
        self._spans += self._unread(self._speech.feed(block))

    def _unread(self, spans: list[Span]) -> list[Span]:
        return [
            Span(max(span.start, self._resumed), span.stop) for span in spans if span.stop > self._resumed
        ]

    def _forget(self) -> None:
        """Drop samples that no window can need any more."""
        first = self._first()
        keep = self.heard - _SETTLED - LEAD_SAMPLES if first is None else first - LEAD_SAMPLES
        drop = max(0, max(keep, self._resumed) - self._sound_start)
        self._sound = self._sound[drop:]
        self._sound_start += drop

    def _first(self) -> int | None:
        return self._spans[0].start if self._spans else self._open()

    def _open(self) -> int | None:
        """Where speech that has not ended yet begins."""
        since = self._speech.open_since
        return None if since is None or self._ended else max(since, self._resumed)

    def _ready(self) -> Window | None:
        first = self._first()
        if first is None:
            return None
        start = max(first - LEAD_SAMPLES, self._resumed)
        limit = start + WINDOW_SAMPLES
        upcoming = self._open()
        if not self._ended and self.heard < limit + _SETTLED and not self._gone_quiet(upcoming):
            return None
        return self._cut(start, limit, self._after(limit, upcoming))

    def _gone_quiet(self, upcoming: int | None) -> bool:
        """Whether all speech heard is followed by a long pause."""
        return upcoming is None and self.heard - self._spans[-1].stop > LONGEST_GAP + _SETTLED

    def _after(self, limit: int, upcoming: int | None) -> int | None:
        """How many of the spans the window takes in; None where it must end in mid-speech."""
        if not self._spans:
            return None
        starts = [span.start for span in self._spans[1:]]
        starts.append(self.heard + LONGEST_GAP if upcoming is None else upcoming)
        pauses = [begin - span.stop for span, begin in zip(self._spans, starts, strict=True)]
        fitting = 0
        for span, pause in zip(self._spans, pauses, strict=True):
            if span.stop > limit:
                break
            fitting += 1
            if pause > LONGEST_GAP:
                return fitting
        if fitting == len(self._spans) and (upcoming is None or upcoming >= limit):
            return fitting
        near = [place for place in range(fitting) if self._spans[place].stop >= limit - _CUT_REACH]
        if near:
            return 1 + max(near, key=lambda place: pauses[place])
        return None if not fitting or self._spans[fitting - 1].stop < limit - 2 * _CUT_REACH else fitting

    def _cut(self, start: int, limit: int, count: int | None) -> Window:
        if count is None:
            stop = min(limit, self.heard)
        else:
            following = self._spans[count].start if count < len(self._spans) else self._open()
            tail = self._spans[count - 1].stop + TAIL_SAMPLES
            stop = min(tail, limit, self.heard if following is None else following)
        spans = [*self._spans[:count], *([Span(begin, stop)] if (begin := self._open()) is not None else [])]
        inside = tuple(
            Span(max(span.start, start), min(span.stop, stop)) for span in spans if span.start < stop
        )
        sound = self._sound[start - self._sound_start : stop - self._sound_start]
        return Window(start, sound, inside, count is not None)
