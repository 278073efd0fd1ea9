"""The dialect of YuE2."""

import pytest
from hypothesis import given, settings

from engine.errors import ScoreError
from engine.score import Bar, Score, Voice, parse, to_dialect, validate, write
from tests.engine.score.strategies import dialect_scores
from tests.engine.score.tunes import EXAMPLE, heard, tune

HEAD = "X:1\nT:\nM:4/4\nL:1/16\nQ:1/4=120\nV: Vocal\nV: Ins\nK:Em\n"


def test_example_is_in_the_dialect_and_stays_as_it_is() -> None:
    score = parse(EXAMPLE.read_text())

    validate(score)
    assert to_dialect(score) == score


@settings(max_examples=8, deadline=None)
@given(dialect_scores())
def test_random_scores_are_in_the_dialect(score: Score) -> None:
    validate(score)
    assert heard(to_dialect(score)) == heard(score)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("X:1\nK:C\nC8|\n", 1, 1, "the score has 1"),
        (HEAD + "V: Vocal\nC16|\n", 10, 1, "1 bars in Vocal, 0 in Ins"),
        (HEAD + "V: Vocal\nC16|\nV: Ins\nZ|D16|\n", 12, 3, "2 bars in Ins, 1 in Vocal"),
        (
            HEAD + "V: Vocal\nC16|C8D4|\nV: Ins\nZ2|\n",
            10,
            5,
            "Fill bar 2 of Vocal, which is too short, if only with a rest: 3/4 where 4/4 fit",
        ),
        (HEAD + "V: Vocal\nC16|\nV: Ins\nC8D16|\n", 12, 1, "bar 1 of Ins"),
        (HEAD + "V: Vocal\n|:C16:|\nV: Ins\nZ|\n", 10, 3, "repeat sign"),
        (HEAD + "V: Vocal\nC16|[1D16|\nV: Ins\nZ2|\n", 10, 7, "repeat sign"),
    ],
)
def test_fault_in_the_dialect_is_found_at_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ScoreError, match=message) as fault:
        validate(parse(text))

    assert (fault.value.line, fault.value.column) == (line, column)


def test_changed_meter_is_the_measure_of_its_bars() -> None:
    validate(parse(HEAD + "V: Vocal\nC16|[M:3/4]C12|\nV: Ins\nZ2|\n"))

    with pytest.raises(ScoreError, match="bar 3 of Vocal, which is too long: 4/4 where 3/4 fit"):
        validate(parse(HEAD + "V: Vocal\nC16|[M:3/4]C12|C16|\nV: Ins\nZ3|\n"))


@pytest.mark.parametrize("score", [Score(()), Score((Voice("Vocal", ()), Voice("Ins", ())))])
def test_score_without_bars_is_a_fault(score: Score) -> None:
    with pytest.raises(ScoreError):
        validate(score)
    with pytest.raises(ScoreError, match="at least one bar"):
        to_dialect(score)


def test_bar_without_notes_is_a_fault() -> None:
    with pytest.raises(ScoreError, match="0/4 where 4/4 fit"):
        validate(Score((Voice("Vocal", (Bar(),)), Voice("Ins", (Bar(),)))))


def test_any_tune_is_brought_into_shape() -> None:
    repeated = parse(tune('|:G2|"C"C8|D6:|'))
    shaped = to_dialect(parse(tune('G2|"C"C8|D6|')))

    validate(shaped)
    assert [(voice.id, voice.name, voice.short_name, len(voice.bars)) for voice in shaped.voices] == [
        ("Vocal", "Vocal Melody", "Vocal", 3),
        ("Ins", "Ins Melody", "Inst.", 3),
    ]
    assert write(shaped).split("V: Vocal\n")[-1] == 'z6G2|"C"C8|D6z2|\nV: Ins\nZ3|\n'
    assert len(to_dialect(repeated).voices[0].bars) == 6


def test_chords_of_a_pick_up_move_with_it_and_come_from_any_voice() -> None:
    shaped = to_dialect(parse(tune('[V:1]G4|C8|\n[V:2]"G7"D4|E8|\n[V:3]z4|"C"z8|')))

    assert write(shaped).split("V: Vocal\n")[-1] == 'z4"G7"G4|"C"C8|\nV: Ins\nz4D4|E8|\n'


def test_short_bar_of_rests_becomes_a_whole_rest() -> None:
    shaped = to_dialect(parse(tune("[V:1]C8|z3z|\n[V:2]z2|D4|")))

    assert write(shaped).split("V: Vocal\n")[-1] == "C8|Z|\nV: Ins\nZ|D4z4|\n"


def test_too_long_bar_cannot_be_brought_into_shape() -> None:
    with pytest.raises(ScoreError, match="bar 1 of Vocal"):
        to_dialect(parse(tune("C9|")))
