"""Chord symbols as pitch classes.

Reads the spellings in common use: `Em`, `Cmaj7`, `CM7`, `CΔ`, `F#m7b5`, `Bø`, `G7#9`, `A-7`, `D+`, `Bbsus4`, `C6/9`, `Am7/G`.
"""

import re
from dataclasses import dataclass

_ROOT = re.compile(r"([A-G])(##|bb|[#b♯♭])?")
_BASS = re.compile(r"/([A-Ga-g])([#b♯♭]?)$")
_PITCH_CLASSES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
_SIGNS = {"#": 1, "♯": 1, "b": -1, "♭": -1, "##": 2, "bb": -2, "": 0}
_SILENCE = re.compile(r"\(?(?:n\.?[ ]?c\.?|no[ ]?chord|n|x)\)?", re.IGNORECASE)
_MAJOR, _MINOR = (0, 4, 7), (0, 3, 7)
_QUALITIES = {
    "": _MAJOR,
    "maj": _MAJOR,
    "m": _MINOR,
    "5": (0, 7),
    "6": (0, 4, 7, 9),
    "m6": (0, 3, 7, 9),
    "69": (0, 4, 7, 9, 14),
    "6/9": (0, 4, 7, 9, 14),
    "m69": (0, 3, 7, 9, 14),
    "m6/9": (0, 3, 7, 9, 14),
    "7": (0, 4, 7, 10),
    "maj7": (0, 4, 7, 11),
    "m7": (0, 3, 7, 10),
    "mmaj7": (0, 3, 7, 11),
    "9": (0, 4, 7, 10, 14),
    "maj9": (0, 4, 7, 11, 14),
    "m9": (0, 3, 7, 10, 14),
    "mmaj9": (0, 3, 7, 11, 14),
    "11": (0, 4, 7, 10, 14, 17),
    "maj11": (0, 4, 7, 11, 14, 17),
    "m11": (0, 3, 7, 10, 14, 17),
    "13": (0, 4, 7, 10, 14, 21),
    "maj13": (0, 4, 7, 11, 14, 21),
    "m13": (0, 3, 7, 10, 14, 21),
    "dim": (0, 3, 6),
    "dim7": (0, 3, 6, 9),
    "aug": (0, 4, 8),
    "aug7": (0, 4, 8, 10),
    "augmaj7": (0, 4, 8, 11),
    "7alt": (0, 4, 8, 10, 13, 15),
    "alt": (0, 4, 8, 10, 13, 15),
    "sus": (0, 5, 7),
    "sus2": (0, 2, 7),
    "sus4": (0, 5, 7),
    "7sus": (0, 5, 7, 10),
    "7sus4": (0, 5, 7, 10),
    "7sus2": (0, 2, 7, 10),
    "9sus": (0, 5, 7, 10, 14),
    "9sus4": (0, 5, 7, 10, 14),
    "13sus": (0, 5, 7, 10, 14, 21),
    "13sus4": (0, 5, 7, 10, 14, 21),
}
_BY_LENGTH = sorted(_QUALITIES, key=len, reverse=True)
_SPELLINGS = (
    (re.compile(r"♯"), "#"),
    (re.compile(r"♭"), "b"),
    (re.compile(r"[\s(),]"), ""),
    (re.compile(r"^dom(?:inant)?"), ""),
    (re.compile(r"Major|major|MAJ|Maj|[Mm]a(?!j|dd)"), "maj"),
    (re.compile(r"Minor|minor|MIN|Min|min|MI|Mi|(?<!o)mi"), "m"),
    (re.compile(r"M|\^(?=7|9|11|13)"), "maj"),
    (re.compile(r"[Δ△]7?"), "maj7"),
    (re.compile(r"[øØ]7?"), "m7b5"),
    (re.compile(r"°|(?<![a-z])o(?![a-z])"), "dim"),
    (re.compile(r"^-"), "m"),
    (re.compile(r"^\+"), "aug"),
)
_CHANGE = re.compile(r"(add|no|omit|sus|maj|aug|[b#+-])([0-9]{1,2})|(sus|aug|\+)")
_DEGREES = {2: 14, 3: 4, 4: 17, 5: 7, 6: 9, 7: 10, 9: 14, 11: 17, 13: 21}
_STEPS = {"b": -1, "-": -1, "#": 1, "+": 1, "aug": 1}


@dataclass(frozen=True, slots=True)
class Chord:
    """Pitch classes (C = 0) of root and bass; `intervals` are semitones above the root, ascending."""

    root: int
    intervals: tuple[int, ...]
    bass: int


def read_chord(text: str) -> Chord | None:
    """The chord a symbol names; None where the text is none (a word, a silence).

    An unknown quality gives the triad of its root.
    """
    text = text.strip()
    match = _ROOT.match(text)
    if match is None:
        return None
    root = (_PITCH_CLASSES[match[1]] + _SIGNS[match[2] or ""]) % 12
    quality, bass = text[match.end() :], root
    if over := _BASS.search(quality):
        bass = (_PITCH_CLASSES[over[1].upper()] + _SIGNS[over[2]]) % 12
        quality = quality[: over.start()]
    intervals = _intervals(quality)
    return None if intervals is None else Chord(root, intervals, bass)


def is_silence(text: str) -> bool:
    """Whether the symbol says that no chord sounds (`N.C.`)."""
    return _SILENCE.fullmatch(text.strip()) is not None


def is_chord_symbol(text: str) -> bool:
    """Whether quoted text in a tune is a chord symbol (or `N.C.`), not an annotation."""
    return len(text) <= 32 and (is_silence(text) or read_chord(text) is not None)


def _intervals(written: str) -> tuple[int, ...] | None:
    quality = written
    for pattern, spelling in _SPELLINGS:
        quality = pattern.sub(spelling, quality)
    stem = next(stem for stem in _BY_LENGTH if quality.startswith(stem))
    known = _changed(_QUALITIES[stem], quality[len(stem) :])
    if known is not None:
        return known
    if re.search(r"[.:]|[a-z]{4}", quality.replace("maj", "").replace("add", "").replace("omit", "")):
        return None  # a word that happens to begin with a note name, or `D.C.`
    if written[:1].islower() and not stem:
        return None
    return _MINOR if stem.startswith("m") and not stem.startswith("maj") else _MAJOR


def _changed(intervals: tuple[int, ...], changes: str) -> tuple[int, ...] | None:
    """The intervals after alterations such as `b5`, `add9`, `sus4` or `no3`; None where one is unknown."""
    tones, position = set(intervals), 0
    while position < len(changes):
        match = _CHANGE.match(changes, position)
        if match is None or (match[2] and int(match[2]) not in _DEGREES):
            return None
        _change(tones, match[1] or match[3], int(match[2]) if match[2] else 0)
        position = match.end()
    return tuple(sorted(tones))


def _change(tones: set[int], how: str, degree: int) -> None:
    if how == "sus":
        tones -= {3, 4}
        tones.add(2 if degree == 2 else 5)
    elif how in ("no", "omit"):
        tones -= {3, 4} if degree == 3 else {_DEGREES[degree]}
    elif how == "maj":
        tones.discard(10)
        tones.add(11)
        tones |= {_DEGREES[degree]} if degree > 7 else set()
    elif how == "add":
        tones.add(_DEGREES[degree])
    elif degree in (0, 5):
        tones.discard(7)
        tones.add(7 + _STEPS[how])
    else:
        tones.discard(_DEGREES[degree])
        tones.add(_DEGREES[degree] + _STEPS[how])
