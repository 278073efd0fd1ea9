"""A score in seconds."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil

from engine.score.chords import is_silence, read_chord
from engine.score.model import Note, Score, TimedChord, TimedNote, Timeline, Voice
from engine.score.repeats import unroll
from engine.score.states import meters_along, tempos_along

GRACE_SECONDS = 0.06  # of each grace note
_COMPOUND = (6, 9, 12, 15)


@dataclass(slots=True)
class _Clock:
    """Musical time (whole notes) to seconds along the bars as played; owned by one call of `timeline`."""

    lengths: list[Fraction] = field(default_factory=list)  # whole notes
    seconds: list[float] = field(default_factory=list)
    tempos: list[float] = field(default_factory=list)

    def at(self, bar: int, offset: Fraction) -> float:
        """Seconds from the start; `offset` is in whole notes from the start of the bar."""
        return self.seconds[bar] + float(offset * 240) / self.tempos[bar]

    def end(self, bar: int) -> float:
        """When the bar ends: the instant at which the next one starts."""
        return self.seconds[bar + 1] if bar + 1 < len(self.seconds) else self.at(bar, self.lengths[bar])


def timeline(score: Score) -> Timeline:
    """The score played out in time.

    Ties become one note, also over bar lines and repeats; a tie that finds no note of its pitch next ends with its own
    note. Grace notes take up to `GRACE_SECONDS` each, and half of their note at most, from the note they lead to.
    A chord lasts until the next chord symbol of any voice; `N.C.` ends it. A beat is the meter's lower number, or three
    of them in compound meters (6/8, 9/8, 12/8). A short first bar counts its beats back from its end.
    Raises ScoreError where the repeats make the score too long.
    """
    played = unroll(score)
    meters = meters_along(played)
    clock = _clock(played)
    last = len(meters) - 1
    duration = clock.end(last) if meters else 0.0
    notes = sorted(
        (note for voice in played.voices for note in _notes(voice, clock)),
        key=lambda note: (note.start, note.midi),
    )
    return Timeline(
        notes=tuple(notes),
        chords=tuple(_chords(played, clock, duration)),
        bars=tuple((clock.seconds[bar], clock.end(bar)) for bar in range(len(meters))),
        beats=tuple(
            clock.at(bar, offset) for bar in range(len(meters)) for offset in _beats(bar, clock, meters[bar])
        ),
        sections=tuple(_sections(played, clock, duration)),
        duration=duration,
        meters=tuple(meters),
    )


def _clock(score: Score) -> _Clock:
    """Bars share their start in all voices and last as long as their longest voice."""
    clock = _Clock()
    position, anchor, anchor_seconds, before = Fraction(0), Fraction(0), 0.0, score.tempo_bpm
    for bar, tempo in enumerate(tempos_along(score)):
        if tempo != before:
            anchor_seconds += float((position - anchor) * 240) / before
            anchor, before = position, tempo
        length = max(
            (voice.bars[bar].duration for voice in score.voices if bar < len(voice.bars)), default=Fraction(0)
        )
        clock.lengths.append(length)
        clock.seconds.append(anchor_seconds + float((position - anchor) * 240) / tempo)
        clock.tempos.append(tempo)
        position += length
    return clock


def _notes(voice: Voice, clock: _Clock) -> Iterator[TimedNote]:
    held: dict[int, TimedNote] = {}  # notes whose tie waits for what comes next, by MIDI number
    for bar, content in enumerate(voice.bars):
        offset = Fraction(0)
        for note in content.notes:
            start = clock.at(bar, offset)
            offset += note.duration
            end = clock.end(bar) if offset == clock.lengths[bar] else clock.at(bar, offset)
            sounding = list(_sound(voice.id, note, start, end, bar, held))
            yield from held.values()
            yield from (timed for timed, tied in sounding if not tied)
            held = {timed.midi: timed for timed, tied in sounding if tied}
    yield from held.values()


def _sound(
    voice: str, note: Note, start: float, end: float, bar: int, held: dict[int, TimedNote]
) -> Iterator[tuple[TimedNote, bool]]:
    """The sounds of one written note and whether each is tied on; takes what it continues out of `held`."""
    pitches = sorted({pitch.midi for pitch in note.pitches})
    attack = start
    if note.grace and not any(midi in held for midi in pitches):
        each = min(GRACE_SECONDS, (end - start) / 2 / len(note.grace))
        for turn, pitch in enumerate(note.grace):
            yield TimedNote(voice, pitch.midi, start + turn * each, start + (turn + 1) * each, bar), False
        attack = start + len(note.grace) * each
    for midi in pitches:
        before = held.pop(midi, None)
        sound = replace(before, end=end) if before else TimedNote(voice, midi, attack, end, bar, note.lyric)
        yield sound, note.tie


def _chords(score: Score, clock: _Clock, duration: float) -> Iterator[TimedChord]:
    marks: dict[tuple[int, Fraction], str] = {}
    for voice in reversed(score.voices):  # of two symbols at one instant the first voice's stays
        for bar, content in enumerate(voice.bars):
            for symbol in content.chords:
                if is_silence(symbol.text) or read_chord(symbol.text):
                    marks[bar, symbol.offset] = symbol.text
    placed = sorted(marks.items())
    edges = [*(clock.at(bar, offset) for (bar, offset), _ in placed), duration]
    for ((bar, _), text), (start, end) in zip(placed, pairwise(edges), strict=True):
        chord = read_chord(text)  # none in a silence
        if chord and end > start:
            yield TimedChord(text, chord.root, chord.intervals, chord.bass, start, end, bar)


def _beats(bar: int, clock: _Clock, meter: tuple[int, int]) -> list[Fraction]:
    """Offsets of the beats of a bar in whole notes."""
    beat = beat_of(meter)
    length = clock.lengths[bar]
    shift = (length % beat) if bar == 0 and length < Fraction(*meter) else Fraction(0)
    return [shift + beat * turn for turn in range(ceil((length - shift) / beat))]


def beat_of(meter: tuple[int, int]) -> Fraction:
    """The beat of a meter as a fraction of a whole note."""
    top, bottom = meter
    return Fraction(3 if top in _COMPOUND and bottom >= 8 else 1, bottom)


def _sections(score: Score, clock: _Clock, duration: float) -> Iterator[tuple[str, float, float]]:
    edges = [*(clock.seconds[section.bar] for section in score.sections), duration]
    for section, (start, end) in zip(score.sections, pairwise(edges), strict=True):
        yield section.name, start, end
