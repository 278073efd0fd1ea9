"""Keys and chords with their proper spelling: Roman numerals in a key become chord symbols and chord tones."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from engine.score.model import SEMITONES
from engine.sketch.vocabulary import Mode

Cadence = Literal["open", "half", "full", "end"]
STEPS = "CDEFGAB"
FIFTHS = "FCGDAEB"  # flats enter a signature from the right, sharps from the left
SCALES: Mapping[Mode, tuple[int, ...]] = MappingProxyType(
    {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
)
READABLE = MappingProxyType(  # names whose signature has more than seven signs, or a twin with fewer
    {
        "A#": "Bb", "B#": "C", "C#": "Db", "D#": "Eb", "E#": "F", "G#": "Ab", "Cb": "B", "Fb": "E",
        "Abm": "G#m", "A#m": "Bbm", "B#m": "Cm", "Cbm": "Bm", "Dbm": "C#m", "E#m": "Fm", "Fbm": "Em", "Gbm": "F#m",
    }
)  # fmt: skip
NUMERAL = re.compile(r"([b#]?)([IViv]+)(.*)")
LEADING_HOME = frozenset(["V", "IV", "VII", "bVII"])
BLUES_BARS = 12  # of a progression that comes home by itself, in its last bar but one
DEGREES = ("i", "ii", "iii", "iv", "v", "vi", "vii")
SHAPES: Mapping[str, tuple[str, tuple[tuple[int, int], ...]]] = MappingProxyType(
    # What follows the root in the symbol, and the tones as (letters, semitones) above the root.
    {
        "": ("", ((0, 0), (2, 4), (4, 7))),
        "m": ("m", ((0, 0), (2, 3), (4, 7))),
        "7": ("7", ((0, 0), (2, 4), (4, 7), (6, 10))),
        "m7": ("m7", ((0, 0), (2, 3), (4, 7), (6, 10))),
        "6": ("6", ((0, 0), (2, 4), (4, 7), (5, 9))),
        "9": ("9", ((0, 0), (2, 4), (4, 7), (6, 10), (1, 14))),
        "maj9": ("maj9", ((0, 0), (2, 4), (4, 7), (6, 11), (1, 14))),
        "m9": ("m9", ((0, 0), (2, 3), (4, 7), (6, 10), (1, 14))),
        "sus4": ("sus4", ((0, 0), (3, 5), (4, 7))),
        "maj7": ("maj7", ((0, 0), (2, 4), (4, 7), (6, 11))),
        "m6": ("m6", ((0, 0), (2, 3), (4, 7), (5, 9))),
        "mø": ("m7b5", ((0, 0), (2, 3), (4, 6), (6, 10))),
        "m°": ("dim", ((0, 0), (2, 3), (4, 6))),
    }
)


@dataclass(frozen=True, slots=True)
class Key:
    """A major or minor key; `signature` holds the alteration of each step it alters."""

    name: str
    mode: Mode
    tonic: str
    signature: Mapping[str, int]

    def step(self, degree: int) -> str:
        """The letter of a scale degree, from 0 on the tonic."""
        return STEPS[(STEPS.index(self.tonic) + degree) % 7]


@dataclass(frozen=True, slots=True)
class Chord:
    """A chord symbol and its tones: the alteration of each step that belongs to it."""

    text: str
    root: str
    tones: Mapping[str, int]


def read_key(name: str) -> Key:
    """The key of a name such as `F#m`, by a readable twin where its signature would be too long."""
    name = READABLE.get(name, name)
    mode: Mode = "minor" if name.endswith("m") else "major"
    tonic, sign = name[0], name[1:].removesuffix("m")
    fifths = FIFTHS.index(tonic) - 1 + {"": 0, "#": 7, "b": -7}[sign] - (3 if mode == "minor" else 0)
    altered = FIFTHS[:fifths] if fifths > 0 else FIFTHS[7 + fifths :] if fifths < 0 else ""
    return Key(name, mode, tonic, MappingProxyType(dict.fromkeys(altered, 1 if fifths > 0 else -1)))


def read_chord(numeral: str, key: Key) -> Chord:
    """The chord of a Roman numeral: degrees of the key's own scale, lower case minor, `b` or `#` moves the root."""
    match = NUMERAL.fullmatch(numeral)
    if not match:
        raise ValueError(f"{numeral!r} is no Roman numeral; write degrees such as IV, ii7 or bVII.")
    sign, roman, suffix = match.groups()
    degree = DEGREES.index(roman.lower())
    root = key.step(degree)
    alter = key.signature.get(root, 0) + {"b": -1, "#": 1, "": 0}[sign]
    ending, intervals = SHAPES[("m" if roman.islower() else "") + suffix]
    tones = dict(_tone(root, alter, *interval) for interval in intervals)
    text = root + "#" * max(alter, 0) + "b" * max(-alter, 0) + ending
    return Chord(text, root, MappingProxyType(tones))


def _tone(root: str, alter: int, letters: int, semitones: int) -> tuple[str, int]:
    """The letter some letters above the root, and the alteration that makes it so many semitones."""
    step = STEPS[(STEPS.index(root) + letters) % 7]
    natural = (SEMITONES[step] - SEMITONES[root]) % 12
    return step, (semitones + alter - natural + 6) % 12 - 6


def numeral_root(numeral: str) -> str:
    """The bare degree of a numeral: `V` of `V7`, `bVII` of `bVII7`, in upper case."""
    match = NUMERAL.fullmatch(numeral)
    return match.group(1) + match.group(2).upper() if match else numeral


def bar_numerals(progression: str, bars: int, cadence: Cadence, mode: Mode) -> list[str]:
    """Numerals for `bars` bars of a repeated progression.

    `full` closes on the progression's tonic after a dominant (or what leads home already), `end` on the plain tonic
    triad, `half` stops on the dominant, `open` leaves the progression as it is. Twelve bars of blues close as they are.
    """
    cycle = progression.split()
    plain = "i" if mode == "minor" else "I"
    tonic = next((numeral for numeral in cycle if numeral_root(numeral) == "I"), plain)
    dominant = next((numeral for numeral in cycle if numeral_root(numeral) == "V" and numeral[0] == "V"), "V")
    numerals = [cycle[bar % len(cycle)] for bar in range(bars)]
    if cadence == "half":
        numerals[-1] = dominant
    if cadence in ("full", "end"):
        numerals[-1] = plain if cadence == "end" else tonic
        closed = len(cycle) == BLUES_BARS and bars % BLUES_BARS == 0
        if bars > 1 and not closed and numeral_root(numerals[-2]) not in LEADING_HOME:
            numerals[-2] = dominant
    return numerals
