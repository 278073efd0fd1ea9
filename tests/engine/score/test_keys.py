"""Key signatures, staff attributes and the accidentals of a bar."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score import Note, Pitch
from engine.score.keys import Accidentals, Staff, key_named, read_key, read_staff, signature_of
from engine.score.place import Place

HERE = Place(1, 1)


@pytest.mark.parametrize(
    ("text", "name", "sharps"),
    [
        ("C", "C", ""),
        ("G", "G", "^F"),
        ("F", "F", "_B"),
        ("Em", "Em", "^F"),
        ("E minor", "Em", "^F"),
        ("A MIN", "Am", ""),
        ("Bb", "Bb", "_B_E"),
        ("B♭ major", "Bb", "_B_E"),
        ("Cb", "Cb", "_A_B_C_D_E_F_G"),
        ("C#", "C#", "^A^B^C^D^E^F^G"),
        ("D mix", "Dmix", "^F"),
        ("DMixolydian", "Dmix", "^F"),
        ("D dor", "Ddor", ""),
        ("F# Phr", "F#phr", "^C^F"),
        ("Ab lydian", "Ablyd", "_A_B_E"),
        ("B loc", "Bloc", ""),
        ("C ion", "C", ""),
        ("C aeolian", "Cm", "_A_B_E"),
        ("HP", "HP", "^C^F"),
        ("Hp", "Hp", "^C^F"),
        ("none", "none", ""),
        ("D exp ^f _b", "D exp ^f _b", "_B^F"),
        ("D exp =c", "D exp =c", ""),
        ("D =c", "D =c", "^F"),
        ("D Phr ^f", "Dphr ^f", "_B_E^F"),
        ("C __b", "C __b", "__B"),
        ("Am clef=bass", "Am", ""),
        ("G treble", "G", "^F"),
    ],
)
def test_key_has_its_name_and_its_signature(text: str, name: str, sharps: str) -> None:
    signs = {1: "^", -1: "_", -2: "__", 2: "^^"}

    key, _ = read_key(text, HERE)

    assert key is not None
    assert key.text == name
    assert "".join(signs[alter] + step for step, alter in sorted(key.signature.items())) == sharps
    assert key_named(key.text) == key


@pytest.mark.parametrize(
    "text", ["H", "Cmoo", "C foo", "c", "C#b", "G? ", "1", "B# lyd lyd", "C octave=x", "C transpose=99"]
)
def test_unknown_key_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError) as fault:
        read_key(text, Place(5, 3))

    assert (fault.value.line, fault.value.column) == (5, 3)


def test_field_of_attributes_alone_names_no_key() -> None:
    assert read_key("clef=bass", HERE) == (None, Staff("bass"))
    assert key_named("").text == "C"


@pytest.mark.parametrize(
    ("text", "staff"),
    [
        ("clef=treble-8", Staff("treble", -1)),
        ("bass", Staff("bass")),
        ("clef=alto+8 octave=-2", Staff("alto", -1)),
        ("x transpose=-3", Staff("", 0, -3)),
        ("clef=nonsense", Staff("")),
        ("clef=bass3", Staff("bass3")),
        ('x name="A b" snm=c', Staff("", 0, 0, {"name": "A b", "snm": "c"})),
    ],
)
def test_staff_attributes(text: str, staff: Staff) -> None:
    assert read_staff(text, HERE)[0] == staff


def test_signature_beyond_seven_has_double_accidentals() -> None:
    assert signature_of(8)["F"] == 2
    assert signature_of(-8)["B"] == -2
    assert signature_of(0) == {}


def test_accidental_holds_for_its_octave_to_the_end_of_the_bar() -> None:
    accidentals = Accidentals({"F": 1})

    accidentals.mark("F", 4, 0)

    assert accidentals.expected("F", 4) == 0
    assert accidentals.expected("F", 5) == 1
    accidentals.start_bar()
    assert accidentals.expected("F", 4) == 1


def test_tie_carries_an_accidental_over_the_bar_line_for_the_next_note_alone() -> None:
    accidentals = Accidentals({})
    tied = Note((Pitch("D", 4, 1),), Fraction(1), tie=True)

    accidentals.leave(tied)
    accidentals.start_bar()

    assert accidentals.expected("D", 4) == 1
    accidentals.leave(Note((Pitch("D", 4, 1),), Fraction(1)))
    assert accidentals.expected("D", 4) == 0


def test_change_of_key_keeps_the_accidentals_of_the_bar() -> None:
    accidentals = Accidentals({})
    accidentals.mark("B", 4, -1)

    accidentals.change_key({"B": 1, "E": 1})

    assert accidentals.expected("B", 4) == -1
    assert accidentals.expected("E", 4) == 1


def test_last_of_several_accidentals_added_to_a_step_counts() -> None:
    key, _ = read_key("C ^f _f^c" + "=c" * 90, Place(1, 1))

    assert key is not None
    assert (key.text, key.signature) == ("C _f =c", {"F": -1})
    assert key_named(key.text) == key


def test_long_key_is_a_fault() -> None:
    with pytest.raises(ScoreError, match="shorten it to 200"):
        read_key("C " + "^f" * 100, Place(3, 3))
