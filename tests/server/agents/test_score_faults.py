"""What is told of a score that is performed although something may not be meant so."""

import pytest

from engine.score import write
from engine.sketch.compose import compose
from engine.sketch.genres import GENRES
from server.agents.guides import guide_text
from server.agents.score_faults import score_faults
from tests.architecture.documents import fenced_blocks

HEAD = "X:1\nM:4/4\nL:1/8\nQ:1/4=92\nV: Vocal\nV: Ins\nK:G\n"


@pytest.mark.parametrize(
    ("abc", "told"),
    [
        (
            f"{HEAD}V: Vocal\nG8|A9|\nV: Ins\nZ2|\n",
            "Shorten bar 2 of Vocal, which is too long: 9/8 where 4/4 fit",
        ),
        (f"{HEAD}V: Vocal\nG8|A4|\nV: Ins\nZ2|\n", "too short, if only with a rest: 2/4 where 4/4 fit"),
        (f"{HEAD}V: Vocal\nG8|A8|\nV: Ins\nZ|\n", "Give both voices the same number of bars"),
        (f"{HEAD}V: Vocal\n|:G8:|\nV: Ins\nZ|\n", "Write repeated bars out"),
        (f"{HEAD}V: Vocal\nG4 A4|\nw: one two three\nV: Ins\nZ|\n", "none is left for “three”"),
        (f"{HEAD}V: Vocal\nG2 A2 B2 A2|\nw: one two\nV: Ins\nZ|\n", "2 notes are left at its end"),
        (f"{HEAD}V: Vocal\nG8|A8|B8|A8|\nV: Ins\nZ3|\n", "there are 4 bars in Vocal, 3 in Ins"),
        ("X:1\nM:4/4\nL:1/8\nK:G\nG8|\n", "Write two voices"),
        ("Once upon a time", "Write the header before the music"),
    ],
)
def test_a_fault_is_told_with_its_place(abc: str, told: str) -> None:
    (note,) = score_faults(abc)
    assert note.startswith("The score is taken as it stands; look at one place in it: ")
    assert told in note
    assert note.endswith(").")
    assert "(line " in note


def test_the_words_and_the_bars_are_told_of_both() -> None:
    words, bars = score_faults(f"{HEAD}V: Vocal\nG4 A4|B8|\nw: one two three four\nV: Ins\nZ|\n")
    assert "“four”" in words
    assert "same number of bars" in bars


@pytest.mark.parametrize("words", ["one * two", "one _ two", "one|two", "on-ly one"])
def test_notes_that_are_meant_to_have_no_words_are_no_fault(words: str) -> None:
    assert score_faults(f"{HEAD}V: Vocal\nG4 z2 A2|B8|\nw: {words}\nV: Ins\nZ2|\n") == ()


@pytest.mark.parametrize("abc", ["", " \n", *fenced_blocks(guide_text("score"), "abc")])
def test_nothing_is_told_of_a_sound_score_or_of_none(abc: str) -> None:
    assert score_faults(abc) == ()


@pytest.mark.parametrize("genre", [genre.name for genre in GENRES])
def test_the_band_writes_sound_scores(genre: str) -> None:
    lyrics = "[Verse]\nLanterns on the water shine\n\n[Chorus]\nCarry me across the sea"
    assert score_faults(write(compose(genre, lyrics, 7, 60.0))) == ()
