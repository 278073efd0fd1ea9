"""How much of the band plays, and how loudly, by section."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from engine.score.model import Timeline


class Energy(IntEnum):
    """From a breakdown's few to a chorus's everyone."""

    BARE = 0
    THIN = 1
    RISING = 2
    FULL = 3


LOUDNESS: Final[Mapping[Energy, float]] = MappingProxyType(
    {Energy.BARE: 0.75, Energy.THIN: 0.82, Energy.RISING: 0.92, Energy.FULL: 1.0}
)
_NAMED: Final = (
    (re.compile(r"breakdown|break\b"), Energy.BARE),
    (re.compile(r"pre[ -]?chorus|build|bridge|development"), Energy.RISING),
    (re.compile(r"chorus|drop|hook|refrain|solo|finale|second theme"), Energy.FULL),
)


def energy_of(section: str) -> Energy:
    """What a section's name asks for; a verse and whatever has no meaning is thin."""
    name = section.lower()
    return next((energy for named, energy in _NAMED if named.search(name)), Energy.THIN)


def energy_at(timeline: Timeline) -> Callable[[float], Energy]:
    """The energy of each instant; full throughout where the song has no sections."""
    starts = [start for _, start, _ in timeline.sections]
    energies = [energy_of(name) for name, _, _ in timeline.sections]

    def energy(instant: float) -> Energy:
        return energies[max(bisect_right(starts, instant + 1e-6) - 1, 0)] if starts else Energy.FULL

    return energy
