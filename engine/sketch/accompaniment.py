"""The chords and the bass of a rhythm section after a groove, bar by bar."""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from engine.control import Check, unchecked
from engine.score.model import TimedChord, Timeline
from engine.sketch.bars import ROUNDING, PlayedBar, closing_bar, played_bars
from engine.sketch.dynamics import Energy, energy_at
from engine.sketch.grooves import BassStep, CompStep, Groove
from engine.sketch.strikes import Strike
from engine.sketch.voicings import bass_note, leading_note, pitch_classes, voicing

_STRUM_SECONDS = 0.012  # between neighbouring strings
_COMP_CENTER, _PAD_CENTER = 60, 64
_POWER_FLOOR = 40  # E2, a guitar's lowest string
_LAST_RING_SECONDS = 1.0  # that the last chord goes on behind the last bar line
_THIN_PAD = 0.6  # a verse has less of the background


def chord_strokes(
    timeline: Timeline, groove: Groove, *, power: bool = False, check: Check = unchecked
) -> list[Strike]:
    """The chord instrument: the groove's strokes, and a held chord wherever a change falls between them.

    `power` chords are root, fifth and octave, for guitars that distort.
    """
    shapes = _power_chords(timeline) if power else _voicings(timeline, _COMP_CENTER, check)
    strikes: list[Strike] = []
    unheard = set(range(len(timeline.chords)))
    for bar in played_bars(timeline, groove, check):
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
    shapes, energy = _voicings(timeline, _PAD_CENTER, check), energy_at(timeline)
    for first, last in _held(timeline.chords):
        start, end = timeline.chords[first].start, timeline.chords[last].end
        weight = _THIN_PAD if energy(start) is Energy.THIN else 1.0
        bar = timeline.chords[first].bar
        strikes += [Strike(start, end - start, key, 78, bar, weight) for key in shapes[first]]
    return strikes


def bass_line(timeline: Timeline, groove: Groove, *, check: Check = unchecked) -> list[Strike]:
    """The bass: the groove's steps on the chords' tones, the written bass first, and every change at its instant."""
    strikes: list[Strike] = []
    unheard = set(range(len(timeline.chords)))
    for bar in played_bars(timeline, groove, check):
        for step in _bass_steps(bar):
            start = bar.at(step.offset)
            place = _chord_at(timeline, start)
            if place is None:
                continue
            chord = timeline.chords[place]
            key = _bass_key(timeline, place, step, bar, first=place in unheard)
            unheard.discard(place)
            stop = min(bar.at(step.offset + step.length), chord.end)
            strikes.append(Strike(start, max(stop - start, 0.05), key, 96, bar.number))
    for place, start, stop in _sustained(timeline, unheard):
        chord = timeline.chords[place]
        strikes.append(Strike(start, stop - start, bass_note(chord, "root", first=True), 96, chord.bar))
    return strikes


def _bass_steps(bar: PlayedBar) -> tuple[BassStep, ...]:
    """The pattern's steps, or one long note where nearly nobody plays."""
    if bar.energy > Energy.BARE:
        return bar.pattern.bass
    return (BassStep(0.0, bar.pattern.quarters, "root"),)


def _bass_key(timeline: Timeline, place: int, step: BassStep, bar: PlayedBar, *, first: bool) -> int:
    """The step's key; a step that leads to the next chord does so at the end of the bar before it, else it is a fifth."""
    chord = timeline.chords[place]
    if first or step.degree not in ("approach", "leading"):
        return bass_note(chord, step.degree, first=first)
    following = timeline.chords[place + 1] if place + 1 < len(timeline.chords) else None
    if following is None or following.bass == chord.root or abs(following.start - bar.end) > ROUNDING:
        return bass_note(chord, "fifth", first=False)
    key = timeline.keys[bar.number] if step.degree == "approach" and timeline.keys else ""
    return leading_note(chord, following, key)


def _sustained(timeline: Timeline, unheard: Collection[int]) -> Iterator[tuple[int, float, float]]:
    """Index, start and stop of chords that are held: those no step of the groove has met, and the song's last bar's."""
    closing = closing_bar(timeline)
    finish = math.inf if closing is None else timeline.bars[closing][0]
    for place, chord in enumerate(timeline.chords):
        if place in unheard or chord.end > finish + ROUNDING:
            ending = closing is not None and chord.end > timeline.duration - ROUNDING
            start = chord.start if place in unheard else max(chord.start, finish)
            yield place, start, chord.end + (_LAST_RING_SECONDS if ending else 0.0)


def _chord_at(timeline: Timeline, instant: float) -> int | None:
    """Index of the chord that sounds at `instant`, if any."""
    place = bisect_right(timeline.chords, instant + ROUNDING, key=lambda chord: chord.start) - 1
    return place if place >= 0 and instant < timeline.chords[place].end - ROUNDING else None


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
        if following is not None and same and following.start - chords[place - 1].end < ROUNDING:
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
