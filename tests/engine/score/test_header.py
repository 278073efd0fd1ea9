"""The header of a tune."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score.header import read_header
from engine.score.lines import tune_lines


def test_header_holds_what_its_fields_say() -> None:
    header = read_header(
        tune_lines("X:1\nT: A song \nT:also\nC:me\nM:3/4\nL:1/4\nQ:90\nV:a\nV:b\nP:AB\nK:Dm bass\nC|\n")
    )

    assert (header.title, header.meter, header.unit, header.tempo_bpm, header.key.text) == (
        "A song",
        (3, 4),
        Fraction(1, 4),
        90,
        "Dm",
    )
    assert [field.id for field, _ in header.voices] == ["a", "b"]
    assert header.staff.clef == "bass"
    assert [line.text for line in header.body] == ["C|"]


def test_header_of_a_key_alone_has_the_usual_values() -> None:
    header = read_header(tune_lines("K:\n"))

    assert (header.title, header.meter, header.unit, header.tempo_bpm, header.key.text) == (
        "",
        (4, 4),
        Fraction(1, 8),
        120,
        "C",
    )


def test_unit_follows_the_meter_and_old_tempos_follow_the_unit_in_any_order() -> None:
    header = read_header(tune_lines("Q:C=120\nM:2/4\nK:C\n"))

    assert (header.unit, header.tempo_bpm) == (Fraction(1, 16), 30)


def test_words_without_a_speed_leave_the_tempo() -> None:
    assert read_header(tune_lines('Q:"Swing"\nK:C\n')).tempo_bpm == 120


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "End the header"),
        ("X:1\nT:a\n", 2, "End the header"),
        ("X:1\nC|D|\nK:C\n", 2, "before the music"),
        ("X:1\nM:4/3\nK:C\n", 2, "lower number"),
        ("X:1\nK:C\n", 0, ""),
    ],
)
def test_header_without_a_key_is_a_fault(text: str, line: int, message: str) -> None:
    if not line:
        assert read_header(tune_lines(text)).body == ()
        return
    with pytest.raises(ScoreError, match=message) as fault:
        read_header(tune_lines(text))
    assert fault.value.line == line


def test_reading_is_stopped_by_its_check() -> None:
    def check() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        read_header(tune_lines("X:1\nK:C\nC|"), check)
