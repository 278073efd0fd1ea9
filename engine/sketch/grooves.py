"""What a rhythm section plays: drum hits, bass steps and chord strokes of one bar, by groove and meter.

Every time here counts quarter notes from the start of the bar. The tables are written as grids, one character a step:
drums `X` accent, `x` plain, `o` soft; bass `R` root, `3` third, `5` fifth, `8` octave, `A` a step that leads to the next
root by the scale, `C` by a semitone; chords `D` and `d` strong and
soft down-strokes, `u` an up-stroke, `B` and `b` strong and soft block chords, `1` to `6` one chord tone from below;
`-` holds the step before, `.` is silence and `|` is there for the eye.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from engine.sketch.percussion import (
    ACCENTS,
    CLAP,
    FILLS,
    HAT,
    KICK,
    OPEN_HAT,
    RIDE,
    SHAKER,
    SNARE,
    SOFT_FILL,
    STICK,
    TAMBOURINE,
)

BASS_DEGREES: dict[str, "Degree"] = {
    "R": "root",
    "3": "third",
    "5": "fifth",
    "8": "octave",
    "A": "approach",
    "C": "leading",
}
STROKES: dict[str, tuple["Stroke", int]] = {
    "D": ("strum", 96),
    "d": ("strum", 72),
    "u": ("upstrum", 66),
    "B": ("block", 92),
    "b": ("block", 70),
}
Degree = Literal["root", "third", "fifth", "octave", "approach", "leading"]
Stroke = Literal["strum", "upstrum", "block", "pick"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One drum stroke: `offset` in quarter notes, General MIDI percussion `key`, MIDI `velocity`."""

    offset: float
    key: int
    velocity: int


@dataclass(frozen=True, slots=True)
class BassStep:
    """One bass note on a degree of the chord that sounds; offset and length in quarter notes."""

    offset: float
    length: float
    degree: Degree


