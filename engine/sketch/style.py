"""Reads style tags into what a composer and a band need to know.

`read_style` never fails: what it does not know it leaves out, what is missing the genre brings. The words it knows lie
in `vocabulary`, the genres in `genres`, and what the band plays in `grooves` (`GROOVES[style.groove].pattern(meter)`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from unicodedata import normalize

from engine.score.fields import TEMPO_WORDS
from engine.sketch.genres import GENRE_BY_NAME, GENRES, Genre
from engine.sketch.grooves import GROOVES, Groove
from engine.sketch.progressions import Progressions
from engine.sketch.vocabulary import (
    GENERIC_WORDS,
    INSTRUMENT_WORDS,
    INSTRUMENTAL_WORDS,
    INSTRUMENTS,
    METER_WORDS,
    METERS,
    MOODS,
    REGISTER_WORDS,
    TEMPO_FACTORS,
    WITHOUT,
    Band,
    Instrument,
    Meter,
    Mode,
    Register,
)

SLOWEST_BPM, FASTEST_BPM = 40.0, 220.0
LONGEST_TAG, MOST_TAGS = 200, 64
NUMBER_BPM = re.compile(
    r"(?<![\d.])(\d{1,3}(?:\.\d+)?)\s*(?:bpm|beats per minute)\b|\b(?:bpm|tempo)\s*[:=]?\s*(\d{1,3}(?:\.\d+)?)\b"
)
FRACTION_METER = re.compile(r"(?<![\d/])(\d{1,2})\s*/\s*(\d{1,2})(?![\d/])")
NAMED_KEY = re.compile(
    r"(?:\b(?:key of|key|in)\s*[:=]?\s*)?(?<![\w#])([a-g])\s?(#|♯|♭|b(?![a-z])|sharp\b|flat\b)?\s*"
    r"(major|minor|maj|min|dorian|aeolian|phrygian|lydian|mixolydian|ionian)\b"
)
BARE_KEY = re.compile(r"(?:key of |key |key: ?|in (?:the key of )?)([a-g])\s?(#|♯|♭|b|sharp|flat)?(m)?")
LETTER_KEY = re.compile(r"([A-G])(#|♯|♭|b)?(m)?")
T = TypeVar("T")
OPTIONAL_ROLES = ("pad", "bass", "drums")
MINOR_MODES = frozenset({"minor", "min", "dorian", "aeolian", "phrygian", "m"})


@dataclass(frozen=True, slots=True)
class Style:
    """How a song sounds. `key` is empty where the style leaves it to the composer, else `F#`, `Bbm` and the like."""

    genre: Genre
    tempo_bpm: float  # quarter notes a minute, 40 to 220
    meter: Meter
    mode: Mode
    key: str
    register: Register
    band: Band
    instrumental: bool  # a tag says that nobody sings

    @property
    def groove(self) -> Groove:
        """What the rhythm section plays; `groove.pattern(meter)` gives one bar."""
        return GROOVES[self.genre.groove]

    @property
    def progressions(self) -> Progressions:
        """The genre's harmony in this style's mode."""
        return self.genre.minor if self.mode == "minor" else self.genre.major


def read_style(style: str) -> Style:
    """Read free tags, separated by commas, semicolons or line ends; the same text gives the same style.

    A tempo beyond 40 to 220 BPM becomes the nearer of the two. Where instruments are named but no genre, they play alone.
    """
    written, tags = _tags(style)
    plain = [_without_instruments(tag) for tag in tags]
    named = _genre(plain)
    genre = named or GENRE_BY_NAME["pop"]
    key = _key(written, tags)
    mode: Mode = (
        ("minor" if key.endswith("m") else "major")
        if key
        else (_mode(tags) or _mood_mode(plain) or genre.mode)
    )
    return Style(
        genre=genre,
        tempo_bpm=_tempo(tags, genre),
        meter=_meter(tags) or genre.meter,
        mode=mode,
        key=key,
        register=_register(plain),
        band=_band(tags, genre.band) if named else _ensemble(tags, genre.band),
        instrumental=any(tag in INSTRUMENTAL_WORDS for tag in tags),
    )


def unsung_tag(style: str) -> str:
    """The first tag that says that nobody sings; empty where none does."""
    return next((tag for tag in _tags(style)[1] if tag in INSTRUMENTAL_WORDS), "")


def genres_named(style: str) -> tuple[str, ...]:
    """The genres that the tags name, each once, the one that decides first."""
    named = [_genre([_without_instruments(tag)]) for tag in _tags(style)[1]]
    return tuple(dict.fromkeys(genre.name for genre in named if genre is not None))


def can_be_left_out(sound: str) -> bool:
    """Whether `no` and this takes somebody out of the band, as `no drums` does."""
    (tag,) = _tags(sound)[1][:1] or [""]
    return any(instrument.role in OPTIONAL_ROLES for _, instrument in _named_instruments(tag))


def names_tempo(style: str) -> bool:
    """Whether the tags set a tempo, by a number or a word such as `allegro`, so that it has to be kept."""
    tags = _tags(style)[1]
    return _first(tags, TEMPO_WORDS) is not None or any(NUMBER_BPM.search(tag) for tag in tags)


def _tags(style: str) -> tuple[list[str], list[str]]:
    """The tags as they are written, and in lower case with single spaces."""
    written = [
        tag.strip()[:LONGEST_TAG] for tag in re.split(r"[,;\n|]+", normalize("NFKC", style))[:MOST_TAGS]
    ]
    return written, [re.sub(r"[\s_\-]+", " ", tag.lower()).strip() for tag in written]


def _place(tag: str, words: str) -> int:
    """Where `tag` ends saying `words` as whole words for the last time, or -1."""
    found = f" {tag} ".rfind(f" {words} ")
    return found + len(words) if found >= 0 else -1


def _says(tag: str, words: str) -> bool:
    return _place(tag, words) >= 0


def _first(tags: Iterable[str], words: Mapping[str, T]) -> T | None:
    """What the first tag that says any of the words means; the longest of several words counts."""
    for tag in tags:
        said = [word for word in words if _says(tag, word)]
        if said:
            return words[max(said, key=len)]
    return None


def _without_instruments(tag: str) -> str:
    """The tag without instruments of several words, which hold words for other things: an acoustic guitar, a tenor sax."""
    said = [word for words in INSTRUMENT_WORDS.values() for word in words if " " in word and _says(tag, word)]
    for word in sorted(said, key=len, reverse=True):
        tag = f" {tag} ".replace(f" {word} ", "  ").strip()
    return tag


def _genre(tags: list[str]) -> Genre | None:
    for tag in tags:
        said = [(_place(tag, word), len(word), genre.name) for genre in GENRES for word in genre.words]
        heard = [found for found in said if found[0] >= 0]
        if heard:
            return GENRE_BY_NAME[max(heard, key=lambda found: (found[2] != "waltz", found))[2]]
    return None


def _mood_mode(tags: list[str]) -> Mode | None:
    return _first(tags, {word: mode for mode, words in MOODS.values() for word in words})


def _mode(tags: list[str]) -> Mode | None:
    words: dict[str, Mode] = {"minor key": "minor", "minor": "minor", "major key": "major", "major": "major"}
    return _first(tags, words)


def _register(tags: list[str]) -> Register:
    words = {word: register for register, words in REGISTER_WORDS.items() for word in words}
    return _first(tags, words) or "middle"


def _tempo(tags: list[str], genre: Genre) -> float:
    tempo = genre.tempo_bpm * (_first(tags, TEMPO_FACTORS) or 1.0)
    tempo = _first(tags, TEMPO_WORDS) or tempo
    for tag in tags:
        number = NUMBER_BPM.search(tag)
        if number:
            tempo = float(number.group(1) or number.group(2))
            break
    return round(min(max(tempo, SLOWEST_BPM), FASTEST_BPM), 2)


def _meter(tags: list[str]) -> Meter | None:
    for tag in tags:
        for above, below in FRACTION_METER.findall(tag):
            meter = (int(above), int(below))
            if meter in METERS:
                return meter
    return _first(tags, METER_WORDS)


def _key(written: list[str], tags: list[str]) -> str:
    for original, tag in zip(written, tags, strict=True):
        named = NAMED_KEY.search(tag)
        if named:
            return _key_name(named.group(1), named.group(2), named.group(3))
        bare = BARE_KEY.fullmatch(tag)
        letter = LETTER_KEY.fullmatch(original)
        match = bare or letter
        if match:
            return _key_name(match.group(1), match.group(2), match.group(3))
    return ""


def _key_name(letter: str, accidental: str | None, mode: str | None) -> str:
    sign = {"#": "#", "♯": "#", "sharp": "#", "b": "b", "♭": "b", "flat": "b"}.get(accidental or "", "")
    return letter.upper() + sign + ("m" if mode in MINOR_MODES else "")


def _named_instruments(tag: str) -> list[tuple[str, Instrument]]:
    """The words for instruments in a tag, in order; inside "electric piano" the piano is not named once more."""
    places = [(_place(tag, word), word, name) for name, words in INSTRUMENT_WORDS.items() for word in words]
    named: list[tuple[str, Instrument]] = []
    reach = len(tag) + 1
    for place, word, name in sorted(places, key=lambda found: (found[0], len(found[1])), reverse=True):
        if 0 <= place <= reach:
            named.append((word, INSTRUMENTS[name]))
            reach = place - len(word) - 1
    return named[::-1]


def _band(tags: list[str], usual: Band) -> Band:
    return _seats(tags, usual)[0]


def _ensemble(tags: list[str], usual: Band) -> Band:
    """Who plays where no tag names a genre: those that are named alone, one of them leading, at a piano if need be."""
    band, taken = _seats(tags, usual)
    if taken <= {"drums"}:
        return band
    comp = band.comp if "comp" in taken else INSTRUMENTS["piano"]
    pad = band.pad if "pad" in taken else None
    return Band(
        band.lead if "lead" in taken else (pad or comp) if "comp" not in taken else comp,
        comp,
        pad,
        band.bass if "bass" in taken else None,
        band.drums if "drums" in taken else None,
    )


def _seats(tags: list[str], usual: Band) -> tuple[Band, set[str]]:
    """The usual band with the instruments that are named, and the places that these have taken."""
    band, taken = usual, set[str]()
    for tag in tags:
        for word, instrument in _named_instruments(tag):
            if tag.startswith(WITHOUT):
                band = _without(band, instrument)
                continue
            place = _free_place(instrument, taken)
            if place:
                band = _seated(band, place, _usual(word, usual) or instrument)
                taken.add(place)
    return band, taken


def _usual(word: str, usual: Band) -> Instrument | None:
    """The genre's own instrument where a tag only says "guitar", "bass" or "drums"."""
    family = GENERIC_WORDS.get(word)
    if family == "guitar":
        return usual.comp if usual.comp.name.endswith("guitar") else None
    return {"bass": usual.bass, "drums": usual.drums}.get(family or "")


def _free_place(instrument: Instrument, taken: set[str]) -> str:
    """Where an instrument sits: a second chord instrument takes the lead, a second lead the background."""
    overflow = {"comp": ("comp", "lead"), "lead": ("lead", "pad")}
    return next(
        (place for place in overflow.get(instrument.role, (instrument.role,)) if place not in taken), ""
    )


def _seated(band: Band, place: str, instrument: Instrument) -> Band:
    match place:
        case "lead":
            return replace(band, lead=instrument)
        case "comp":
            return replace(band, comp=instrument)
        case "pad":
            return replace(band, pad=instrument)
        case "bass":
            return replace(band, bass=instrument)
        case _:
            return replace(band, drums=instrument)


def _without(band: Band, instrument: Instrument) -> Band:
    match instrument.role:
        case "pad":
            return replace(band, pad=None)
        case "bass":
            return replace(band, bass=None)
        case "drums":
            return replace(band, drums=None)
        case _:
            return band
