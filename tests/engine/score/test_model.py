"""The data model."""

from fractions import Fraction

import pytest

from engine.score import Bar, Note, Pitch, Score, Voice


@pytest.mark.parametrize(
    ("pitch", "midi"),
    [
        (Pitch("C", 4), 60),
        (Pitch("A", 4), 69),
        (Pitch("B", 3, 1), 60),
        (Pitch("C", 5, -1), 71),
        (Pitch("C", -1), 0),
        (Pitch("G", 9), 127),
        (Pitch("F", 4, 2), 67),
    ],
)
def test_pitch_has_the_midi_number_of_scientific_notation(pitch: Pitch, midi: int) -> None:
    assert pitch.midi == midi


def test_bar_lasts_as_long_as_its_notes() -> None:
    bar = Bar((Note((), Fraction(1, 3)), Note((Pitch("C", 4),), Fraction(1, 6))))

    assert bar.duration == Fraction(1, 2)
    assert [note.is_rest for note in bar.notes] == [True, False]


def test_position_in_the_text_is_no_part_of_a_note_value() -> None:
    assert Note((), Fraction(1), line=3, column=4) == Note((), Fraction(1))


def test_score_has_the_bars_of_its_longest_voice() -> None:
    score = Score((Voice("1", (Bar(),)), Voice("2", (Bar(), Bar()))))

    assert score.bar_count == 2
    assert score.with_voices(()).bar_count == 0
