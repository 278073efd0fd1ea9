"""Scores moved by semitones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidRequest
from engine.score import Score, parse, transpose, write
from tests.engine.score.strategies import dialect_scores
from tests.engine.score.tunes import heard, tune


def moved(body: str, semitones: int, key: str = "C") -> str:
    return (
        write(transpose(parse(tune(body, key=key)), semitones))
        .split("Q:1/4=120\nV: 1 clef=treble\n")[1]
        .replace("V: 1\n", "")
        .strip()
    )


@pytest.mark.parametrize(
    ("key", "semitones", "body", "written"),
    [
        ("C", 2, "CDEFGABc|", "K:D\nDEFGABcd|"),
        ("C", 3, "CDEFGABc|", "K:Eb\nEFGABcde|"),
        ("C", 1, "CE^F|", "K:Db\nDF=G|"),
        ("C", -1, "CE|", "K:B\nB,D|"),
        ("C", 12, "CE|", "K:C\nce|"),
        ("Em", 1, "E^D|", "K:Fm\nF=E|"),
        ("Em", -2, "E^D|", "K:Dm\nD^C|"),
        ("G", -6, "GF|", "K:Db\nDC|"),
        ("D mix", 2, "DC|", "K:Emix\nED|"),
        ("A dor", 3, "AF|", "K:Cdor\ncA|"),
        ("none", 2, "CE|", "K:none\nD^F|"),
        ("HP", 2, "AF|", "K:none\nB^G|"),
        ("C", 2, "[K:F]B{e}z|", "K:D\n[K:G]cz|"),
        ("C", 0, "C|", "K:C\nC|"),
    ],
)
def test_notes_and_key_move_together(key: str, semitones: int, body: str, written: str) -> None:
    assert moved(body, semitones, key) == written


@pytest.mark.parametrize(
    ("chord", "semitones", "name"),
    [
        ("C", 2, "D"),
        ("Am7/G", 3, "Cm7/Bb"),
        ("F#m7b5", 2, "G#m7b5"),
        ("N.C.", 2, "N.C."),
        ("C6/9", 2, "D6/9"),
        ("Bb/D", 5, "Eb/G"),
    ],
)
def test_chord_symbols_move_too(chord: str, semitones: int, name: str) -> None:
    score = transpose(parse(tune(f'"{chord}"C8|')), semitones)

    assert score.voices[0].bars[0].chords[0].text == name


@settings(max_examples=12, deadline=None)
@given(dialect_scores(), st.integers(-24, 24))
def test_every_note_moves_by_the_same_interval(score: Score, semitones: int) -> None:
    raised = heard(transpose(score, semitones))

    assert raised == [(midi + semitones, start, end) for midi, start, end in heard(score)]
    assert heard(parse(write(transpose(score, semitones)))) == raised


def test_note_beyond_midi_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="fewer semitones"):
        transpose(parse(tune("C8|")), 68)
