"""Who plays what: a score in time spread over the instruments of a band, as strikes of a sampler."""

from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.score.model import TimedNote, Timeline
from engine.sketch.accompaniment import bass_line, chord_pads, chord_strokes, drum_hits
from engine.sketch.strikes import Strike
from engine.sketch.style import Style
from engine.sketch.vocabulary import INSTRUMENTS, Instrument

_SINGER = "Vocal"
_DEPUTIES = ("piano", "clarinet", "cello", "vibraphone", "strings", "nylon guitar", "flute")
_TIMING_SECONDS = 0.004  # standard deviation of a player's beat; at most two of them
_TOUCH = 0.06  # and of how hard a note is struck


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
) -> tuple[Part, ...]:
    """The parts of a song: every voice of the score (or only `voices`), and the band around its chords.

    Notes of the score stand exactly where it has them; `seed` moves the accompaniment a little in time and
    everything a little in loudness.
    """
    draw = np.random.Generator(np.random.PCG64(seed))
    parts = [
        replace(part, strikes=_touched(part.strikes, draw))
        for name, part in _melodies(timeline, style)
        if voices is None or name in voices
    ]
    if accompaniment and timeline.chords:
        parts += [
            replace(part, strikes=_touched(_loosened(part.strikes, draw), draw))
            for part in _band(timeline, style)
        ]
    return tuple(part for part in parts if part.strikes)


def _melodies(timeline: Timeline, style: Style) -> Iterator[tuple[str, Part]]:
    names = sorted({note.voice for note in timeline.notes}, key=lambda name: (name != _SINGER, name))
    cast = _cast(style, len(names))
    for place, (name, instrument) in enumerate(zip(names, cast, strict=True)):
        notes = [note for note in timeline.notes if note.voice == name]
        strikes = tuple(_sung(notes, timeline))
        if place == 0:
            yield name, Part(instrument, 0.0, 0.0, 0.2, strikes, exact=True)
        else:
            yield name, Part(instrument, -2.0, (0.2, -0.3, 0.35, -0.15)[place % 4], 0.22, strikes, exact=True)


def _cast(style: Style, count: int) -> list[Instrument]:
    """An instrument for each voice: the leader, then the chords' player, then whoever is free."""
    wanted = [style.band.lead, style.band.comp, *(INSTRUMENTS[name] for name in _DEPUTIES)]
    cast = list(dict.fromkeys(wanted))
    return [cast[place % len(cast)] for place in range(count)]


def _sung(notes: list[TimedNote], timeline: Timeline) -> Iterator[Strike]:
    beats = set(timeline.beats)
    for note in notes:
        start_of_bar = timeline.bars[note.bar][0] if note.bar < len(timeline.bars) else note.start
        velocity = 104 if note.start == start_of_bar else 98 if note.start in beats else 92
        yield Strike(note.start, note.end - note.start, note.midi, velocity, note.bar)


def _band(timeline: Timeline, style: Style) -> Iterator[Part]:
    band = style.band
    crunchy = band.comp.name in ("distorted guitar", "overdriven guitar")
    strokes = _shaded(chord_strokes(timeline, style.groove, power=crunchy), timeline)
    yield Part(band.comp, -5.5, -0.22, 0.14, strokes)
    if band.pad is not None:
        yield Part(band.pad, -12.0, 0.15, 0.3, _shaded(chord_pads(timeline), timeline))
    if band.bass is not None:
        yield Part(band.bass, -1.0, 0.0, 0.02, _shaded(bass_line(timeline, style.groove), timeline))
    if band.drums is not None:
        yield Part(band.drums, 1.5, 0.0, 0.07, _shaded(drum_hits(timeline, style.groove), timeline))


def _shaded(strikes: list[Strike], timeline: Timeline) -> tuple[Strike, ...]:
    """Loudness follows the form: choruses full, verses and frames held back."""
    starts = [start for _, start, _ in timeline.sections]
    weights = [
        1.0 if "chorus" in name.lower() or "drop" in name.lower() else 0.82
        for name, _, _ in timeline.sections
    ]
    if not starts:
        return tuple(strikes)
    return tuple(
        replace(strike, weight=strike.weight * weights[max(bisect_right(starts, strike.start + 1e-6) - 1, 0)])
        for strike in strikes
    )


def _loosened(strikes: tuple[Strike, ...], draw: np.random.Generator) -> tuple[Strike, ...]:
    shifts = np.clip(draw.standard_normal(len(strikes)), -2, 2) * _TIMING_SECONDS
    return tuple(
        replace(strike, start=max(strike.start + float(shift), 0.0))
        for strike, shift in zip(strikes, shifts, strict=True)
    )


def _touched(strikes: tuple[Strike, ...], draw: np.random.Generator) -> tuple[Strike, ...]:
    touches = 1 + np.clip(draw.standard_normal(len(strikes)), -2, 2) * _TOUCH
    return tuple(
        replace(strike, weight=strike.weight * float(touch))
        for strike, touch in zip(strikes, touches, strict=True)
    )
