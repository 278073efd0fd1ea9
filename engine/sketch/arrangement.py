"""Who plays what: a score in time spread over the instruments of a band, as strikes of a sampler."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.score.model import TimedNote, Timeline
from engine.sketch.accompaniment import bass_line, chord_pads, chord_strokes
from engine.sketch.drumming import drum_hits
from engine.sketch.dynamics import LOUDNESS, energy_at
from engine.sketch.genres import LEAD_DB
from engine.sketch.harmonisation import harmonised
from engine.sketch.strikes import Strike
from engine.sketch.style import Style
from engine.sketch.vocabulary import INSTRUMENTS, LOWEST_KEYS, Instrument

_SINGER = "Vocal"
_DEPUTIES = ("piano", "clarinet", "cello", "vibraphone", "strings", "nylon guitar", "flute")
_MACHINES = ("tr-808", "synth bass")  # keep time exactly
_TIMING_SECONDS = 0.004  # standard deviation of a player's beat; at most two of them
_TOUCH = 0.06  # and of how hard a note is struck
_APART_SECONDS = 0.02  # strikes closer than this are one movement of a player
_STRIKES_A_CHECK = 512


@dataclass(frozen=True, slots=True)
class Part:
    """One player: an instrument, how loud it is, where it stands, how much of it the room hears."""

    instrument: Instrument
    level_db: float
    pan: float  # -0.5 left to 0.5 right
    send: float
    strikes: tuple[Strike, ...]
    exact: bool = False  # lengths are the score's own


def arrange(
    timeline: Timeline,
    style: Style,
    seed: int,
    *,
    voices: Collection[str] | None = None,
    accompaniment: bool = True,
    sung: Collection[TimedNote] = (),
    check: Check = unchecked,
) -> tuple[Part, ...]:
    """The parts of a song: every voice of the score (or only `voices`), and the band around its chords.

    Notes of the score stand exactly where it has them, but that a low voice goes up by octaves to where its
    instrument begins. `seed` moves the accompaniment a little in time and everything a little in loudness. Where the
    score has no chords the band plays to guessed ones. Notes in `sung` are left to the singer; a voice of which all are
    sung needs no instrument. `check` is called every few milliseconds and stops the work
    by raising.
    """
    draw = np.random.Generator(np.random.PCG64(seed))
    parts = [
        _performed(part, draw, lambda _: 1.0, check)
        for name, part in _melodies(timeline, style, frozenset(sung), check)
        if voices is None or name in voices
    ]
    played = harmonised(timeline) if accompaniment else timeline
    if accompaniment and played.chords:
        parts += [_performed(part, draw, _shading(played), check) for part in _band(played, style, check)]
    return tuple(part for part in parts if part.strikes)


def _melodies(
    timeline: Timeline, style: Style, sung: frozenset[TimedNote], check: Check
) -> Iterator[tuple[str, Part]]:
    voices: dict[str, list[TimedNote]] = {}
    for note in (note for note in timeline.notes if note not in sung):
        voices.setdefault(note.voice, []).append(note)
    names = sorted(voices, key=lambda name: (name != _SINGER, name))
    lead_db = _lead_db(style)
    for place, (name, instrument) in enumerate(zip(names, _cast(style, len(names)), strict=True)):
        strikes = tuple(_sung(voices[name], timeline, check))
        if place == 0:
            strikes = _within_reach(strikes, instrument)
            yield name, Part(instrument, lead_db, 0.0, 0.2, strikes, exact=True)
        else:
            pan = (0.2, -0.3, 0.35, -0.15)[place % 4]
            yield name, Part(instrument, lead_db - 2.0, pan, 0.22, strikes, exact=True)


def _lead_db(style: Style) -> float:
    """What keeps the lead in balance with the genre's band; nothing where others play than this."""
    own, usual = style.band, style.genre.band
    same = all(
        (mine is None) == (theirs is None)
        for mine, theirs in ((own.pad, usual.pad), (own.bass, usual.bass), (own.drums, usual.drums))
    )
    return LEAD_DB.get(style.genre.name, 0.0) if same else 0.0


