"""The edits that previews are timed with, and the rows of sketch."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bench.sketch import EDITS, FIRST_BAR, PREVIEWED_BARS, WEIGHT, Stages, edits, in_another_tempo, song_row
from engine.score import Score, parse, timeline, write
from engine.sketch.compose import compose

ABC = write(
    compose("folk, 100 BPM", "[Verse]\nThe river runs below the hill\nThe mill is old\n" * 6, 7, 90.0)
)


def changes(text: str) -> Iterator[tuple[int, int]]:
    """Index of the bar and semitones between, for every note of the score that differs from the composed one."""
    before, after = (timeline(parse(abc)).notes for abc in (ABC, text))
    was = sorted((note.voice, note.start, note.bar, note.midi) for note in before)
    now = sorted((note.voice, note.start, note.bar, note.midi) for note in after)
    assert len(was) == len(now)
    return ((one[2], other[3] - one[3]) for one, other in zip(was, now, strict=True) if one != other)


def silenced(score: Score, numbers: range) -> Score:
    """The score with rests in these bars of the first voice; indices from 0."""
    voice = score.voices[0]
    bars = tuple(
        replace(bar, notes=tuple(replace(note, pitches=(), tie=False) for note in bar.notes))
        if number in numbers
        else bar
        for number, bar in enumerate(voice.bars)
    )
    return replace(score, voices=(replace(voice, bars=bars), *score.voices[1:]))


def test_every_edit_raises_one_note_of_another_previewed_bar() -> None:
    changed = [list(changes(text)) for text in edits(ABC)]
    assert [[by for _, by in one] for one in changed] == [[12]] * EDITS
    bars = [one[0][0] for one in changed]
    assert len(set(bars)) == EDITS
    assert all(FIRST_BAR - 1 <= bar < FIRST_BAR - 1 + PREVIEWED_BARS for bar in bars)


def test_bars_without_a_note_are_passed_over() -> None:
    first = FIRST_BAR - 1
    text = write(silenced(parse(ABC), range(first, first + 2)))
    assert len(set(edits(text))) == EDITS


def test_too_few_notes_to_edit_are_an_error() -> None:
    text = write(silenced(parse(ABC), range(FIRST_BAR, FIRST_BAR + PREVIEWED_BARS)))
    with pytest.raises(ValueError, match="have a note to edit"):
        edits(text)


def test_another_tempo_changes_nothing_else() -> None:
    assert parse(in_another_tempo(ABC)) == replace(parse(ABC), tempo_bpm=107.0)


def test_times_count_at_their_best_and_weight_at_its_largest() -> None:
    assert song_row("of it encoding", [3.0, 2.0]).value == 2.0
    row = song_row(WEIGHT, [450.0, 501.0])
    assert (row.value, row.unit, row.missed) == (501.0, "MB", True)


def test_a_phase_ends_where_it_is_last_heard_of() -> None:
    stages = Stages()
    stages.report("composing", 1.0)
    composed = stages.ended_at["composing"]
    stages.report("rendering", 0.0)
    assert 0 < composed == stages.ended_at["composing"] <= stages.ended_at["rendering"]
