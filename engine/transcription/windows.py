"""A recording cut into windows of at most 30 s for Whisper, at pauses; what holds no speech is left out.

What is loud and mostly no speech may be sung, and is handed on as it is. No more than two windows and a little beyond
them is held, however long the recording.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.control import unchecked
from engine.transcription.features import RATE_HZ, WINDOW_SAMPLES
from engine.transcription.lanes import Lane
from engine.transcription.loudness import RecordingLoudness
from engine.transcription.singing import maybe_sung
from engine.transcription.spans import PAUSE_SAMPLES, SHORTEST_SAMPLES, Span
from engine.transcription.voice_activity import RecordingSpeech

LEAD_SAMPLES: Final = RATE_HZ // 5  # before the first speech of a window, for what the detector hears late
TAIL_SAMPLES: Final = RATE_HZ * 3 // 10
LONGEST_GAP: Final = 5 * RATE_HZ  # a longer pause ends the window: Whisper makes words up in long silence
OVERLAP: Final = 5 * RATE_HZ  # of what nobody sang in and what follows it: there somebody may begin
_CUT_REACH: Final = 10 * RATE_HZ  # the longest pause so near the window's end is where it is cut
_SETTLED: Final = (
    PAUSE_SAMPLES + SHORTEST_SAMPLES + RATE_HZ // 10
)  # by then the detector has made its mind up


@dataclass(frozen=True, slots=True)
class Window:
    """A part of the recording. Where it is not `whole`, it was cut in mid-speech, at 30 s.

    Where `sung`, nobody may have sung after all, and `spans` are of what is loud. Where `doubted`, nobody was heard
    singing around the speech in it, which may be none either.
    """

    start: int  # sample
    samples: NDArray[np.float32]  # (N,), at most 30 s at 16 kHz
    spans: tuple[Span, ...]  # of speech in it, samples from the recording's start
    whole: bool
    sung: bool = False
    doubted: bool = False
    speech: tuple[Span, ...] = ()  # of one that is sung: what the detector takes for speech

    @property
    def stop(self) -> int:
        """The first sample after it."""
        return self.start + len(self.samples)

    def until(self, stop: int) -> "Window":
        """The part of it before a sample."""
        spans = (Span(span.start, min(span.stop, stop)) for span in self.spans if span.start < stop)
        return replace(self, samples=self.samples[: stop - self.start], spans=tuple(spans))


class Windows:
    """Owner of the samples that are still to be looked at; `resume` or `dismiss` must follow every window."""

    def __init__(self, blocks: Iterator[NDArray[np.float32]], speech: RecordingSpeech) -> None:
        self._blocks = blocks
        self._speech = Lane(speech)
        self._loud = Lane(RecordingLoudness())
        self._sound = np.zeros(0, np.float32)
        self._sound_start = 0
        self._resumed = 0
        self._unsung = 0  # the sample up to which nobody sings
        self._ended = False

    @property
    def heard(self) -> int:
        """Samples read so far; the recording's length where it has `ended`."""
        return self._sound_start + len(self._sound)

    @property
    def ended(self) -> bool:
        """Whether the recording has been read to its end."""
        return self._ended

    @property
    def reached(self) -> int:
        """The sample up to which there is nothing left to write down."""
        first = self._first()
        return self.heard if first is None else max(self._resumed, min(first, self.heard))

    def next(self, told: Callable[[], None] = unchecked) -> Window | None:
        """The next window with speech in it, or song; None at the end. `told` after each block that is read."""
        while (window := self._ready()) is None:
            if self._ended:
                return None
            self._listen()
            told()
        return window

    def resume(self, sample: int) -> None:
        """Go on from there: what lies before it has been written down."""
        self._resumed = sample
        self._speech.reach(sample)
        self._loud.reach(sample)

    def dismiss(self, window: Window) -> None:
        """Nobody sings in a window; if somebody speaks there, that comes next."""
        self._unsung = window.stop - (0 if window.whole else OVERLAP)
        self._loud.reach(self._unsung)

    def _listen(self) -> None:
        block = next(self._blocks, None)
        if block is None:
            self._ended = True
            self._speech.finish()
            self._loud.finish()
            return
        self._forget()
        self._sound = np.concatenate([self._sound, block])
        self._speech.feed(block)
        self._loud.feed(block)

    def _forget(self) -> None:
        """Drop samples that no window can need any more."""
        first = self._first()
        keep = self.heard - _SETTLED - LEAD_SAMPLES if first is None else first - LEAD_SAMPLES
        drop = max(0, max(keep, self._resumed) - self._sound_start)
        self._sound = self._sound[drop:]
        self._sound_start += drop

    def _first(self) -> int | None:
        return min(
            (place for place in (self._speech.first, self._loud.first) if place is not None), default=None
        )

    def _ready(self) -> Window | None:
        while (first := self._first()) is not None:
            start = max(first - LEAD_SAMPLES, self._resumed)
            limit = start + WINDOW_SAMPLES
            if not self._is_settled(limit):
                return None
            spoken = self._speech.first
            doubted = first < self._unsung
            if not doubted and self._maybe_sung(start, limit):
                return self._cut(self._loud, start, limit, sung=True)
            if spoken == first:
                return self._cut(self._speech, start, limit, doubted=doubted)
            passed = min(limit, self.heard)  # what comes after it has not been looked at
            self._loud.reach(passed if spoken is None else min(passed, spoken))
        return None

    def _is_settled(self, limit: int) -> bool:
        """Whether all is known that a window to there depends on."""
        quiet = self.heard - LONGEST_GAP - _SETTLED
        return (
            self._ended
            or self.heard >= limit + _SETTLED
            or (self._speech.quiet_since(quiet) and self._loud.quiet_since(quiet))
        )

    def _maybe_sung(self, start: int, limit: int) -> bool:
        sound = self._sound[start - self._sound_start : limit - self._sound_start]
        spans = self._speech.between(start, start + len(sound))
        return maybe_sung(sound, [Span(span.start - start, span.stop - start) for span in spans])

    def _after(self, lane: Lane, limit: int) -> int | None:
        """How many of the spans the window takes in; None where it must end in mid-speech."""
        spans, upcoming = lane.spans, lane.open
        if not spans:
            return None
        starts = [span.start for span in spans[1:]]
        starts.append(self.heard + LONGEST_GAP if upcoming is None else upcoming)
        pauses = [begin - span.stop for span, begin in zip(spans, starts, strict=True)]
        fitting = 0
        for span, pause in zip(spans, pauses, strict=True):
            if span.stop > limit:
                break
            fitting += 1
            if pause > LONGEST_GAP:
                return fitting
        if fitting == len(spans) and (upcoming is None or upcoming >= limit):
            return fitting
        near = [place for place in range(fitting) if spans[place].stop >= limit - _CUT_REACH]
        if near:
            return 1 + max(near, key=lambda place: pauses[place])
        return None if not fitting or spans[fitting - 1].stop < limit - 2 * _CUT_REACH else fitting

    def _cut(
        self, lane: Lane, start: int, limit: int, *, sung: bool = False, doubted: bool = False
    ) -> Window:
        count = self._after(lane, limit)
        if count is None:
            stop = min(limit, self.heard)
        else:
            following = lane.spans[count].start if count < len(lane.spans) else lane.open
            tail = lane.spans[count - 1].stop + TAIL_SAMPLES
            stop = min(tail, limit, self.heard if following is None else following)
        sound = self._sound[start - self._sound_start : stop - self._sound_start]
        spans = tuple(lane.between(start, stop))
        speech = tuple(self._speech.between(start, stop)) if sung else ()
        return Window(start, sound, spans, count is not None, sung, doubted, speech)
