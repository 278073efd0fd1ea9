"""Keys and chords are spelled as they are written."""

import pytest

from engine.score import read_chord as read_symbol
from engine.score.model import SEMITONES
from engine.sketch.genres import GENRES
from engine.sketch.harmony import Cadence, bar_numerals, numeral_root, read_chord, read_key
from engine.sketch.vocabulary import Mode

NAMES = "C G D A E B F# F Bb Eb Ab Db Gb Am Em Bm F#m C#m G#m D#m Dm Gm Cm Fm Bbm Ebm"


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("C", {}),
        ("Am", {}),
        ("D", {"F": 1, "C": 1}),
        ("Bm", {"F": 1, "C": 1}),
        ("Eb", {"B": -1, "E": -1, "A": -1}),
        ("Fm", {"B": -1, "E": -1, "A": -1, "D": -1}),
        ("F#", dict.fromkeys("FCGDAE", 1)),
    ],
)
def test_signatures(name: str, signature: dict[str, int]) -> None:
    assert read_key(name).signature == signature


@pytest.mark.parametrize(
    ("asked", "written"), [("A#", "Bb"), ("G#", "Ab"), ("Dbm", "C#m"), ("Abm", "G#m"), ("Cb", "B")]
)
def test_a_key_with_too_many_signs_is_written_as_its_twin(asked: str, written: str) -> None:
    assert read_key(asked).name == written


@pytest.mark.parametrize(
    ("numeral", "key", "symbol", "tones"),
    [
        ("I", "C", "C", {"C": 0, "E": 0, "G": 0}),
        ("vi", "G", "Em", {"E": 0, "G": 0, "B": 0}),
        ("V", "Am", "E", {"E": 0, "G": 1, "B": 0}),
        ("V7", "Cm", "G7", {"G": 0, "B": 0, "D": 0, "F": 0}),
        ("bVII", "D", "C", {"C": 0, "E": 0, "G": 0}),
        ("iiø", "Gm", "Am7b5", {"A": 0, "C": 0, "E": -1, "G": 0}),
        ("IVmaj7", "E", "Amaj7", {"A": 0, "C": 1, "E": 0, "G": 1}),
        ("III", "F#m", "A", {"A": 0, "C": 1, "E": 0}),
    ],
)
def test_numerals_in_a_key(numeral: str, key: str, symbol: str, tones: dict[str, int]) -> None:
    chord = read_chord(numeral, read_key(key))
    assert (chord.text, chord.tones) == (symbol, tones)


@pytest.mark.parametrize("name", NAMES.split())
def test_symbol_and_tones_are_the_same_chord_in_every_key(name: str) -> None:
    key = read_key(name)
    numerals = {
        numeral
        for genre in GENRES
        for harmony in ([genre.minor] if key.mode == "minor" else [genre.major])
        for progression in (*harmony.verse, *harmony.chorus, *harmony.bridge)
        for numeral in progression.split()
    }
    for numeral in numerals:
        chord = read_chord(numeral, key)
        symbol = read_symbol(chord.text)
        assert symbol is not None
        named = {(symbol.root + interval) % 12 for interval in symbol.intervals}
        assert named == {(SEMITONES[step] + alter) % 12 for step, alter in chord.tones.items()}


def test_what_is_no_numeral_is_refused() -> None:
    with pytest.raises(ValueError, match="write degrees"):
        read_chord("H", read_key("C"))


@pytest.mark.parametrize(
    ("cadence", "mode", "expected"),
    [
        ("open", "major", "I7 IV7 I7 V7 I7 IV7"),
        ("half", "major", "I7 IV7 I7 V7 I7 V7"),
        ("full", "major", "I7 IV7 I7 V7 V7 I7"),
        ("end", "major", "I7 IV7 I7 V7 V7 I"),
        ("end", "minor", "I7 IV7 I7 V7 V7 i"),
    ],
)
def test_cadences(cadence: Cadence, mode: Mode, expected: str) -> None:
    assert bar_numerals("I7 IV7 I7 V7", 6, cadence, mode) == expected.split()


def test_a_cadence_keeps_a_subdominant_that_leads_home() -> None:
    assert bar_numerals("I V IV IV", 4, "full", "major") == ["I", "V", "IV", "I"]
    assert bar_numerals("I V", 1, "end", "major") == ["I"]


def test_the_degree_of_a_numeral() -> None:
    assert [numeral_root(numeral) for numeral in ("V7", "bVII", "iiø", "vi")] == ["V", "bVII", "II", "VI"]
