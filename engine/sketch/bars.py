"""The bars that a rhythm section fills with its groove."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.control import Check
from engine.score.model import Timeline
from engine.sketch.dynamics import Energy, energy_at
from engine.sketch.grooves import Groove, Pattern

ROUNDING = 0.01  # seconds by which a step may precede its chord


@dataclass(frozen=True, slots=True)
class PlayedBar:
    """One bar in time; `quarter` is the length of a quarter note in seconds, `last` says that its section ends."""

    number: int
    start: float
    end: float
    quarter: float
    pattern: Pattern
    energy: Energy
    section: str
    last: bool

    def at(self, offset: float) -> float:
        """The instant `offset` quarter notes into the bar."""
        return self.start + offset * self.quarter


def closing_bar(timeline: Timeline) -> int | None:
    """The bar that ends the song, where the band stops its groove; none where the music is cut before, or one bar."""
    last = len(timeline.bars) - 1
    return last if last > 0 and timeline.bars[last][1] > timeline.duration - ROUNDING else None


def played_bars(timeline: Timeline, groove: Groove, check: Check) -> Iterator[PlayedBar]:
    """Bars that hold a whole pattern; an upbeat, a cut bar and the last one are left to the chords and the melody."""
    closing = closing_bar(timeline)
    quarters = [4 * count / unit for count, unit in timeline.meters]
    lengths = [(end - start) / width for (start, end), width in zip(timeline.bars, quarters, strict=True)]
    energy = energy_at(timeline)
    sections = (
        [*timeline.sections, ("", timeline.bars[closing][0], timeline.duration)]
        if closing
        else timeline.sections
    )
    for number, (start, end) in enumerate(timeline.bars):
        check()
        neighbours = lengths[max(number - 1, 0) : number] + lengths[number + 1 : number + 2]
        if number == closing or (neighbours and lengths[number] < 0.9 * min(neighbours)):
            continue
        name = next((name for name, begin, _ in reversed(timeline.sections) if begin < start + ROUNDING), "")
        last = any(abs(begin - end) < ROUNDING for _, begin, _ in sections)
        yield PlayedBar(
            number,
            start,
            end,
            lengths[number],
            groove.pattern(timeline.meters[number]),
            energy(start),
            name,
            last,
        )
