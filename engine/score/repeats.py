"""Repeats and alternative endings played out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from engine.control import Check, unchecked
from engine.errors import ScoreError
from engine.score.lyrics import verse_of
from engine.score.model import Bar, Note, Score, Section, Voice
from engine.score.place import most_bars
from engine.score.states import Value, in_force, keys_along, meters_along, tempos_along


@dataclass(frozen=True, slots=True)
class _Marks:
    """What the bars of all voices at one index say about the order of playing."""

    starts: bool
    played: int
    ending: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """A bar as played: its index among the written bars and the pass (from 1) of the passage it is in."""

    index: int
    turn: int


def play_order(voices: Sequence[Voice]) -> list[Played]:
    """The written bars in the order they sound. A repeat sign in one voice counts for all.

    A passage begins at a start sign, after the passage before it, or after its alternative endings. Raises ScoreError
    beyond `MAX_BARS` bars, and beyond `MAX_CELLS` bars of all voices together.
    """
    most = most_bars(len(voices))
    marks = [_marks_at(voices, index) for index in range(max((len(v.bars) for v in voices), default=0))]
    order: list[Played] = []
    for played in _walk(marks):
        if len(order) == most:
            message = f"Shorten each voice to {most} bars, repeats counted each time they are played."
            raise fault_in_bar(voices, played.index, message)
        order.append(played)
    return order


def fault_in_bar(voices: Sequence[Voice], index: int, message: str) -> ScoreError:
    """A `ScoreError` at the first note of the written bars at an index."""
    bars = (voice.bars[index] for voice in voices if index < len(voice.bars))
    note = next((bar.notes[0] for bar in bars if bar.notes), None)
    return ScoreError(message, (note and note.line) or 1, (note and note.column) or 1)


def _marks_at(voices: Sequence[Voice], index: int) -> _Marks:
    bars = [voice.bars[index] for voice in voices if index < len(voice.bars)]
    ending = next((bar.ending for bar in bars if bar.ending), ())
    return _Marks(any(bar.repeat_start for bar in bars), max(bar.repeat_end for bar in bars), ending)


def _walk(marks: list[_Marks]) -> Iterator[Played]:
    passes = _passes(marks)
    start, turn, index = 0, 1, 0
    while index < len(marks):
        leaves_endings = index > start and not passes[index] and passes[index - 1] > 0
        if index != start and (marks[index].starts or leaves_endings):
            start, turn = index, 1
        if passes[index] and turn not in marks[index].ending:
            index += 1
            continue
        yield Played(index, turn)
        played = marks[index].played
        if played and turn < max(passes[index], played):
            index, turn = start, turn + 1
            continue
        index += 1
        if played and not (index < len(marks) and passes[index]):
            start, turn = index, 1


def _passes(marks: list[_Marks]) -> list[int]:
    """The highest pass that the run of alternative endings around each bar names; 0 outside of endings.

    A run that has nothing for the first pass is taken for plain bars, since it would never be reached.
    """
    highest, index = [0] * len(marks), 0
    while index < len(marks):
        first = index
        index += 1
        if marks[first].ending:
            while index < len(marks) and marks[index].ending and not marks[index].starts:
                index += 1
            named = {turn for mark in marks[first:index] for turn in mark.ending}
            highest[first:index] = [max(named) if 1 in named else 0] * (index - first)
    return highest


def unroll(score: Score, check: Check = unchecked) -> Score:
    """The score as it is played: no repeats, all voices equally long, changes stated where they take hold.

    On a repeated pass a note has the syllable of its next verse. `check` is called for every bar
    and stops the work by raising. Raises ScoreError beyond `MAX_BARS` bars, and beyond `MAX_CELLS` bars of all voices together.
    """
    order = play_order(score.voices)
    rests = [(Note((), length),) if length else () for length in bar_lengths(score)]
    meters, tempos = meters_along(score), tempos_along(score)
    meter_changes = _changes(score.meter, [meters[played.index] for played in order])
    tempo_changes = _changes(score.tempo_bpm, [tempos[played.index] for played in order])
    voices = []
    for voice in score.voices:
        keys = keys_along(score, voice)
        keys += [keys[-1] if keys else score.key] * (len(meters) - len(keys))
        key_changes = _changes(score.key, [keys[played.index] for played in order])
        changes = zip(meter_changes, tempo_changes, key_changes, strict=True)
        bars = []
        for played, change in zip(order, changes, strict=True):
            check()
            bars.append(_bar_at(voice, played, rests, *change))
        voices.append(replace(voice, bars=tuple(bars)))
    return replace(score, voices=tuple(voices), sections=_sections(score, order))


def _changes(initial: Value, values: Sequence[Value]) -> list[Value | None]:
    """Each value where it differs from the one before it."""
    return [value if value != before else None for before, value in pairwise([initial, *values])]


def bar_lengths(score: Score) -> list[Fraction]:
    """The length of each bar as written: that of its longest voice."""
    lengths = [Fraction(0)] * score.bar_count
    for voice in score.voices:
        for index, bar in enumerate(voice.bars):
            lengths[index] = max(lengths[index], bar.duration)
    return lengths


def _bar_at(
    voice: Voice,
    played: Played,
    rests: Sequence[tuple[Note, ...]],
    meter: tuple[int, int] | None,
    tempo_bpm: float | None,
    key: str | None,
) -> Bar:
    """A bar as played; `rests` fill the bars that a voice leaves empty."""
    written = voice.bars[played.index] if played.index < len(voice.bars) else Bar()
    notes = tuple(_sung(note, played.turn) for note in written.notes) or rests[played.index]
    return Bar(notes, written.chords, meter=meter, tempo_bpm=tempo_bpm, key=key)


def _sung(note: Note, turn: int) -> Note:
    lyric = verse_of(note.lyric, turn - 1)
    return note if lyric == note.lyric else replace(note, lyric=lyric)


def _sections(score: Score, order: Sequence[Played]) -> tuple[Section, ...]:
    """The sections as played: one begins at its first bar and wherever the music jumps into it."""
    first_bars = {section.bar: section.name for section in score.sections}
    names = in_force("", [[first_bars.get(index) for index in range(score.bar_count)]])
    begun = in_force(-1, [[index if index in first_bars else None for index in range(score.bar_count)]])
    sections, before = [], -1
    for position, played in enumerate(order):
        begins = played.index in first_bars or begun[played.index] != before
        if begins and begun[played.index] >= 0:
            sections.append(Section(names[played.index], position))
        before = begun[played.index]
    return tuple(sections)
