"""The tempo at which whole bars fill the times that headings tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor, log2

from engine.sketch.sharing import shared_out

SLOWEST_PACE, FASTEST_PACE = 0.66, 1.35  # of the genre's tempo; long songs need far less
FREELY_SLOWER, FREELY_FASTER = 0.85, 1.18  # within which a tempo is chosen for what its bars fit
OCTAVE_COST = 2.0  # seconds that a boundary may be missed by rather than doubling the tempo
SHORTEST_SECONDS = 0.001  # what is left of a last section that gives all its time away


@dataclass(frozen=True, slots=True)
class Times:
    """Sections that are to last so long, in seconds, in a song of `seconds`; `needed` has the bars that each must have.

    `slowing` is what a slower end adds to the song, in bars.
    """

    wanted: tuple[float, ...]
    needed: tuple[int, ...]
    seconds: float
    slowing: float = 0.0


def pace(times: Times, bar_seconds: float) -> float:
    """How many times as fast as with such bars the song is to be.

    Whole bars then fill its time, and begin near to where the sections should. The rounding to a near number of bars
    is always possible; further away from the genre's tempo the tempo goes only for what it gains.
    """
    natural = times.seconds / bar_seconds - times.slowing
    near = max(1, round(natural))
    free = range(max(1, ceil(natural * FREELY_SLOWER)), floor(natural * FREELY_FASTER) + 1)

    def cost(bars: int) -> float:
        faster = (bars + times.slowing) * bar_seconds / times.seconds
        return _missed(times, bars) + OCTAVE_COST * abs(log2(faster))

    chosen: int = min({near, *free}, key=lambda bars: (cost(bars), abs(bars - near), bars))
    return min(max((chosen + times.slowing) * bar_seconds / times.seconds, SLOWEST_PACE), FASTEST_PACE)


def _missed(times: Times, bars: int) -> float:
    """By how many seconds the worst boundary misses its place in a song of so many bars."""
    bar = times.seconds / (bars + times.slowing)
    scale = times.seconds / sum(times.wanted) / bar
    wanted = shortened([length * scale for length in times.wanted], times.slowing)
    got = accumulate(shared_out(wanted, times.needed, bars))
    return bar * max(abs(here - there) for here, there in zip(got, accumulate(wanted), strict=True))


def shortened(lengths: Sequence[float], spare: float) -> list[float]:
    """The lengths without `spare` of the last one, of which something is left."""
    return [*lengths[:-1], max(lengths[-1] - spare, SHORTEST_SECONDS)]
