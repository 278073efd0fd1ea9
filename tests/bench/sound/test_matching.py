"""Words understood."""

import pytest

from bench.sound.matching import NOTHING, Match, match, words_of


def test_words_are_compared_without_marks_and_capitals() -> None:
    assert words_of("“Don’t,” she said – twice!") == ["don't", "she", "said", "twice"]


@pytest.mark.parametrize(
    ("said", "heard", "expected"),
    [
        ("the sea is calm", "The sea is calm.", Match(4, 4, 0, 0, 0)),
        ("the sea is calm", "the sea calm", Match(4, 3, 0, 1, 0)),
        ("the sea is calm", "the tea is so calm", Match(4, 3, 1, 0, 1)),
        ("the sea", "", Match(2, 0, 0, 2, 0)),
        ("", "well", Match(0, 0, 0, 0, 1)),
    ],
)
def test_faults_are_counted(said: str, heard: str, expected: Match) -> None:
    assert match(said, heard) == expected


def test_rates_are_by_the_words_said() -> None:
    both = match("the sea is calm", "the tea is so calm") + match("come home", "come home")
    assert both.error == pytest.approx(2 / 6)
    assert both.recognised == pytest.approx(5 / 6)
    assert (NOTHING.error, NOTHING.recognised) == (0.0, 0.0)
