"""The grid of a meter and the places of syllables on it. Times are sixteenth notes ("steps") from a phrase's start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from operator import itemgetter
from types import MappingProxyType

from engine.sketch.vocabulary import Meter

STEPS_PER_WHOLE = 16
EIGHTH = 2
MOST_MOVED = 3  # syllables that an anticipation moves
SINGING_RATE = 3.0  # syllables a second that come easily
FASTEST_RATE = 4.5  # syllables a second before a line is given more bars
LONG_BAR_SECONDS = 3.0  # bars that hold a whole line
FLOWING_RATE = 6.5  # of a rapper's line
HURRIED_RATE = 7.0  # where a song has to fit a short time
SHORTEST_SECONDS = 0.13  # of a syllable that is still understood
EASY_SECONDS = 0.2  # of a sixteenth that is sung as easily as an eighth
STRESS_PULL = 3.0  # how much a syllable's stress counts beside the weight of its place
DRAWL = 0.4  # what each step of a syllable without stress costs
LONGEST_SECONDS = 1.1  # of a sung syllable inside a line
SLOWEST_SECONDS = 0.6  # of a syllable on average, before a line ends sooner than it could
NEUTRAL_STRENGTH = 2.6  # places above it draw stressed syllables, those below the others
CLOSING_STEPS, CLOSING_SECONDS = (
    6,
    0.7,
)  # what a phrase keeps at most, and at least, for its last syllable and a breath
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

_Line = tuple[float, tuple[int, ...]]  # how well places are chosen, and the places


@dataclass(frozen=True, slots=True)
class Grid:
    """A meter at a tempo; `anchors` are the strong places of a bar, where the melody meets the harmony.

    `flowing` lines are dense: they run in sixteenths up to the bar's last beat. `offbeat` is the share of beats
    that are sung an eighth early, where there is room.
    """

    meter: Meter
    tempo_bpm: float
    flowing: bool = False
    offbeat: float = 0.0

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

    @property
    def closing(self) -> int:
        """Steps that a phrase keeps for its last syllable and a breath; slow songs need fewer."""
        if self.flowing:
            return BREATH
        return min(max(ceil(CLOSING_SECONDS / self.step_seconds), BREATH), CLOSING_STEPS)

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
        dense = self.flowing or self.bar_seconds >= LONG_BAR_SECONDS
        strong = list(range(0, end, self.beat)) if dense else self.strong_places(bars)
        for room in (self.closing, EIGHTH):
            places = [place for place in strong if place and end - place >= room]
            if places:
                return places
        return [0]

    def capacity(self, bars: int, *, hurried: bool = False) -> int:
        """How many syllables a phrase of `bars` bars holds, an upbeat included (in a flow only where there is room)."""
        if hurried or self.flowing:
            return self.room(bars, HURRIED_RATE if hurried else FLOWING_RATE)
        return self.room(bars, FASTEST_RATE, EASY_SECONDS)

    def room(self, bars: int, rate: float, shortest_seconds: float = SHORTEST_SECONDS) -> int:
        """How many syllables `bars` bars hold at so many a second, in sixteenths where these are not too short."""
        last = self.endings(bars)[-1]
        slots = last // (1 if self.step_seconds >= shortest_seconds else EIGHTH) + self.flowing
        return max(1, min(slots, 1 + int(rate * last * self.step_seconds)))


def onsets(
    grid: Grid,
    count: int,
    bars: int,
    weights: Sequence[float],
    *,
    upbeat: bool,
    closing: bool,
    stresses: Sequence[float] = (),
) -> list[int]:
    """Where `count` syllables begin, in steps: on the heaviest places, the stressed ones on the strong ones.

    `count` is at most the hurried capacity of `bars` bars. An upbeat leaves the bar's first place empty; a closing
    phrase ends in its last bar. `stresses` are those of the syllables, 0 to 1 (none: nobody sings). A last syllable
    without stress comes after the strong place, on which the one before it falls.
    """
    last, slot = _last_onset(grid, count, bars, upbeat=upbeat, closing=closing)
    pulls = list(stresses) or [0.5] * count
    tail = [last]
    if count > 2 and pulls[-1] < 0.5 < pulls[-2]:
        room = bars * grid.bar - last
        tail = [last, last + (grid.beat if room - grid.beat >= grid.closing else EIGHTH)]
    lead = upbeat and last >= 2 * slot and count > len(tail)
    begin = _first_place(grid, last, count - len(tail), slot, lead=lead) if stresses else 0
    places = range(begin + slot * lead, last, slot)
    return [*_placed(grid, pulls[: count - len(tail)], places, weights, last), *tail]


def anticipated(grid: Grid, starts: Sequence[int], pushes: Sequence[bool], *, closing: bool) -> list[int]:
    """The onsets with those on the beats that `pushes` names, beat by beat, an eighth early: syncopation.

    Only in meters of quarters; up to two syllables right before move along where those keep an eighth that are before
    these. The last syllable of a closing phrase stays.
    """
    moved = list(starts)
    if grid.beat != 2 * EIGHTH or not pushes:
        return moved
    for place in range(1, len(starts) - closing):
        beat, inside = divmod(starts[place], grid.beat)
        if not inside and pushes[beat % len(pushes)]:
            for first in range(place, max(place - MOST_MOVED, 0), -1):
                if moved[first] - moved[first - 1] >= 2 * EIGHTH:
                    moved[first : place + 1] = [start - EIGHTH for start in moved[first : place + 1]]
                    break
    return moved


def _first_place(grid: Grid, last: int, before: int, slot: int, *, lead: bool) -> int:
    """The strong place from which so many syllables reach the last one at an easy pace; a line that has time waits."""
    room = max(before * SLOWEST_SECONDS / grid.step_seconds, (before + lead) * slot)
    return max(
        (place for place in grid.strong_places(last // grid.bar + 1) if last - place >= room), default=0
    )


def _placed(
    grid: Grid, pulls: Sequence[float], places: Sequence[int], weights: Sequence[float], end: int
) -> list[int]:
    """The ascending places, one for each syllable, whose weights are largest, stress and strength agreeing.

    Syllables without stress are kept short; `end` is where the syllable behind them begins.
    """
    if not pulls:
        return []
    longest = LONGEST_SECONDS / grid.step_seconds
    drawls = [DRAWL * max(0.5 - pull, 0.0) for pull in pulls]
    lines: list[_Line] = [(0.0, ())] * (len(places) - len(pulls) + 1)  # the best so far, by places left out
    for index, pull in enumerate(pulls):
        longer = list[_Line]()
        for skipped in range(len(lines)):
            place = places[index + skipped]
            agreement = STRESS_PULL * (pull - 0.5) * (grid.strength(place) - NEUTRAL_STRENGTH)
            total, line = _best(lines[: skipped + 1], place, drawls[index - 1], longest)
            longer.append((total + weights[place] + agreement, (*line, place)))
        lines = longer
    return list(_best(lines, end, drawls[-1], longest)[1])


def _best(lines: Sequence[_Line], place: int, drawl: float, longest: float) -> _Line:
    """The line that goes on best at a place, and its total.

    Each step from its own last place costs `drawl`, and each one beyond the `longest` more.
    """

    def cost(line: tuple[int, ...]) -> float:
        gap = place - line[-1] if line else 0
        return drawl * gap + DRAWL * max(gap - longest, 0.0)

    return max(((total - cost(line), line) for total, line in lines), key=itemgetter(0))


def _last_onset(grid: Grid, count: int, bars: int, *, upbeat: bool, closing: bool) -> tuple[int, int]:
    """Where the last syllable begins, and the grid the others need: eighths, else sixteenths."""
    endings, before = grid.endings(bars), count - 1
    slowest = before * SLOWEST_SECONDS / grid.step_seconds
    earliest = (bars - 1) * grid.bar if closing else min(bars * grid.bar / 2, slowest)
    for ending in (ending for ending in endings if ending >= earliest):
        slots = ending // EIGHTH - upbeat
        if before <= slots and before <= SINGING_RATE * ending * grid.step_seconds:
            return ending, EIGHTH
    last = endings[-1]
    return last, (EIGHTH if before <= last // EIGHTH - upbeat else 1)


def lengths(
    grid: Grid, starts: Sequence[int], bars: int, *, hold: bool = False, joined: Sequence[bool] = ()
) -> list[int]:
    """How long each syllable sounds: to the next one, but never too long.

    The last leaves a breath unless it is to `hold`. `joined` tells of each syllable whether its word goes on (none:
    nobody sings); within a word there is no rest.
    """
    end = bars * grid.bar
    longest = (
        min(LONGEST_STEPS, max(int(LONGEST_SECONDS / grid.step_seconds), grid.beat))
        if joined
        else LONGEST_STEPS
    )
    gaps = [after - start for start, after in pairwise(starts)]
    held = [(joined and joined[place]) or gap <= longest + 1 for place, gap in enumerate(gaps)]
    spans = [gap if whole else min(gap, longest) for gap, whole in zip(gaps, held, strict=True)]
    rest = end - starts[-1]
    if hold:
        return [*spans, rest]
    in_bar = grid.bar - starts[-1] % grid.bar  # the next bar may bring another chord
    return [*spans, max(min(rest - BREATH, in_bar, LONGEST_CLOSE), min(rest, EIGHTH))]
