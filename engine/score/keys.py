"""Key signatures and the accidentals that hold within a bar.

The `K:` field: tonic, mode, added accidentals and clef attributes after the ABC standard 2.1, sections 3.1.14 and 4.6.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.score.model import Note
from engine.score.place import Place, short

STEPS = "CDEFGAB"
SHARPS = "FCGDAEB"  # the order in which sharps enter a signature; flats enter from the other end
ACCIDENTALS = {"^^": 2, "^": 1, "=": 0, "_": -1, "__": -2}
ACCIDENTAL_TEXTS = {alter: text for text, alter in ACCIDENTALS.items()}
_FIFTHS = {"F": -1, "C": 0, "G": 1, "D": 2, "A": 3, "E": 4, "B": 5}
_MODES = {
    "": ("", 0),
    "maj": ("", 0),
    "ion": ("", 0),
    "m": ("m", -3),
    "min": ("m", -3),
    "aeo": ("m", -3),
    "mix": ("mix", -1),
    "dor": ("dor", -2),
    "phr": ("phr", -4),
    "lyd": ("lyd", 1),
    "loc": ("loc", -5),
}
_TONIC = re.compile(r"([A-G])([#b♯♭]?)[ \t]*([A-Za-z]*)")
_ADDED = re.compile(r"(\^\^|\^|__|_|=)([A-Ga-g])")
_ATTRIBUTE = re.compile(
    r"\b(clef|octave|transpose|score|sound|shift|middle|stafflines|staffscale|style|stem|gstem|name|nm|snm|sname|subname)"
    r'[ \t]*=[ \t]*("[^"]*"|[^\s"]+)',
    re.IGNORECASE,
)
_CLEF = re.compile(r"(?:treble|alto|tenor|bass|perc|none|[GCF])[1-5]?(?:[+-]8)?$", re.IGNORECASE)
_BAGPIPES = {"F": 1, "C": 1}


@dataclass(frozen=True, slots=True)
class Staff:
    """What the attributes of a `K:` or `V:` field say besides the key."""

    clef: str = ""  # empty where none is named
    octaves: int = 0  # the music sounds so many octaves higher than it is written
    semitones: int = 0
    names: Mapping[str, str] = field(default_factory=dict)  # further attributes, lower-case


@dataclass(frozen=True, slots=True)
class Key:
    """A key: the canonical text of its `K:` field and the alteration of each step it alters."""

    text: str
    signature: Mapping[str, int]


def read_staff(text: str, place: Place) -> tuple[Staff, str]:
    """The clef and transposition attributes of a field, and the text that is left of it without them."""
    named = {match[1].lower(): match[2].strip('"') for match in _ATTRIBUTE.finditer(text)}
    rest = _ATTRIBUTE.sub(" ", text).split()
    clef, kept = named.pop("clef", ""), []
    for position, word in enumerate(rest):
        bare = position > 0 or len(word) > 1  # a lone letter in front is a tonic, not a clef
        if _CLEF.match(word) and bare and word.lower() != "none" and not clef:
            clef = word
        else:
            kept.append(word)
    shift = re.search(r"([+-])8$", clef)
    octaves = (1 if shift[1] == "+" else -1) if shift else 0
    octaves += _whole(named.pop("octave", "0"), 8, place, "octave=")
    semitones = _whole(named.pop("transpose", "0"), 60, place, "transpose=")
    clef = re.sub(r"[+-]8$", "", clef)
    clef = clef if _CLEF.match(clef) else ""
    return Staff(clef, octaves, semitones, named), " ".join(kept)


def _whole(text: str, most: int, place: Place, name: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,3}", text) or abs(int(text)) > most:
        raise place.fault(f"Give {name} a whole number between -{most} and {most}.")
    return int(text)


def read_key(text: str, place: Place) -> tuple[Key | None, Staff]:
    """The key and the staff attributes of a `K:` field; no key where it names none, only attributes.

    Raises ScoreError where the text is none of the known forms.
    """
    staff, rest = read_staff(short(text, place), place)
    if not rest:
        return None, staff
    added = {step.upper(): sign for sign, step in _ADDED.findall(rest)}
    rest = " ".join(_ADDED.sub(" ", rest).split())
    if rest in ("HP", "Hp"):
        return Key(rest, dict(_BAGPIPES)), staff
    explicit = rest.lower().endswith("exp")
    rest = rest[:-3].strip() if explicit else rest
    if rest.lower() == "none":
        name, signature = "none", dict[str, int]()
    else:
        name, fifths = _tonic_and_mode(rest or "C", place)
        signature = {} if explicit else signature_of(fifths)
    for step, sign in added.items():
        signature[step] = ACCIDENTALS[sign]
    words = [name, *(["exp"] if explicit else []), *(sign + step.lower() for step, sign in added.items())]
    return Key(" ".join(words), {step: alter for step, alter in signature.items() if alter}), staff


def _tonic_and_mode(text: str, place: Place) -> tuple[str, int]:
    match = _TONIC.fullmatch(text)
    word = match[3].lower() if match else "?"
    mode = _MODES.get(word if word == "m" else word[:3])
    if match is None or mode is None:
        raise place.fault("Write the key as a note name and a mode, such as K:Em, K:Bb or K:D mix.")
    sign = {"♯": "#", "♭": "b"}.get(match[2], match[2])
    fifths = _FIFTHS[match[1]] + {"#": 7, "b": -7, "": 0}[sign] + mode[1]
    if not -14 <= fifths <= 14:
        raise place.fault("Choose a key with fewer sharps or flats.")
    return match[1] + sign + mode[0], fifths


def signature_of(fifths: int) -> dict[str, int]:
    """The alteration of each altered step for a number of sharps (positive) or flats (negative)."""
    order = SHARPS if fifths > 0 else SHARPS[::-1]
    signature: dict[str, int] = {}
    for turn in range(abs(fifths)):
        signature[order[turn % 7]] = signature.get(order[turn % 7], 0) + (1 if fifths > 0 else -1)
    return signature


def key_named(text: str) -> Key:
    """The key of a canonical text, as `Score.key` and `Bar.key` hold it."""
    return read_key(text, Place(1, 1))[0] or Key("C", {})


class Accidentals:
    """What an unmarked note head sounds like at a point of one voice; owned by the reader or writer of that voice.

    An accidental holds for its step and octave to the end of the bar. A tie carries it over the bar line, for the
    tied note alone.
    """

    def __init__(self, signature: Mapping[str, int]) -> None:
        self._signature = signature
        self._bar: dict[tuple[str, int], int] = {}
        self._tied: dict[tuple[str, int], int] = {}

    def change_key(self, signature: Mapping[str, int]) -> None:
        """Another signature from here on; accidentals of the bar stay."""
        self._signature = signature

    def start_bar(self) -> None:
        """Forget the accidentals of the bar that ended."""
        self._bar = {}

    def expected(self, step: str, octave: int) -> int:
        """The alteration of an unmarked head."""
        head = (step, octave)
        return self._bar.get(head, self._tied.get(head, self._signature.get(step, 0)))

    def mark(self, step: str, octave: int, alter: int) -> None:
        """An accidental is written at this head."""
        self._bar[step, octave] = alter

    def leave(self, note: Note) -> None:
        """`note` is complete; the next one follows."""
        self._tied = {(p.step, p.octave): p.alter for p in note.pitches} if note.tie else {}
