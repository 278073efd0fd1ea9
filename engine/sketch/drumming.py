"""The drums: a groove bar by bar, thinner or fuller by section, fills into new sections, crashes, the last hit."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from engine.control import Check, unchecked
from engine.score.model import Timeline
from engine.sketch.bars import ROUNDING, PlayedBar, closing_bar, played_bars
from engine.sketch.dynamics import Energy
from engine.sketch.grooves import Groove, Hit
from engine.sketch.percussion import (
    ACCENTS,
    CRASH,
    HAT,
    HIGH_TOM,
    KICK,
    LOW_TOM,
    OPEN_HAT,
    RIDE,
    SHAKER,
    SNARE,
    TAMBOURINE,
)
from engine.sketch.strikes import Strike

_RING_SECONDS = 12.0
_KIT = MappingProxyType(
    {
        HAT: 0.18,
        OPEN_HAT: 0.18,
        CRASH: 0.25,
        RIDE: -0.22,
        SHAKER: -0.2,
        TAMBOURINE: 0.22,
        HIGH_TOM: 0.12,
        LOW_TOM: -0.15,
    }
)  # pan
_LIGHT = frozenset({HAT, RIDE, SHAKER, TAMBOURINE})  # what goes on where nearly nobody plays
_FILL_QUARTERS = 2.0
_ROLL_STEPS = (
    (0.25, 1.0),
    (0.5, 0.5),
    (1.0, 0.25),
)  # of a build: up to this share of it a stroke every so many quarters
_ROLL_VELOCITIES = 56, 112


def drum_hits(timeline: Timeline, groove: Groove, *, check: Check = unchecked) -> list[Strike]:
    """The drums, from the first bar with a chord to the last; sections open with a crash where the groove has one.

    The last two quarters of a section are its fill, a section named `build` is a roll. The song's last bar has one hit
    on its first beat.
    """
    first, last = timeline.chords[0].start, max(chord.end for chord in timeline.chords)
    openings = [start for _, start, _ in timeline.sections[1:]] if groove.crash else []
    builds = [(start, end) for name, start, end in timeline.sections if "build" in name.lower()]
    strikes: list[Strike] = []
    for bar in played_bars(timeline, groove, check):
        if bar.end <= first or bar.start >= last or not bar.pattern.drums:
            continue
        build = next(((start, end) for start, end in builds if start <= bar.start + ROUNDING < end), None)
        hits = _bar_hits(bar, groove) if build is None else _roll(bar, *build)
        strikes += [_hit(bar.at(hit.offset), hit.key, hit.velocity, bar.number) for hit in hits]
        if any(abs(start - bar.start) < ROUNDING for start in openings):
            strikes.append(_hit(bar.start, CRASH, 96, bar.number))
    closing = closing_bar(timeline)
    if closing is not None and timeline.bars[closing][0] < last:
        strikes += _final_hits(timeline, groove, closing)
    return _choked(strikes)


def _bar_hits(bar: PlayedBar, groove: Groove) -> Iterator[Hit]:
    """What of the groove is played in a bar, and its fill at the end of a section."""
    width = bar.pattern.quarters
    begin = width - min(_FILL_QUARTERS, width // 2) if bar.last and groove.fill else width
    for hit in bar.pattern.drums:
        if hit.offset < begin - 1e-6 and _is_played(hit, bar.energy):
            yield hit
    if bar.energy is Energy.FULL and groove.crash:
        yield from (Hit(beat + 0.5, TAMBOURINE, ACCENTS["o"]) for beat in range(int(begin)))
    for hit in groove.fill:
        offset = width - _FILL_QUARTERS + hit.offset
        if offset >= begin - 1e-6:
            yield replace(hit, offset=offset)


def _is_played(hit: Hit, energy: Energy) -> bool:
    if energy is Energy.BARE:
        return hit.key in _LIGHT
    return energy > Energy.THIN or hit.key != HAT or hit.velocity > ACCENTS["o"]


def _roll(bar: PlayedBar, start: float, end: float) -> Iterator[Hit]:
    """A snare roll that gets denser and louder from `start` to `end` of its section, over the kick's quarters at first."""
    softest, loudest = _ROLL_VELOCITIES
    offset = 0.0
    while offset < bar.pattern.quarters - 1e-6:
        along = min((bar.at(offset) - start) / (end - start), 1.0)
        step = next((every for share, every in _ROLL_STEPS if along < share), _ROLL_STEPS[-1][1])
        yield Hit(offset, SNARE, round(softest + (loudest - softest) * along))
        if along < _ROLL_STEPS[1][0] and offset % 1.0 < 1e-6:
            yield Hit(offset, KICK, ACCENTS["x"])
        offset += step


def _final_hits(timeline: Timeline, groove: Groove, bar: int) -> Iterator[Strike]:
    start = timeline.bars[bar][0]
    if groove.pattern(timeline.meters[bar]).drums:
        yield _hit(start, KICK, 104, bar)
        if groove.crash:
            yield _hit(start, CRASH, 100, bar)


def _hit(start: float, key: int, velocity: int, bar: int) -> Strike:
    return Strike(start, _RING_SECONDS, key, velocity, bar, pan=_KIT.get(key, 0.0))


def _choked(strikes: list[Strike]) -> list[Strike]:
    """Open hi-hats sound until the next stroke on the hi-hat."""
    hats = sorted(strike.start for strike in strikes if strike.key in (HAT, OPEN_HAT))

    def ring(strike: Strike) -> float:
        following = bisect_right(hats, strike.start + ROUNDING)
        return hats[following] - strike.start if following < len(hats) else _RING_SECONDS

    return [replace(strike, length=ring(strike)) if strike.key == OPEN_HAT else strike for strike in strikes]
