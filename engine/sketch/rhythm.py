"""The grid of a meter and the places of syllables on it. Times are sixteenth notes ("steps") from a phrase's start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from engine.sketch.vocabulary import Meter

STEPS_PER_WHOLE = 16
EIGHTH = 2
SINGING_RATE = 3.0  # syllables a second that come easily
FASTEST_RATE = 4.5  # syllables a second before a line is given more bars
HURRIED_RATE = 7.0  # where a song has to fit a short time
CLOSING_STEPS = 6  # what a phrase keeps for its last syllable and a breath
LONGEST_STEPS, LONGEST_CLOSE, BREATH = 12, 8, 4
ANCHORS: Mapping[Meter, tuple[int, ...]] = MappingProxyType(
    {
        (2, 2): (0, 8),
        (2, 4): (0,),
        (3, 4): (0, 8),
        (4, 4): (0, 8),
        (5, 4): (0, 12),
        (6, 4): (0, 12),
        (7, 4): (0, 16),
        (3, 8): (0,),
        (5, 8): (0, 6),
        (6, 8): (0, 6),
        (7, 8): (0, 8),
        (9, 8): (0, 6, 12),
        (12, 8): (0, 6, 12, 18),
    }
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A meter at a tempo; `anchors` are the strong places of a bar, where the melody meets the harmony."""

    meter: Meter
    tempo_bpm: float

    @property
    def bar(self) -> int:
        """Steps of a bar."""
        return STEPS_PER_WHOLE * self.meter[0] // self.meter[1]

    @property
    def anchors(self) -> tuple[int, ...]:
        """Strong places of a bar."""
        return ANCHORS[self.meter]

    @property
    def beat(self) -> int:
        """Steps of a beat: a dotted quarter in compound meters, else a quarter (an eighth in 3/8)."""
        count, unit = self.meter
        if unit != 8:
            return 4
        return 2 if count == 3 else 6 if count % 3 == 0 else 4

    @property
    def step_seconds(self) -> float:
        """Length of a step."""
        return 15 / self.tempo_bpm

    @property
    def bar_seconds(self) -> float:
        """Length of a bar."""
        return self.bar * self.step_seconds

    def strength(self, step: int) -> float:
        """How much a place draws a syllable: bar lines most, then anchors, beats, eighths, sixteenths."""
        place = step % self.bar
        if place == 0:
            return 4.0
        if place in self.anchors:
            return 3.4
        if place % self.beat == 0:
            return 3.0
        return 2.0 if place % EIGHTH == 0 else 0.6

    def strong_places(self, bars: int) -> list[int]:
        """The anchors of a phrase of `bars` bars."""
        return [bar * self.bar + anchor for bar in range(bars) for anchor in self.anchors]

    def endings(self, bars: int) -> list[int]:
        """Where the last syllable of a phrase may begin, earliest first; never empty."""
        end = bars * self.bar
        for room in (CLOSING_STEPS, EIGHTH):
            places = [place for place in self.strong_places(bars) if place and end - place >= room]
            if places:
                return places
        return [0]

    def capacity(self, bars: int, *, hurried: bool = False) -> int:
        """How many syllables a phrase of `bars` bars holds, an upbeat included."""
        last = self.endings(bars)[-1]
        slots = last // (1 if hurried else EIGHTH)
        rate = HURRIED_RATE if hurried else FASTEST_RATE
        return max(1, min(slots, 1 + int(rate * last * self.step_seconds)))


def onsets(
    grid: Grid, count: int, bars: int, weights: Sequence[float], *, upbeat: bool, closing: bool
) -> list[int]:
    """Where `count` syllables begin, in steps; the heaviest places in front of the last syllable are taken.

    `count` is at most the hurried capacity of `bars` bars. An upbeat leaves the bar's first place
    empty; a closing phrase ends in its last bar.
    """
    last, slot = _last_onset(grid, count, bars, upbeat=upbeat, closing=closing)
    places = range(slot if upbeat and last >= 2 * slot else 0, last, slot)
    heaviest = sorted(places, key=lambda place: (-weights[place], place))[: count - 1]
    chosen = set(heaviest)
    if upbeat and chosen and slot not in chosen and slot in places:
        chosen.remove(min(chosen))
        chosen.add(slot)
    return [*sorted(chosen), last]


def _last_onset(grid: Grid, count: int, bars: int, *, upbeat: bool, closing: bool) -> tuple[int, int]:
    """Where the last syllable begins, and the grid the others need: eighths, else sixteenths."""
    endings, before = grid.endings(bars), count - 1
    earliest = (bars - 1) * grid.bar if closing else bars * grid.bar // 2
    for ending in (ending for ending in endings if ending >= earliest):
        slots = ending // EIGHTH - upbeat
        if before <= slots and before <= SINGING_RATE * ending * grid.step_seconds:
            return ending, EIGHTH
    last = endings[-1]
    return last, (EIGHTH if before <= last // EIGHTH - upbeat else 1)


def lengths(grid: Grid, starts: Sequence[int], bars: int, *, hold: bool = False) -> list[int]:
    """How long each syllable sounds: to the next one, but never too long; the last leaves a breath unless it is to `hold`."""
    end = bars * grid.bar
    spans = [min(after - start, LONGEST_STEPS) for start, after in pairwise(starts)]
    rest = end - starts[-1]
    if hold:
        return [*spans, rest]
    in_bar = grid.bar - starts[-1] % grid.bar  # the next bar may bring another chord
    return [*spans, max(min(rest - BREATH, in_bar, LONGEST_CLOSE), min(rest, EIGHTH))]
