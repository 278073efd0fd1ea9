"""Drums by their General MIDI keys, and what they play in the last two quarters before a new section.

Grids as in `grooves`: one character a step, as many to a quarter as the longest grid has in half of it.
"""

from collections.abc import Mapping
from types import MappingProxyType

KICK, STICK, SNARE, CLAP, HAT, OPEN_HAT = 36, 37, 38, 39, 42, 46  # General MIDI percussion keys
LOW_TOM, MID_TOM, HIGH_TOM = 41, 45, 48
HIGH_TIMBALE, LOW_CONGA, HIGH_CONGA = 65, 64, 63
CRASH, RIDE, TAMBOURINE, SHAKER = 49, 51, 54, 70
ACCENTS = {"X": 112, "x": 90, "o": 58}

SOFT_FILL: Mapping[int, str] = MappingProxyType({STICK: "....x.xx", SHAKER: "x.o....."})
FILLS: Mapping[str, Mapping[int, str]] = MappingProxyType(  # by groove; the others have the soft one
    {
        "pop": {SNARE: "x.xxx..x", MID_TOM: ".....x..", LOW_TOM: "......x."},
        "rock": {SNARE: "XxXx....", HIGH_TOM: "....xx..", LOW_TOM: "......XX", KICK: "x...x..."},
        "ballad": {STICK: "....x...", MID_TOM: "....o.x.", LOW_TOM: "......ox"},
        "latin": {HIGH_CONGA: "xx.xx.x.", LOW_CONGA: "..x..x.x"},
        "reggae": {HIGH_TIMBALE: "x.xx....", SNARE: "....x.XX"},
        "funk": {SNARE: "XooXoXxx", KICK: "..x....."},
        "metal": {SNARE: "X.X" + "XX.XX", KICK: "X" * 8, LOW_TOM: ".x...x.."},
        "train": {SNARE: "oooxxxXX"},
        "march": {SNARE: "oooxxxXX"},
        "swing": {SNARE: "x.xoxX", KICK: "...x.."},
        "shuffle": {SNARE: "X.xX.X", MID_TOM: "..x..x"},
        "sustained": {},
        "hip hop": {HAT: "xxxxxxxxxoxoxoxo", SNARE: "........x.....x."},
        "four on the floor": {SNARE: "x.x.xxxX", CLAP: "....x..."},
    }
)
