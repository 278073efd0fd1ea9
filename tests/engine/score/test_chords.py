"""Chord symbols."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.score import Chord, is_silence, read_chord
from engine.score.chords import is_chord_symbol

QUALITIES = {
    "": "0 4 7",
    "maj": "0 4 7",
    "M": "0 4 7",
    "m": "0 3 7",
    "min": "0 3 7",
    "-": "0 3 7",
    "mi": "0 3 7",
    "minor": "0 3 7",
    "dim": "0 3 6",
    "°": "0 3 6",
    "o": "0 3 6",
    "aug": "0 4 8",
    "+": "0 4 8",
    "5": "0 7",
    "6": "0 4 7 9",
    "m6": "0 3 7 9",
    "6/9": "0 4 7 9 14",
    "69": "0 4 7 9 14",
    "m6/9": "0 3 7 9 14",
    "m69": "0 3 7 9 14",
    "7": "0 4 7 10",
    "dom7": "0 4 7 10",
    "maj7": "0 4 7 11",
    "Maj7": "0 4 7 11",
    "M7": "0 4 7 11",
    "ma7": "0 4 7 11",
    "Δ": "0 4 7 11",
    "Δ7": "0 4 7 11",
    "^7": "0 4 7 11",
    "m7": "0 3 7 10",
    "min7": "0 3 7 10",
    "-7": "0 3 7 10",
    "mMaj7": "0 3 7 11",
    "m(maj7)": "0 3 7 11",
    "mM7": "0 3 7 11",
    "mmaj9": "0 3 7 11 14",
    "m7b5": "0 3 6 10",
    "ø": "0 3 6 10",
    "ø7": "0 3 6 10",
    "m7♭5": "0 3 6 10",
    "dim7": "0 3 6 9",
    "°7": "0 3 6 9",
    "o7": "0 3 6 9",
    "+7": "0 4 8 10",
    "aug7": "0 4 8 10",
    "7#5": "0 4 8 10",
    "7+": "0 4 8 10",
    "augmaj7": "0 4 8 11",
    "maj7#5": "0 4 8 11",
    "9": "0 4 7 10 14",
    "maj9": "0 4 7 11 14",
    "m9": "0 3 7 10 14",
    "11": "0 4 7 10 14 17",
    "m11": "0 3 7 10 14 17",
    "maj11": "0 4 7 11 14 17",
    "13": "0 4 7 10 14 21",
    "m13": "0 3 7 10 14 21",
    "maj13": "0 4 7 11 14 21",
    "sus": "0 5 7",
    "sus2": "0 2 7",
    "sus4": "0 5 7",
    "7sus": "0 5 7 10",
    "7sus4": "0 5 7 10",
    "7sus2": "0 2 7 10",
    "9sus": "0 5 7 10 14",
    "9sus4": "0 5 7 10 14",
    "13sus": "0 5 7 10 14 21",
    "13sus4": "0 5 7 10 14 21",
    "m7sus4": "0 5 7 10",
    "maj7sus2": "0 2 7 11",
    "add9": "0 4 7 14",
    "(add9)": "0 4 7 14",
    "madd9": "0 3 7 14",
    "add2": "0 4 7 14",
    "add4": "0 4 7 17",
    "add11": "0 4 7 17",
    "add13": "0 4 7 21",
    "6add9": "0 4 7 9 14",
    "7b9": "0 4 7 10 13",
    "7#9": "0 4 7 10 15",
    "7(#9)": "0 4 7 10 15",
    "7-9": "0 4 7 10 13",
    "7+9": "0 4 7 10 15",
    "7#11": "0 4 7 10 18",
    "7b13": "0 4 7 10 20",
    "9#11": "0 4 7 10 14 18",
    "9b9": "0 4 7 10 13",
    "7b5": "0 4 6 10",
    "7b5b9": "0 4 6 10 13",
    "7b9,#11": "0 4 7 10 13 18",
    "maj7#11": "0 4 7 11 18",
    "7alt": "0 4 8 10 13 15",
    "alt": "0 4 8 10 13 15",
    "no3": "0 7",
    "7no5": "0 4 10",
    "m(omit5)": "0 3",
    "7maj9": "0 4 7 11 14",
    "sus4maj7": "0 5 7 11",
    "add7": "0 4 7 10",
    "m11no9": "0 3 7 10 17",
    "9no7": "0 4 7 14",
    "m13no13": "0 3 7 10 14",
    "6no6": "0 4 7",
}


@pytest.mark.parametrize(("quality", "intervals"), QUALITIES.items())
def test_quality(quality: str, intervals: str) -> None:
    assert read_chord("C" + quality) == Chord(0, tuple(map(int, intervals.split())), 0)
    assert read_chord("Bb" + quality + "/D") == Chord(10, tuple(map(int, intervals.split())), 2)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("C", 0),
        ("D", 2),
        ("E", 4),
        ("F", 5),
        ("G", 7),
        ("A", 9),
        ("B", 11),
        ("C#", 1),
        ("Db", 1),
        ("F♯", 6),
        ("B♭", 10),
        ("Cb", 11),
        ("B#", 0),
        ("F##", 7),
        ("Bbb", 9),
    ],
)
def test_root(text: str, root: int) -> None:
    assert read_chord(text) == Chord(root, (0, 4, 7), root)


@pytest.mark.parametrize(
    ("text", "bass"),
    [
        ("Am7/G", 7),
        ("C/E", 4),
        ("D/f#", 6),
        ("Gm/Bb", 10),
        ("C6/9", 0),
        ("C6/9/G", 7),
        ("F/A♭", 8),
        ("C/B#", 0),
        ("C/Cb", 11),
        ("Em", 4),
    ],
)
def test_bass(text: str, bass: int) -> None:
    chord = read_chord(text)

    assert chord is not None
    assert chord.bass == bass


@pytest.mark.parametrize(
    ("text", "third"),
    [("C7?", 4), ("Cm7?", 3), ("C99", 4), ("Cmaj7xx", 4), ("Csus47*", 4), ("C7b12", 4), ("C/", 4)],
)
def test_unknown_quality_is_the_triad_of_its_root(text: str, third: int) -> None:
    assert read_chord(text) == Chord(0, (0, third, 7), 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "H",
        "h7",
        "am",
        "Fine",
        "D.C.",
        "D.S. al Coda",
        "Chorus",
        "Bridge",
        "Allegro",
        "1.",
        "^x",
        "Cello",
        "Guitar",
        "Ex:",
    ],
)
def test_words_are_no_chords(text: str) -> None:
    assert read_chord(text) is None
    assert not is_chord_symbol(text)


@pytest.mark.parametrize("text", ["N.C.", "NC", "n.c.", "N.C", "(N.C.)", "No chord", "N", "N. C."])
def test_silence(text: str) -> None:
    assert is_silence(text)
    assert is_chord_symbol(text)


def test_other_text_is_no_silence() -> None:
    assert not is_silence("Nine")
    assert not is_silence("")
    assert is_chord_symbol("Em7")
    assert not is_chord_symbol("C" + "7" * 32)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20) | st.text("CGmaj7bsu#49+-øΔ/()d", max_size=12).map(lambda rest: "A" + rest))
def test_any_text_is_a_chord_or_none(text: str) -> None:
    chord = read_chord(text)

    assert chord is None or (
        0 <= chord.root < 12
        and 0 <= chord.bass < 12
        and chord.intervals == tuple(sorted(set(chord.intervals)))
    )
