"""A score in seconds."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from engine.control import Check, unchecked
from engine.score.chords import Chord, is_silence, read_chord
from engine.score.clock import Clock, clock_of
from engine.score.model import Note, Score, TimedChord, TimedNote, Timeline, Voice
from engine.score.repeats import play_order, unroll
from engine.score.states import keys_along

GRACE_SECONDS = 0.06  # of each grace note


def timeline(score: Score, check: Check = unchecked) -> Timeline:
    """The score played out in time.

    Ties become one note, also over bar lines and repeats; a tie that finds no note of its pitch next ends with its own
    note. Grace notes take up to `GRACE_SECONDS` each, and half of their note at most, from the note they lead to.
    A chord lasts until the next chord symbol of any voice; `N.C.` ends it. A beat is the meter's lower number, or three
    of them in compound meters (6/8, 9/8, 12/8). A short first bar counts its beats back from its end.
    Raises ScoreError where the repeats make the score too long (`MAX_BARS`, `MAX_CELLS`, `MAX_BEATS`,
    `LONGEST_SECONDS`), and what `check` raises, called every few milliseconds.
    """
    clock = clock_of(score, play_order(score.voices))
    played = unroll(score, check)
    bars = range(len(clock.seconds))
    notes = sorted(
        (note for voice in played.voices for note in _notes(voice, clock, check)),
        key=lambda note: (note.start, note.midi),
    )
    return Timeline(
        notes=tuple(notes),
        chords=tuple(_chords(played, clock, check)),
        bars=tuple((clock.seconds[bar], clock.end(bar)) for bar in bars),
        beats=tuple(beat for bar in bars for beat in clock.beats(bar)),
        sections=tuple(_sections(played, clock)),
        duration=clock.duration,
        meters=tuple(clock.meters),
        keys=tuple(keys_along(played, played.voices[0])) if played.voices else (),
    )


def _notes(voice: Voice, clock: Clock, check: Check) -> Iterator[TimedNote]:
    held: dict[int, TimedNote] = {}  # notes whose tie waits for what comes next, by MIDI number
    for bar, content in enumerate(voice.bars):
        check()
        offset = Fraction(0)
        for note in content.notes:
            check()
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


def _chords(score: Score, clock: Clock, check: Check) -> Iterator[TimedChord]:
    chords: dict[str, Chord | None] = {}
    marks: dict[tuple[int, Fraction], str] = {}
    for voice in reversed(score.voices):  # of two symbols at one instant the first voice's stays
        for bar, content in enumerate(voice.bars):
            for symbol in content.chords:
                check()
                if symbol.text not in chords:
                    chords[symbol.text] = read_chord(symbol.text)
                if chords[symbol.text] or is_silence(symbol.text):
                    marks[bar, symbol.offset] = symbol.text
    placed = sorted(marks.items())
    edges = [*(clock.at(bar, offset) for (bar, offset), _ in placed), clock.duration]
    for ((bar, _), text), (start, end) in zip(placed, pairwise(edges), strict=True):
        chord = chords[text]  # none in a silence
        if chord and end > start:
            yield TimedChord(text, chord.root, chord.intervals, chord.bass, start, end, bar)


def _sections(score: Score, clock: Clock) -> Iterator[tuple[str, float, float]]:
    edges = [*(clock.seconds[section.bar] for section in score.sections), clock.duration]
    for section, (start, end) in zip(score.sections, pairwise(edges), strict=True):
        yield section.name, start, end
