"""The rhythm section: chords, bass and drums after a groove, bar by bar."""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from engine.control import Check, unchecked
from engine.score.model import TimedChord, Timeline
from engine.sketch.grooves import (
    CRASH,
    HAT,
    KICK,
    OPEN_HAT,
    RIDE,
    SHAKER,
    TAMBOURINE,
    CompStep,
    Groove,
    Pattern,
)
from engine.sketch.strikes import Strike
from engine.sketch.voicings import bass_note, pitch_classes, voicing

_STRUM_SECONDS = 0.012  # between neighbouring strings
_COMP_CENTER, _PAD_CENTER = 60, 64
_POWER_FLOOR = 40  # E2, a guitar's lowest string
_RING_SECONDS = 12.0  # drums ring out
_LAST_RING_SECONDS = 1.0  # that the last chord goes on behind the last bar line
_KIT = MappingProxyType(
    {HAT: 0.18, OPEN_HAT: 0.18, CRASH: 0.25, RIDE: -0.22, SHAKER: -0.2, TAMBOURINE: 0.22}
)  # pan
_ROUNDING = 0.01  # seconds by which a step may precede its chord


@dataclass(frozen=True, slots=True)
class _PlayedBar:
    number: int
    start: float
    end: float
    quarter: float  # seconds
    pattern: Pattern

    def at(self, offset: float) -> float:
        return self.start + offset * self.quarter


def chord_strokes(
    timeline: Timeline, groove: Groove, *, power: bool = False, check: Check = unchecked
) -> list[Strike]:
    """The chord instrument: the groove's strokes, and a held chord wherever a change falls between them.

    `power` chords are root, fifth and octave, for guitars that distort.
    """
    shapes = _power_chords(timeline) if power else _voicings(timeline, _COMP_CENTER, check)
    strikes: list[Strike] = []
    unheard = set(range(len(timeline.chords)))
    for bar in _bars(timeline, groove, check):
        for step in bar.pattern.comp:
            place = _chord_at(timeline, bar.at(step.offset))
            if place is None:
                continue
            unheard.discard(place)
            stop = min(bar.at(step.offset + step.length), timeline.chords[place].end)
            strikes += _stroke(step, shapes[place], bar.at(step.offset), stop, bar.number)
    for place, start, stop in _sustained(timeline, unheard):
        step = CompStep(0.0, 0.0, "block", 84)
        strikes += _stroke(step, shapes[place], start, stop, timeline.chords[place].bar)
    return strikes


def chord_pads(timeline: Timeline, *, check: Check = unchecked) -> list[Strike]:
    """A background that holds every chord; chords that stay are not struck again."""
    strikes: list[Strike] = []
    shapes = _voicings(timeline, _PAD_CENTER, check)
    for first, last in _held(timeline.chords):
        start, end = timeline.chords[first].start, timeline.chords[last].end
        strikes += [Strike(start, end - start, key, 78, timeline.chords[first].bar) for key in shapes[first]]
    return strikes


def bass_line(timeline: Timeline, groove: Groove, *, check: Check = unchecked) -> list[Strike]:
    """The bass: the groove's steps on the chords' tones, the written bass first, and every change at its instant."""
    strikes: list[Strike] = []
    unheard = set(range(len(timeline.chords)))
    for bar in _bars(timeline, groove, check):
        for step in bar.pattern.bass:
            start = bar.at(step.offset)
            place = _chord_at(timeline, start)
            if place is None:
                continue
            chord = timeline.chords[place]
            key = bass_note(chord, step.degree, first=place in unheard)
            unheard.discard(place)
            stop = min(bar.at(step.offset + step.length), chord.end)
            strikes.append(Strike(start, max(stop - start, 0.05), key, 96, bar.number))
    for place, start, stop in _sustained(timeline, unheard):
        chord = timeline.chords[place]
        strikes.append(Strike(start, stop - start, bass_note(chord, "root", first=True), 96, chord.bar))
    return strikes


def drum_hits(timeline: Timeline, groove: Groove, *, check: Check = unchecked) -> list[Strike]:
    """The drums, from the first bar with a chord to the last; sections open with a crash where the groove has one.

    The song's last bar has one hit on its first beat.
    """
    first, last = timeline.chords[0].start, max(chord.end for chord in timeline.chords)
    openings = [start for _, start, _ in timeline.sections[1:]] if groove.crash else []
    strikes: list[Strike] = []
    for bar in _bars(timeline, groove, check):
        if bar.end <= first or bar.start >= last:
            continue
        strikes += [
            _hit(bar.at(hit.offset), hit.key, hit.velocity, bar.number)
            for hit in bar.pattern.drums
            if bar.at(hit.offset) < bar.end - 1e-6
        ]
        if any(abs(start - bar.start) < _ROUNDING for start in openings):
            strikes.append(_hit(bar.start, CRASH, 96, bar.number))
    closing = _closing_bar(timeline)
    if closing is not None and timeline.bars[closing][0] < last:
        strikes += _final_hits(timeline, groove, closing)
    return _choked(strikes)


