"""Values of the fields M, L, Q and V (ABC standard 2.1, sections 3.1.6 to 3.1.8 and 7.1)."""

import re
from dataclasses import dataclass
from fractions import Fraction

from engine.score.keys import Staff, read_staff
from engine.score.place import Place, number, short

# Every pattern here reads a text in one way only: where two readings compete, a long text takes forever to fail.
_METER_PART = re.compile(r"\(?([0-9]{1,2}(?:[ \t]*\+[ \t]*[0-9]{1,2})*)\)?[ \t]*/[ \t]*([0-9]{1,2})")
_METER = re.compile(rf"{_METER_PART.pattern}(?:[ \t]*\+[ \t]*{_METER_PART.pattern})*")
_BEAT = r"[0-9]{1,2}/[0-9]{1,3}"
_COUNT = r"[0-9]{1,4}(?:\.[0-9]{1,18})?"
_BEATS = re.compile(rf"({_BEAT}(?:[ \t]+{_BEAT})*)[ \t]*=[ \t]*({_COUNT})")
_OLD_BEAT = re.compile(rf"C([0-9]{{0,2}})[ \t]*=[ \t]*({_COUNT})")
_PLAIN = re.compile(rf"=?[ \t]*({_COUNT})")
_VOICE_ID = re.compile(r'[^\s"\[\]=%]{1,64}')
_POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_MAX_METER = 64  # characters, and beats
_MAX_VOICE, _MAX_NAME = 600, 200  # characters
FREE_METER = (
    4,
    4,
)  # stands for `M:none`: the length of a whole-bar rest and the beat, where there is no meter
TEMPO_WORDS = {
    "larghissimo": 24,
    "grave": 40,
    "largo": 50,
    "lento": 52,
    "larghetto": 63,
    "adagio": 70,
    "andante": 92,
    "andantino": 94,
    "moderato": 114,
    "allegretto": 116,
    "allegro": 138,
    "vivace": 166,
    "vivo": 170,
    "presto": 184,
    "prestissimo": 208,
}


@dataclass(frozen=True, slots=True)
class VoiceField:
    """A `V:` field."""

    id: str
    name: str | None
    short_name: str | None
    staff: Staff


def read_meter(text: str, place: Place) -> tuple[int, int] | None:
    """`(numerator, denominator)`; None where the meter is free. Sums such as `2+3/8` are added up."""
    text = short(text, place, _MAX_METER)
    if text.lower() in ("", "none", "free"):
        return None
    if text in ("C", "c"):
        return (4, 4)
    if text in ("C|", "c|"):
        return (2, 2)
    if not _METER.fullmatch(text):
        raise place.fault("Write the meter like M:4/4, M:6/8, M:2+3/8, M:C, M:C| or M:none.")
    parts = _METER_PART.findall(text)
    bottom = max(number(below, place, "the meter's lower number", _MAX_METER) for _, below in parts)
    top = 0
    for above, below in parts:
        if int(below) not in _POWERS:
            raise place.fault("Choose 1, 2, 4, 8, 16, 32 or 64 as the meter's lower number.")
        beats = sum(
            number(term.strip(), place, "the meter's upper number", _MAX_METER) for term in above.split("+")
        )
        top += beats * (bottom // int(below))
    if top > _MAX_METER:
        raise place.fault(f"Choose a meter of at most {_MAX_METER} beats.")
    return (top, bottom)


def read_unit(text: str, place: Place) -> Fraction:
    """The unit note length of an `L:` field, 1 to 1/512 of a whole note."""
    match = re.fullmatch(r"1(?:[ \t]*/[ \t]*([0-9]{1,3}))?", short(text, place))
    if match is None or int(match[1] or 1) not in _POWERS:
        raise place.fault("Write the unit note length like L:1/8.")
    return Fraction(1, int(match[1] or 1))


def default_unit(meter: tuple[int, int] | None) -> Fraction:
    """The unit note length of a tune without `L:`."""
    return Fraction(1, 16) if meter and Fraction(*meter) < Fraction(3, 4) else Fraction(1, 8)


def read_tempo(text: str, unit: Fraction, place: Place) -> float | None:
    """Quarter notes a minute; None where the field holds only words without a known speed.

    A bare number counts quarter notes, as players take it. `C3=80` counts lengths of three units.
    """
    text = short(text, place)
    words = " ".join(re.findall(r'"([^"]*)"', text)) or text
    text = re.sub(r'"[^"]*"', " ", text).strip()
    if match := _BEATS.fullmatch(text):
        beat = sum((_beat(part, place) for part in match[1].split()), Fraction(0))
        return _quarters(beat, match[2], place)
    if match := _OLD_BEAT.fullmatch(text):
        return _quarters(unit * number(match[1] or "1", place, "the beat", 64), match[2], place)
    if match := _PLAIN.fullmatch(text):
        return _quarters(Fraction(1, 4), match[1], place)
    known = [TEMPO_WORDS[word] for word in re.findall(r"[a-z]+", words.lower()) if word in TEMPO_WORDS]
    if text and (not known or re.search(r"[0-9=]", text)):
        raise place.fault('Write the tempo like Q:1/4=120 or Q:"Allegro" 1/4=120.')
    return float(known[0]) if known else None


def _beat(text: str, place: Place) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(number(above, place, "the beat", 64), number(below, place, "the beat", 64))


def _quarters(beat: Fraction, count: str, place: Place) -> float:
    per_minute = Fraction(count) * beat * 4
    if not 5 <= per_minute <= 1000:
        raise place.fault("Choose a tempo between 5 and 1000 quarter notes a minute.")
    return float(per_minute)


def read_voice(text: str, place: Place) -> VoiceField:
    """The identifier and attributes of a `V:` field."""
    identifier, *rest = short(text, place, _MAX_VOICE).split(None, 1) or [""]
    if not _VOICE_ID.fullmatch(identifier):
        raise place.fault("Name the voice after V: with a short word, such as V:1.")
    staff, _ = read_staff(" ".join(["-", *rest]), place)
    names = staff.names
    for name in names.values():
        short(name, place, _MAX_NAME)
    return VoiceField(
        identifier,
        names.get("name", names.get("nm")),
        names.get("snm", names.get("sname", names.get("subname"))),
        staff,
    )
