"""Stress is guessed from spelling."""

import pytest

from engine.sketch.stress import HALF, STRESSED, UNSTRESSED, stresses
from engine.sketch.syllables import syllables


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("morning", 0), ("river", 0), ("away", 1), ("tonight", 1), ("remember", 1), ("believe", 1), ("nation", 0),
        ("musical", 0), ("celebration", 2), ("electric", 1), ("imagination", 3), ("seventeen", 2), ("myself", 1),
        ("under", 0), ("forest", 0), ("forever", 1), ("guitar", 1), ("horizon", 1),
        ("hallelujah", 2), ("umbrella", 1), ("banana", 1), ("potato", 1), ("california", 2), ("understand", 2),
        ("violin", 2), ("camera", 0), ("america", 1), ("piano", 1),
    ],
)  # fmt: skip
def test_a_word_has_one_main_stress(word: str, place: int) -> None:
    found = stresses(syllables(word))
    assert [at for at, weight in enumerate(found) if weight == STRESSED] == [place]


def test_little_words_have_none_and_great_ones_have() -> None:
    assert stresses(["the"]) == (UNSTRESSED,)
    assert stresses(["stone"]) == (STRESSED,)


def test_other_alphabets_weigh_nothing_either_way() -> None:
    assert stresses(["мо", "ре"]) == (HALF, HALF)
    assert stresses(["東"]) == (HALF,)