@dataclass(frozen=True, slots=True)
class CompStep:
    """One stroke of the chord instrument; a pick plays chord tone `tone` (from 0 at the bottom, wrapping upwards)."""

    offset: float
    length: float
    stroke: Stroke
    velocity: int
    tone: int = 0


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one bar of `quarters` quarter notes holds."""

    quarters: float
    drums: tuple[Hit, ...]
    bass: tuple[BassStep, ...]
    comp: tuple[CompStep, ...]


@dataclass(frozen=True, slots=True)
class Groove:
    """A feel: its patterns by meter. `crash` marks grooves whose sections open with a crash cymbal.

    `swing` is where in a beat its second half begins, and `fill` what the drums do in the last two quarters of a section.
    """

    name: str
    patterns: Mapping[tuple[int, int], Pattern]
    crash: bool = False
    swing: float = 0.5
    fill: tuple[Hit, ...] = ()

    def pattern(self, meter: tuple[int, int]) -> Pattern:
        """The bar for any meter: its own, a whole number of a shorter one's, or plain beats."""
        if meter in self.patterns:
            return self.patterns[meter]
        quarters = 4 * meter[0] / meter[1]
        for (_, unit), bar in sorted(self.patterns.items(), reverse=True):
            same_pulse = unit == meter[1] or (unit, meter[1]) == (4, 2)
            if same_pulse and quarters >= bar.quarters and quarters % bar.quarters == 0:
                return _repeated(bar, int(quarters // bar.quarters))
        return _plain(meter)


def _repeated(bar: Pattern, times: int) -> Pattern:
    shifts = [turn * bar.quarters for turn in range(times)]
    return Pattern(
        bar.quarters * times,
        tuple(replace(hit, offset=hit.offset + shift) for shift in shifts for hit in bar.drums),
        tuple(replace(step, offset=step.offset + shift) for shift in shifts for step in bar.bass),
        tuple(replace(step, offset=step.offset + shift) for shift in shifts for step in bar.comp),
    )


def _plain(meter: tuple[int, int]) -> Pattern:
    count, unit = meter
    pulse = 4 / unit
    quarters = count * pulse
    beats = [index * pulse for index in range(count)]
    middle = beats[(count + 1) // 2] if count > 1 else None
    drums = [Hit(0.0, KICK, 90), *(Hit(beat, HAT, 58) for beat in beats)]
    bass = [BassStep(0.0, middle if middle is not None else quarters, "root")]
    if middle is not None:
        drums.append(Hit(middle, SNARE, 80))
        bass.append(BassStep(middle, quarters - middle, "fifth"))
    comp = [CompStep(beat, pulse, "strum", 72 if beat else 92) for beat in beats]
    return Pattern(quarters, tuple(drums), tuple(bass), tuple(comp))


def _spans(grid: str) -> list[tuple[int, int, str]]:
    """Start, length and letter of everything in a grid, in steps."""
    spans: list[tuple[int, int, str]] = []
    for place, letter in enumerate(grid):
        if letter == "-" and spans and sum(spans[-1][:2]) == place:
            start, length, held = spans[-1]
            spans[-1] = (start, length + 1, held)
        elif letter not in "-.":
            spans.append((place, 1, letter))
    return spans


def _stroke(offset: float, length: float, letter: str) -> CompStep:
    if letter.isdigit():
        return CompStep(offset, length, "pick", 76, int(letter) - 1)
    stroke, velocity = STROKES[letter]
    return CompStep(offset, length, stroke, velocity)


def _bar(steps: int, bass: str, comp: str, drums: Mapping[int, str] | None = None) -> Pattern:
    """A pattern from grids of `steps` steps a quarter note."""
    bass, comp = bass.replace("|", ""), comp.replace("|", "")
    hits = [
        Hit(start / steps, key, ACCENTS[letter])
        for key, grid in (drums or {}).items()
        for start, _, letter in _spans(grid.replace("|", ""))
    ]
    return Pattern(
        len(comp) / steps,
        tuple(sorted(hits, key=lambda hit: (hit.offset, hit.key))),
        tuple(BassStep(s / steps, n / steps, BASS_DEGREES[letter]) for s, n, letter in _spans(bass)),
        tuple(_stroke(s / steps, n / steps, letter) for s, n, letter in _spans(comp)),
    )


SOFT_THREE = _bar(2, "R---A-", "1-|d-|d-", {KICK: "x.|..|..", STICK: "..|x.|x.", HAT: "o.|o.|o."})
FULL_THREE = _bar(2, "R-|--|5A", "D-|d-|du", {KICK: "X.|..|..", SNARE: "..|x.|x.", HAT: "xo|xo|xo"})
SWUNG_THREE = _bar(
    3, "R--|3--|C--", "...|b--|b--", {KICK: "x..|...|...", STICK: "...|...|x..", RIDE: "x..|x.o|x.."}
)
SOFT_SIX = _bar(2, "R--|5--", "1-3|4-3", {KICK: "x..|...", STICK: "...|x..", HAT: "ooo|ooo"})
FULL_SIX = _bar(2, "R--|5-R", "D-d|D-u", {KICK: "X..|..x", SNARE: "...|X..", HAT: "xoo|xoo"})


def _groove(
    name: str,
    four: Pattern,
    *,
    three: Pattern = FULL_THREE,
    six: Pattern = FULL_SIX,
    crash: bool = False,
    swing: float = 0.5,
) -> Groove:
    fill = FILLS.get(name, SOFT_FILL)
    steps = max(map(len, fill.values()), default=0) // 2
    hits = [
        Hit(start / steps, key, ACCENTS[letter])
        for key, grid in fill.items()
        for start, _, letter in _spans(grid)
    ]
    patterns = MappingProxyType({(4, 4): four, (3, 4): three, (6, 8): six})
    return Groove(name, patterns, crash, swing, tuple(sorted(hits, key=lambda hit: (hit.offset, hit.key))))


def _undrummed(bar: Pattern) -> Pattern:
    return replace(bar, drums=())


PLAYED = (
    _groove(
        "folk",
        _bar(
            4,
            "R-------|5-----A-",
            "D---d-u-|..u-d-u-",
            {KICK: "x.......|x.......", STICK: "....x...|....x...", SHAKER: "x.o.x.o.|x.o.x.o."},
        ),
        three=SOFT_THREE,
        six=SOFT_SIX,
    ),
    _groove(
        "fingerpicking",
        _bar(4, "R-------|5-------", "1-3-2-4-|1-3-2-4-", {SHAKER: "o.o.o.o.|o.o.o.o."}),
        three=_bar(2, "R-----", "1-|34|3-"),
        six=_bar(2, "R-----", "123|432"),
    ),
    _groove(
        "pop",
        _bar(
            4,
            "R---R-R-|R---5-A-",
            "B-------|B---b---",
            {KICK: "X.....x.|x.......", SNARE: "....X...|....X...", HAT: "x.o.x.o.|x.o.x.o."},
        ),
        crash=True,
    ),
    _groove(
        "rock",
        _bar(
            4,
            "R-R-R-R-|R-R-R-A-",
            "D-d-D-du|D-d-D-du",
            {KICK: "X.......|X.x.....", SNARE: "....X...|....X...", HAT: "x.x.x.x.|x.x.x.x."},
        ),
        crash=True,
    ),
    _groove(
        "ballad",
        _bar(
            4,
            "R-------|--5-R-A-",
            "1-2-3-4-|3-2-3-2-",
            {KICK: "x.......|..x.....", STICK: "....x...|....x...", HAT: "o.o.o.o.|o.o.o.o."},
        ),
        three=SOFT_THREE,
        six=SOFT_SIX,
    ),
    _groove(
        "waltz",
        _bar(
            4,
            "R-------|5-------",
            "....b-..|....b-..",
            {KICK: "x.......|x.......", STICK: "....x...|....x..."},
        ),
        three=_bar(2, "R-|--|--", "..|b-|b-", {KICK: "x.|..|..", STICK: "..|o.|o.", TAMBOURINE: "..|o.|o."}),
        six=_bar(2, "R--|---", ".bb|.bb"),
    ),
    _groove(
        "swing",
        _bar(
            3,
            "R--|3--|5--|C--",
            "b-.|..b|...|...",
            {KICK: "o..|...|o..|...", RIDE: "x..|x.o|x..|x.o", STICK: "...|x..|...|x.."},
        ),
        three=SWUNG_THREE,
        six=SOFT_SIX,
        swing=0.6,
    ),
    _groove(
        "shuffle",
        _bar(
            3,
            "R-R|3-3|5-5|3-C",
            "D-d|D-d|D-d|D-d",
            {KICK: "X..|..x|X..|...", SNARE: "...|X..|...|X..", HAT: "x.o|x.o|x.o|x.o"},
        ),
        three=SWUNG_THREE,
        swing=0.62,
    ),
    _groove(
        "bossa",
        _bar(
            4,
            "R-----5-|5-----C-",
            "b-..b-..|..b-..b-",
            {KICK: "x.....x.|x.....x.", STICK: "x.....x.|....x...", SHAKER: "oooooooo|oooooooo"},
        ),
        three=SOFT_THREE,
        six=SOFT_SIX,
    ),
    _groove(
        "latin",
        _bar(
            4,
            "R-----5-|....8---",
            "B-.b-.b-|.b-.b-b-",
            {KICK: "x.....x.|....x...", STICK: "x..x..x.|....x...", SHAKER: "x.o.x.o.|x.o.x.o."},
        ),
        three=SOFT_THREE,
        six=SOFT_SIX,
    ),
    _groove(
        "reggae",
        _bar(
            4,
            "....R-R-|5-..R---",
            "....B...|....B...",
            {KICK: "........|X.......", SNARE: "........|X.......", HAT: "x.o.x.o.|x.o.x.o."},
        ),
    ),
    _groove(
        "hip hop",
        _bar(
            4,
            "R----.R-|..R-5-A-",
            "b-------|....b---",
            {KICK: "X.....x.|..X.....", SNARE: "....X...|....X...", HAT: "x.xxx.x.|x.xxx.xo"},
        ),
    ),
    _groove(
        "four on the floor",
        _bar(
            4,
            "..R-..R-|..R-..8-",
            "..b-..b-|..b-..b-",
            {
                KICK: "X...X...|X...X...",
                CLAP: "....x...|....x...",
                HAT: "o.o.o.o.|o.o.o.o.",
                OPEN_HAT: "..x...x.|..x...x.",
            },
        ),
        crash=True,
    ),
    _groove(
        "funk",
        _bar(
            4,
            "R--R..8.|R-..5-C-",
            "..b...b.|.b....b.",
            {KICK: "X..x....|..X.....", SNARE: "....X..o|.o..X...", HAT: "xoxoxoxo|xoxoxoxo"},
        ),
    ),
    _groove(
        "metal",
        _bar(
            4,
            "RRRRRRRR|RRRRRRRR",
            "D-ddD-dd|D-ddD-dd",
            {KICK: "X.xxX.xx|X.xxX.xx", SNARE: "....X...|....X...", RIDE: "x.x.x.x.|x.x.x.x."},
        ),
        crash=True,
    ),
    _groove(
        "train",
        _bar(
            4,
            "R-------|5---A---",
            "1---D---|1---D-u-",
            {KICK: "x.......|x.......", SNARE: "oooXoooX|oooXoooX", HAT: "....o...|....o..."},
        ),
        three=SOFT_THREE,
        six=SOFT_SIX,
    ),
    _groove(
        "march",
        _bar(
            4,
            "R---5---|R---5-A-",
            "1---B---|1---B---",
            {KICK: "X.......|X.......", SNARE: "x...xoox|x...xoxo"},
        ),
    ),
    _groove(
        "sustained",
        _bar(4, "R-------|--------", "b-------|b-------"),
        three=_undrummed(SOFT_THREE),
        six=_undrummed(SOFT_SIX),
    ),
)
GROOVES: Mapping[str, Groove] = MappingProxyType({groove.name: groove for groove in PLAYED})
