"""Numbers and signs are sung as words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.lyrics import read_line
from engine.sketch.spoken import spoken


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("$5 for Dr. Smith on 12/25", "five dollars for Dr. Smith on December twenty fifth"),
        ("Don't stop & go", "Don't stop and go"),
        ("50% off, 24/7", "fifty percent off, twenty four seven"),
        ("It costs £3.99, or €1", "It costs three pounds and ninety nine pence, or one euro"),
        ("My #1 song of 1985", "My number one song of nineteen eighty five"),
        ("(the 22nd of May, 2003)", "(the twenty second of May, two thousand three)"),
        ("back in the '80s", "back in the eighties"),
        ("the 1920s", "the nineteen twenties"),
        ("100,000 nights, 1,000 miles", "one hundred thousand nights, one thousand miles"),
        ("3.5 and 1/2 and 1905", "three point five and one half and nineteen oh five"),
        ("007", "zero zero seven"),
        ("me + you = us", "me plus you equals us"),
        ("20th century", "twentieth century"),
        ("2000 miles", "two thousand miles"),
    ],
)
def test_numbers_and_signs_become_words(line: str, words: str) -> None:
    assert spoken(line) == words


@pytest.mark.parametrize("line", ["Rain on the window", "2024年", "привет", "Dr. Smith", ""])
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert spoken(line) == line


def test_each_syllable_that_is_said_has_its_note() -> None:
    said = [part.text for part in read_line("$5 & 12/25").syllables]
    assert said == ["five", "dol", "lars", "and", "De", "cem", "ber", "twen", "ty", "fifth"]


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("0123456789$£%&+#@=/,.'-sth ab"), max_size=30))
def test_any_line_can_be_said(line: str) -> None:
    assert isinstance(spoken(line), str)


@settings(deadline=None)
@given(st.integers(0, 10**15))
def test_any_number_is_said_in_words(number: int) -> None:
    assert not any(letter.isdigit() for letter in spoken(str(number)))
