"""Melodies: a drawn idea (`Motif`) laid over harmony, so that any words sung to it keep its line.

Pitches are staff positions, seven to the octave: C0 is 0, middle C is 28. The key and the chord that sounds give the
semitone, so the leading tone of a minor key comes with its dominant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, sin
from random import Random

from engine.sketch.harmony import STEPS, Chord, Key
from engine.sketch.rhythm import Grid
from engine.sketch.vocabulary import Register

# Where the built-in voice is understood best: D3 to F4, F3 to A4, A3 to C5.
RANGES: dict[Register, tuple[int, int]] = {"low": (22, 31), "middle": (24, 33), "high": (26, 35)}
PLAYED_RANGE = (30, 40)  # the instrument's own line, E4 to A5
SHAPES: tuple[Callable[[float], float], ...] = (
    lambda t: sin(pi * t),  # up and back
    lambda t: 1 - 2 * t,  # falling
    lambda t: 2 * t - 1,  # rising
    lambda t: sin(2 * pi * t),  # a wave
    lambda t: -sin(pi * t),  # down and back
)
LONGEST_BARS = 8
LEAP = 4  # positions beyond which an interval counts as a leap

Harmony = Callable[[int], Chord]


@dataclass(frozen=True, slots=True)
class Motif:
    """What is drawn once for a phrase and kept whenever it comes again."""

    weights: tuple[float, ...]  # pull of each step on syllables
    leanings: tuple[tuple[float, ...], ...]  # by strong place, then by position modulo 7
    turns: tuple[int, ...]  # by strong place: the way around a repeated tone
    shape: int
    height: float  # the middle of the line within the range, 0 to 1
    swing: float  # how far the shape leads from it, in positions
    pushes: tuple[bool, ...] = ()  # by beat: whether it is anticipated


def draw_motif(dice: Random, grid: Grid, height: float) -> Motif:
    """A fresh idea for phrases of up to eight bars."""
    places = len(grid.anchors) * LONGEST_BARS + 1
    rhythm = [dice.uniform(0, 1.1) for _ in range(2 * grid.bar)]  # two bars of rhythm repeat
    return Motif(
        weights=tuple(
            grid.strength(step) + rhythm[step % len(rhythm)] for step in range(LONGEST_BARS * grid.bar)
        ),
        leanings=tuple(tuple(dice.uniform(0, 1.2) for _ in range(7)) for _ in range(places)),
        turns=tuple(dice.choice((-1, 1, 1, 0)) for _ in range(places)),
        shape=dice.randrange(len(SHAPES)),
        height=height + dice.uniform(-0.06, 0.06),
        swing=dice.uniform(2.0, 4.0),
        pushes=tuple(dice.random() < grid.offbeat for _ in range(2 * grid.bar // grid.beat)),
    )


def pitch_line(
    motif: Motif,
    grid: Grid,
    starts: Sequence[int],
    spans: Sequence[int],
    harmony: Harmony,
    bounds: tuple[int, int],
    goal: str,
) -> list[int]:
    """A position for each note of a phrase; `goal` is the letter of the last one, or "" for any chord tone.

    Strong places carry chord tones, the notes between them lead from one to the next by step.
    """
    last = starts[-1]
    bars = last // grid.bar + 1
    places = [place for place in grid.strong_places(bars) if place < last] + [last]
    tones = _anchor_tones(motif, places, harmony, bounds, goal)
    line = [_between(motif, places, tones, start, bounds) for start in starts]
    for index, (start, span) in enumerate(zip(starts, spans, strict=True)):
        if span > grid.beat and start != last:
            line[index] = _nearest(line[index], harmony(start), bounds)
    return line


def _anchor_tones(
    motif: Motif, places: Sequence[int], harmony: Harmony, bounds: tuple[int, int], goal: str
) -> list[int]:
    low, high = bounds
    centre = low + motif.height * (high - low)
    tones: list[int] = []
    for index, place in enumerate(places):
        along = place / places[-1] if places[-1] else 1.0
        target = centre + motif.swing * SHAPES[motif.shape](along)
        final = index == len(places) - 1
        allowed = {goal} if final and goal else set(harmony(place).tones)
        tones.append(
            _best_tone(
                motif, index, tones, target, [p for p in range(low, high + 1) if STEPS[p % 7] in allowed]
            )
        )
    return tones


def _best_tone(motif: Motif, index: int, before: Sequence[int], target: float, choices: Sequence[int]) -> int:
    leanings = motif.leanings[min(index, len(motif.leanings) - 1)]

    def cost(position: int) -> float:
        interval = abs(position - before[-1]) if before else 0
        leap = 0.4 * interval + (2.0 * (interval - LEAP) if interval > LEAP else 0.0)
        stale = 1.2 if len(before) > 1 and before[-1] == before[-2] == position else 0.0
        return abs(position - target) + leap + stale + leanings[position % 7]

    return min(choices, key=lambda position: (cost(position), position))


def _between(
    motif: Motif, places: Sequence[int], tones: Sequence[int], start: int, bounds: tuple[int, int]
) -> int:
    index = max(at for at, place in enumerate(places) if place <= start)
    if places[index] == start or index + 1 == len(places):
        return tones[index]
    along = (start - places[index]) / (places[index + 1] - places[index])
    here, there = tones[index], tones[index + 1]
    if here == there:
        turn = motif.turns[min(index, len(motif.turns) - 1)] if along >= 0.5 else 0
        return min(max(here + turn, bounds[0]), bounds[1])
    return here + round(along * (there - here))


def _nearest(position: int, chord: Chord, bounds: tuple[int, int]) -> int:
    return min(chord_positions(chord, bounds), key=lambda choice: (abs(choice - position), choice))


def chord_positions(chord: Chord, bounds: tuple[int, int]) -> list[int]:
    """The tones of a chord within inclusive bounds, ascending."""
    return [position for position in range(bounds[0], bounds[1] + 1) if STEPS[position % 7] in chord.tones]


def spelled(position: int, chord: Chord, key: Key) -> tuple[str, int, int]:
    """Step, octave and alteration of a position while `chord` sounds.

    Next to a raised leading tone the sixth degree is raised too, as in the melodic minor scale.
    """
    step = STEPS[position % 7]
    usual, seventh = key.signature.get(step, 0), key.step(6)
    if (
        key.mode == "minor"
        and step == key.step(5)
        and chord.tones.get(seventh, -9) > key.signature.get(seventh, 0)
    ):
        usual += 1
    return step, position // 7, chord.tones.get(step, usual)