def _final_hits(timeline: Timeline, groove: Groove, bar: int) -> Iterator[Strike]:
    start = timeline.bars[bar][0]
    if groove.pattern(timeline.meters[bar]).drums:
        yield _hit(start, KICK, 104, bar)
        if groove.crash:
            yield _hit(start, CRASH, 100, bar)


def _closing_bar(timeline: Timeline) -> int | None:
    """The bar that ends the song, where the band stops its groove; none where the music is cut before, or one bar."""
    last = len(timeline.bars) - 1
    return last if last > 0 and timeline.bars[last][1] > timeline.duration - _ROUNDING else None


def _sustained(timeline: Timeline, unheard: Collection[int]) -> Iterator[tuple[int, float, float]]:
    """Index, start and stop of chords that are held: those no step of the groove has met, and the song's last bar's."""
    closing = _closing_bar(timeline)
    finish = math.inf if closing is None else timeline.bars[closing][0]
    for place, chord in enumerate(timeline.chords):
        if place in unheard or chord.end > finish + _ROUNDING:
            ending = closing is not None and chord.end > timeline.duration - _ROUNDING
            start = chord.start if place in unheard else max(chord.start, finish)
            yield place, start, chord.end + (_LAST_RING_SECONDS if ending else 0.0)


def _hit(start: float, key: int, velocity: int, bar: int) -> Strike:
    return Strike(start, _RING_SECONDS, key, velocity, bar, pan=_KIT.get(key, 0.0))


def _choked(strikes: list[Strike]) -> list[Strike]:
    """Open hi-hats sound until the next stroke on the hi-hat."""
    hats = sorted(strike.start for strike in strikes if strike.key in (HAT, OPEN_HAT))

    def ring(strike: Strike) -> float:
        following = bisect_right(hats, strike.start + _ROUNDING)
        return hats[following] - strike.start if following < len(hats) else _RING_SECONDS

    return [replace(strike, length=ring(strike)) if strike.key == OPEN_HAT else strike for strike in strikes]


def _bars(timeline: Timeline, groove: Groove, check: Check) -> Iterator[_PlayedBar]:
    """Bars that hold a whole pattern; an upbeat, a cut bar and the last one are left to the chords and the melody."""
    closing = _closing_bar(timeline)
    quarters = [4 * count / unit for count, unit in timeline.meters]
    lengths = [(end - start) / width for (start, end), width in zip(timeline.bars, quarters, strict=True)]
    for number, (start, end) in enumerate(timeline.bars):
        check()
        neighbours = lengths[max(number - 1, 0) : number] + lengths[number + 1 : number + 2]
        if number == closing or (neighbours and lengths[number] < 0.9 * min(neighbours)):
            continue
        yield _PlayedBar(number, start, end, lengths[number], groove.pattern(timeline.meters[number]))


def _chord_at(timeline: Timeline, instant: float) -> int | None:
    """Index of the chord that sounds at `instant`, if any."""
    place = bisect_right(timeline.chords, instant + _ROUNDING, key=lambda chord: chord.start) - 1
    return place if place >= 0 and instant < timeline.chords[place].end - _ROUNDING else None


def _voicings(timeline: Timeline, center: int, check: Check) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []
    for chord in timeline.chords:
        check()
        shapes.append(voicing(pitch_classes(chord), shapes[-1] if shapes else (), center))
    return shapes


def _power_chords(timeline: Timeline) -> list[tuple[int, ...]]:
    roots = [_POWER_FLOOR + (chord.root - _POWER_FLOOR) % 12 for chord in timeline.chords]
    return [(root, root + 7, root + 12) for root in roots]


def _held(chords: Sequence[TimedChord]) -> Iterator[tuple[int, int]]:
    """First and last index of each run of equal chords without a gap."""
    first = 0
    for place in range(1, len(chords) + 1):
        following = chords[place] if place < len(chords) else None
        same = following is not None and following.text == chords[first].text
        if following is not None and same and following.start - chords[place - 1].end < _ROUNDING:
            continue
        yield first, place - 1
        first = place


def _stroke(step: CompStep, shape: Sequence[int], start: float, stop: float, bar: int) -> Iterator[Strike]:
    if step.stroke == "pick":
        keys = [shape[step.tone % len(shape)] + 12 * (step.tone // len(shape))]
    elif step.stroke == "upstrum":
        keys = sorted(shape, reverse=True)[:3]
    else:
        keys = sorted(shape)
    spread = _STRUM_SECONDS if step.stroke in ("strum", "upstrum") else 0.0
    for place, key in enumerate(keys):
        begin = start + place * spread
        yield Strike(begin, max(stop - begin, 0.05), key, step.velocity, bar)
