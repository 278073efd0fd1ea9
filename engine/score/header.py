"""The header of a tune: every field up to the first `K:` (ABC standard 2.1, section 3)."""

from dataclasses import dataclass
from fractions import Fraction

from engine.control import Check, unchecked
from engine.score.fields import (
    FREE_METER,
    VoiceField,
    default_unit,
    read_meter,
    read_tempo,
    read_unit,
    read_voice,
)
from engine.score.keys import Key, Staff, key_named, read_key
from engine.score.lines import Line, LineKind
from engine.score.place import Place

DEFAULT_TEMPO = 120.0  # quarter notes a minute


@dataclass(frozen=True, slots=True)
class Header:
    """What holds for the whole tune until the body changes it; `body` are the lines that follow."""

    title: str
    meter: tuple[int, int]
    unit: Fraction
    tempo_bpm: float
    key: Key
    staff: Staff
    voices: tuple[tuple[VoiceField, Place], ...]
    body: tuple[Line, ...]


def read_header(lines: list[Line], check: Check = unchecked) -> Header:
    """The header of a tune; raises ScoreError where no `K:` ends it or a value is none of the known forms.

    `check` is called for every line and stops the work by raising.
    """
    end = _end_of_header(lines)
    last: dict[str, Line] = {}
    voices = []
    for line in lines[:end]:
        check()
        if line.name == "T" and "T" in last:
            continue  # further titles are subtitles
        last[line.name] = line
        if line.name == "V":
            voices.append((read_voice(line.text, line.place), line.place))
    meter = read_meter(last["M"].text, last["M"].place) if "M" in last else None
    unit = read_unit(last["L"].text, last["L"].place) if "L" in last else default_unit(meter)
    tempo = read_tempo(last["Q"].text, unit, last["Q"].place) if "Q" in last else None
    key, staff = read_key(lines[end].text, lines[end].place)
    return Header(
        last["T"].text.strip() if "T" in last else "",
        meter or FREE_METER,
        unit,
        tempo or DEFAULT_TEMPO,
        key or key_named("C"),
        staff,
        tuple(voices),
        tuple(lines[end + 1 :]),
    )


def _end_of_header(lines: list[Line]) -> int:
    for index, line in enumerate(lines):
        if line.name == "K":
            return index
        if line.kind is LineKind.MUSIC:
            raise line.place.fault("Write the header before the music and end it with a key, such as K:C.")
    place = lines[-1].place if lines else Place(1, 1)
    raise place.fault("End the header of the score with a key, such as K:C, and write the music after it.")