def _cast(style: Style, count: int) -> list[Instrument]:
    """An instrument for each voice: the leader, then the chords' player, then whoever is free."""
    wanted = [style.band.lead, style.band.comp, *(INSTRUMENTS[name] for name in _DEPUTIES)]
    cast = list(dict.fromkeys(wanted))
    return [cast[place % len(cast)] for place in range(count)]


def _within_reach(strikes: tuple[Strike, ...], instrument: Instrument) -> tuple[Strike, ...]:
    """All of it as many octaves higher as the instrument needs to play its lowest note."""
    missing = LOWEST_KEYS.get(instrument.name, 0) - min(strike.key for strike in strikes)
    octaves = max(-(-missing // 12), 0)
    return tuple(replace(strike, key=strike.key + 12 * octaves) for strike in strikes) if octaves else strikes


def _sung(notes: list[TimedNote], timeline: Timeline, check: Check) -> Iterator[Strike]:
    beats = set(timeline.beats)
    for place, note in enumerate(notes):
        if place % _STRIKES_A_CHECK == 0:
            check()
        start_of_bar = timeline.bars[note.bar][0] if note.bar < len(timeline.bars) else note.start
        velocity = 104 if note.start == start_of_bar else 98 if note.start in beats else 92
        yield Strike(note.start, note.end - note.start, note.midi, velocity, note.bar)


def _band(timeline: Timeline, style: Style, check: Check) -> Iterator[Part]:
    band, groove = style.band, style.groove
    crunchy = band.comp.name in ("distorted guitar", "overdriven guitar")
    strokes = chord_strokes(timeline, groove, power=crunchy, check=check)
    yield Part(band.comp, -5.5, -0.22, 0.14, tuple(strokes))
    if band.pad is not None:
        yield Part(band.pad, -12.0, 0.15, 0.3, tuple(chord_pads(timeline, check=check)))
    if band.bass is not None:
        yield Part(band.bass, -1.0, 0.0, 0.02, tuple(bass_line(timeline, groove, check=check)))
    if band.drums is not None:
        yield Part(band.drums, 1.5, 0.0, 0.07, tuple(drum_hits(timeline, groove, check=check)))


def _shading(timeline: Timeline) -> Callable[[float], float]:
    """Loudness follows the form: choruses full, verses and frames held back."""
    energy = energy_at(timeline)
    return lambda instant: LOUDNESS[energy(instant)]


def _performed(part: Part, draw: np.random.Generator, shade: Callable[[float], float], check: Check) -> Part:
    """The part as a player plays it: not quite in time (but for the score's own notes), not quite evenly."""
    exact = part.exact or part.instrument.name in _MACHINES
    shifts = np.zeros(len(part.strikes)) if exact else _shifts(part.strikes, draw)
    touches = 1 + np.clip(draw.standard_normal(len(part.strikes)), -2, 2) * _TOUCH
    strikes = []
    for place, strike in enumerate(part.strikes):
        if place % _STRIKES_A_CHECK == 0:
            check()
        start = max(strike.start + float(shifts[place]), 0.0)
        weight = strike.weight * shade(strike.start) * float(touches[place])
        strikes.append(replace(strike, start=start, weight=weight))
    return replace(part, strikes=tuple(strikes))


def _shifts(strikes: tuple[Strike, ...], draw: np.random.Generator) -> NDArray[np.float64]:
    """(strikes,) seconds that each comes late; those of one instant, and the strings of a strum, stay together."""
    starts = np.array([strike.start for strike in strikes])
    order = np.argsort(starts, kind="stable")
    movements = np.cumsum(np.diff(starts[order], prepend=-1.0) > _APART_SECONDS) - 1
    count = int(movements[-1]) + 1 if len(movements) else 0
    drawn = np.clip(draw.standard_normal(count), -2, 2) * _TIMING_SECONDS
    shifts = np.zeros(len(strikes))
    shifts[order] = drawn[movements]
    return shifts
