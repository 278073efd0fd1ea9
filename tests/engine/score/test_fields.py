"""Values of the fields M, L, Q and V."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score.fields import default_unit, read_meter, read_tempo, read_unit, read_voice
from engine.score.keys import Staff
from engine.score.place import Place

HERE = Place(4, 3)
EIGHTH = Fraction(1, 8)


@pytest.mark.parametrize(
    ("text", "meter"),
    [
        ("4/4", (4, 4)),
        (" 6/8 ", (6, 8)),
        ("C", (4, 4)),
        ("C|", (2, 2)),
        ("2+3/8", (5, 8)),
        ("(2+3+2)/8", (7, 8)),
        ("2/4+3/8", (7, 8)),
        ("12 / 16", (12, 16)),
        ("none", None),
        ("", None),
    ],
)
def test_meter(text: str, meter: tuple[int, int] | None) -> None:
    assert read_meter(text, HERE) == meter


@pytest.mark.parametrize(
    "text",
    [
        "4",
        "4/3",
        "0/4",
        "4/0",
        "99/4",
        "64/1+64/64",
        "x/4",
        "4/4 x",
        "9999999999999/4",
        "4/128",
        "2/4 3/4",
        "+3/4",
    ],
)
def test_bad_meter_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError) as fault:
        read_meter(text, HERE)

    assert (fault.value.line, fault.value.column) == (4, 3)


@pytest.mark.parametrize("text", ["1" * 64, "1+" * 32, "(1" * 32, "1/4+" * 16, "1/4" + " " * 60 + "x"])
def test_meter_that_is_almost_one_is_a_fault_at_once(text: str) -> None:
    with pytest.raises(ScoreError, match="Write the meter"):
        read_meter(text, HERE)


@pytest.mark.parametrize("text", ["1" * 12_000, "1+" * 4_000])
def test_long_meter_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError, match="shorten it to 64") as fault:
        read_meter(text, HERE)
    assert (fault.value.line, fault.value.column) == (4, 3)


@pytest.mark.parametrize(
    ("text", "unit"),
    [("1/8", EIGHTH), ("1/ 32", Fraction(1, 32)), ("1", Fraction(1)), ("1/512", Fraction(1, 512))],
)
def test_unit(text: str, unit: Fraction) -> None:
    assert read_unit(text, HERE) == unit


@pytest.mark.parametrize("text", ["", "2/8", "1/3", "1/0", "1/1024", "8", "1/8x"])
def test_bad_unit_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError, match="L:1/8"):
        read_unit(text, HERE)


@pytest.mark.parametrize(("meter", "unit"), [((2, 4), 16), ((3, 4), 8), ((6, 8), 8), ((5, 8), 16), (None, 8)])
def test_unit_follows_from_the_meter_where_none_is_written(meter: tuple[int, int] | None, unit: int) -> None:
    assert default_unit(meter) == Fraction(1, unit)


@pytest.mark.parametrize(
    ("text", "bpm"),
    [
        ("1/4=120", 120),
        ("1/4 = 92.5", 92.5),
        ("3/8=80", 120),
        ("1/2=60", 120),
        ("1/8=120", 60),
        ("1/4 3/8 1/4 3/8=40", 200),
        ("120", 120),
        ("=90", 90),
        ('"Allegro" 1/4=100', 100),
        ('1/4=100 "Allegro"', 100),
        ('"Allegro"', 138),
        ("Andante", 92),
        ('"Swing"', None),
        ("", None),
        ("C=120", 60),
        ("C3=40", 60),
    ],
)
def test_tempo_in_quarter_notes_a_minute(text: str, bpm: float | None) -> None:
    assert read_tempo(text, EIGHTH, HERE) == bpm


@pytest.mark.parametrize(
    "text",
    [
        "1/4=0",
        "1/4=4",
        "1/4=1001",
        "1/4=",
        "1/0=4",
        "fast",
        "1/4=120=3",
        "=",
        "9" * 400,
        "C0=50",
        "Allegro=3",
    ],
)
def test_bad_tempo_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError):
        read_tempo(text, EIGHTH, HERE)


@pytest.mark.parametrize(
    "text",
    ["1" + "/111" * 40 + "/1x", "1/4 " * 49 + "x", "1/4" + " " * 190 + "x", "1" * 199 + "=", "C" + "1" * 190],
)
def test_tempo_that_could_be_read_in_many_ways_is_a_fault_at_once(text: str) -> None:
    with pytest.raises(ScoreError, match="Write the tempo"):
        read_tempo(text, EIGHTH, HERE)


def test_long_tempo_is_a_fault() -> None:
    with pytest.raises(ScoreError, match="201 characters; shorten it to 200") as fault:
        read_tempo("1" * 201, EIGHTH, HERE)
    assert (fault.value.line, fault.value.column) == (4, 3)


def test_tempo_bounds_are_inside() -> None:
    assert read_tempo("5", EIGHTH, HERE) == 5
    assert read_tempo("1000", EIGHTH, HERE) == 1000


def test_voice_field_has_id_names_and_staff() -> None:
    field = read_voice(' Vocal clef=treble name="Vocal Melody" snm="Vocal"', HERE)

    assert (field.id, field.name, field.short_name, field.staff.clef) == (
        "Vocal",
        "Vocal Melody",
        "Vocal",
        "treble",
    )


@pytest.mark.parametrize("names", ['nm="A" sname="B"', 'name=A subname="B"'])
def test_voice_names_have_several_spellings(names: str) -> None:
    field = read_voice(f"1\t{names} bass octave=1", HERE)

    assert (field.id, field.name, field.short_name) == ("1", "A", "B")
    assert (field.staff.clef, field.staff.octaves) == ("bass", 1)


def test_voice_without_attributes_has_none() -> None:
    field = read_voice("B", HERE)

    assert (field.name, field.short_name, field.staff) == (None, None, Staff())


@pytest.mark.parametrize("text", ["", "  ", "a=b", '"x"', "[1]", "v" * 65])
def test_bad_voice_is_a_fault(text: str) -> None:
    with pytest.raises(ScoreError, match="V:1"):
        read_voice(text, HERE)


def test_long_unit_is_a_fault() -> None:
    with pytest.raises(ScoreError, match="shorten it to 200"):
        read_unit("1/" + " " * 250_000 + "x", HERE)


@pytest.mark.parametrize("text", ["1 " + 'name="a" ' * 100, "1 name=" + "n" * 201])
def test_long_voice_and_long_name_are_faults(text: str) -> None:
    with pytest.raises(ScoreError, match="shorten it"):
        read_voice(text, HERE)
