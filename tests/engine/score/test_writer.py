"""Scores as text."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import pytest
from hypothesis import given, settings

from engine.score import Bar, ChordSymbol, Note, Pitch, Score, Section, Voice, parse, write
from engine.score.writer import divided
from tests.engine.score.strategies import dialect_scores
from tests.engine.score.tunes import EXAMPLE, heard, tune


def body_of(text: str, **header: str) -> str:
    """The lines after the first `V:` line of the body."""
    return write(parse(tune(text, **header))).split("V: 1\n")[-1].rstrip("\n")


def test_example_of_the_dialect_is_written_as_it_was() -> None:
    text = EXAMPLE.read_text()

    assert write(parse(text)) == text


@settings(max_examples=30, deadline=None)
@given(dialect_scores())
def test_what_is_written_is_read_back(score: Score) -> None:
    text = write(score)

    assert parse(text) == score
    assert write(parse(text)) == text


@pytest.mark.parametrize(
    "body",
    [
        "C2D/2E3/2F/4|",
        "^F=F_F^^F__F|F|",
        "z4C4|",
        "X|x4z4|",
        "Z2|C8|Z|",
        "(3CDEF2z4|",
        "(3CDE(3:2:2C2D|",
        "[CEG]4-[CEG]4|",
        "{ga}C4{^f}[DF]4|",
        '"Em"C4"N.C."z2"Am7/G"D2|',
        "|:C8|[1D8:|[2E8||F8|",
        "|:C8|[1,3D8:|[2E8|",
        "|:C8::|D8:||:E8:|",
        "[M:3/4][Q:1/4=90][K:Gm]C6|",
        "^C8-|C4C4|",
        "C8|\nw: hel",
        "C4D4|\nw: a-b\nw: * c",
    ],
)
def test_music_is_written_as_it_was(body: str) -> None:
    assert body_of(body) == body


def test_bars_go_in_groups_of_four_and_sections_begin_one() -> None:
    text = write(
        parse(
            "X:1\nL:1/4\nK:C\nV: Vocal\nV: Ins\n% verse\nV: Vocal\nC4|D4|E4|F4|G4|\nV: Ins\nZ5|\n% chorus\nV: Vocal\nA4|\nV: Ins\nZ|\n"
        )
    )

    assert text.split("K:C\n")[1].splitlines() == [
        *("% verse", "V: Vocal", "C4|D4|E4|F4|", "V: Ins", "Z4|"),
        *("V: Vocal", "G4|", "V: Ins", "Z|"),
        *("% chorus", "V: Vocal", "A4|", "V: Ins", "Z|"),
    ]


def test_other_voices_keep_their_names_and_sections_are_parts() -> None:
    text = write(
        parse(
            'X:1\nT:A  song\nM:2/4\nL:1/8\nK:Dm\nV:a bass name="Low part" snm=L\nV:b\nP:Part A\n[V:a]D4|E4|\n[V:b]A4|\n'
        )
    )

    assert text.splitlines()[1:] == [
        *(
            "T:A song",
            "M:2/4",
            "L:1/8",
            "Q:1/4=120",
            'V: a clef=bass name="Low part" snm="L"',
            "V: b clef=treble",
            "K:Dm",
        ),
        *("V: a", "P:Part A", "D4|E4|", "V: b", "A4|"),
    ]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("C>D E<F|", "C3/2D/2E/2F3/2|"),
        ("C D [L:1/4] E|", "CDE2|"),
        ("(3CDE (3FGA|", "(3CDE(3FGA|"),
        ("(3CDE- E4|", "(3CDE-E4|"),
        ("(6CDEFGA|", "(3C/2D/2E/2(3F/2G/2A/2|"),
        ("(3:2:2C2D|", "(3:2:2C2D|"),
        ("(5CDEFG|", "C2/5D2/5E2/5F2/5G2/5|"),
        ("C|1D:|2E|", "C|[1D:|[2E|"),
        ("!trill!C (DE) ~F|", "CDEF|"),
        ("[K:F]B _B=B B|", "[K:F]B_B=BB|"),
        ("C [K:G] F|F|", "C^F|[K:G]F|"),
        ("=C C|", "=CC|"),
    ],
)
def test_ordinary_notation_is_written_plainly(body: str, written: str) -> None:
    assert body_of(body) == written


def test_chord_inside_a_note_divides_it_by_a_tie() -> None:
    long = Note((Pitch("C", 5, 1, 1),), Fraction(1), lyric="oh", grace=(Pitch("D", 5),))
    bar = Bar(
        (long,),
        (ChordSymbol("C", Fraction(0)), ChordSymbol("G", Fraction(1, 2)), ChordSymbol("D", Fraction(3))),
    )
    rest = Bar((Note((), Fraction(1)),), (ChordSymbol("Am", Fraction(1, 4)),))
    score = Score((Voice("1", (bar, rest)),))

    text = write(score)

    assert text.endswith('V: 1\n"C"{d}^c4-"G"c4|z2"Am"z6|\nw: oh _\n')
    assert heard(parse(text)) == heard(score)
    assert write(parse(text)) == text


def test_accidentals_are_written_as_the_key_and_the_bar_ask() -> None:
    pitches = [Pitch("F", 4, 1), Pitch("F", 4, 0), Pitch("F", 4, 0), Pitch("F", 5, 1), Pitch("F", 4, 1)]
    score = Score((Voice("1", (Bar(tuple(Note((pitch,), Fraction(1, 8)) for pitch in pitches)),)),), key="G")

    assert write(score).endswith("V: 1\nF=FFf^F|\n")


def test_octave_marks() -> None:
    pitches = [Pitch("C", octave) for octave in (-1, 3, 4, 5, 7)]
    score = Score((Voice("1", (Bar(tuple(Note((pitch,), Fraction(1, 8)) for pitch in pitches)),)),))

    assert write(score).endswith("V: 1\nC,,,,,C,Ccc''|\n")


def test_what_the_notation_cannot_hold_is_left_out() -> None:
    bar = Bar(
        (Note((Pitch("C", 4),), Fraction(1), lyric="a*b"),),
        (ChordSymbol('C"7%', Fraction(0)), ChordSymbol("what", Fraction(0))),
    )
    voice = Voice("1", (bar,), name='the "best"\nvoice')
    score = Score((voice,), title="50% of\nit", sections=(Section("%\n", 0),))

    again = parse(write(score))

    assert again.title == "50% of it"
    assert again.voices[0].name == "the 'best' voice"
    assert again.voices[0].bars[0].notes[0].lyric == "ab"
    assert again.sections == (Section("%", 0),)


def test_bar_without_notes_is_a_bar_of_rest() -> None:
    sung = Bar((Note((Pitch("C", 4),), Fraction(1)),))
    score = Score((Voice("1", (Bar(), Bar(repeat_end=2), sung)),), meter=(3, 4))

    assert write(score).endswith("V: 1\nZ|Z:|C8|\n")


def test_tempo_of_any_fraction_is_read_back() -> None:
    score = replace(parse(tune("C8|")), tempo_bpm=100 / 3)

    assert parse(write(score)).tempo_bpm == 100 / 3


class Counted(Fraction):
    """An offset that counts how often it is compared."""

    comparisons = 0

    def __lt__(self, other: float | Decimal | Real) -> bool:
        Counted.comparisons += 1
        return super().__lt__(other)

    def __gt__(self, other: float | Decimal | Real) -> bool:
        Counted.comparisons += 1
        return super().__gt__(other)


def test_many_chords_in_a_bar_are_placed_in_one_walk() -> None:
    count = 4_000
    note = Note((Pitch("C", 4),), Fraction(1, 64))
    chords = tuple(ChordSymbol("C", Counted(place, 64)) for place in range(count))

    pieces = divided(Bar((note,) * count, chords))

    assert [text for _, text in pieces] == ["C"] * count
    assert Counted.comparisons < 40 * count
