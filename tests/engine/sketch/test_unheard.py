"""Words that were sent and stay unsung."""

import pytest

from engine.control import Uncontrolled
from engine.request import read_song
from engine.score import write
from engine.sketch.compose import compose
from engine.sketch.pipeline import SketchModel
from engine.sketch.unheard import unheard

HEAD = "X:1\nM:4/4\nL:1/4\nK:C\n"
WORDED = f"{HEAD}CDEF|\nw: Car-ry me home\n"
LYRICS = "[Verse]\nCarry me home"


@pytest.mark.parametrize(
    ("style", "lyrics", "abc", "told"),
    [
        ("instrumental, folk", LYRICS, "", "the style says “instrumental”"),
        ("folk, no vocals", "", WORDED, "the style says “no vocals”"),
        ("folk", LYRICS, f"{HEAD}CDEF|\n", "this score has none"),
        ("folk", "[Verse]\nCarry the moon", WORDED, "lack “the”, “moon” of the lyrics"),
        ("folk", "Silver moon over Japan tonight", WORDED, "“silver”, “moon”, “over” and 2 more"),
    ],
)
def test_what_keeps_words_from_being_sung_is_told(style: str, lyrics: str, abc: str, told: str) -> None:
    assert told in unheard(style, lyrics, abc)


@pytest.mark.parametrize(
    ("style", "lyrics", "abc"),
    [
        ("folk", LYRICS, ""),
        ("folk", LYRICS, WORDED),
        ("folk", "[Chorus x2]\nCARRY me -- home!", WORDED),
        ("folk", "", WORDED),
        ("folk", f"{LYRICS}\nCarry me over the water", WORDED),
        ("folk", "[Intro]", f"{HEAD}CDEF|\n"),
        ("instrumental", "", ""),
        ("instrumental", "[Intro]\n\n[Solo]", ""),
        ("instrumental", "", f"{HEAD}CDEF|\n"),
    ],
)
def test_nothing_is_told_where_all_that_can_be_sung_is(style: str, lyrics: str, abc: str) -> None:
    assert unheard(style, lyrics, abc) == ""


def test_a_composed_score_has_the_words_it_was_composed_of() -> None:
    lyrics = (
        "[Verse]\nAt 3 AM we'll meet to-night\nDon't be late (never late)\n\n[Chorus x2]\nÀ la mode, 50% off!"
    )
    assert unheard("folk", lyrics, write(compose("folk", lyrics, 7, 60.0))) == ""


def test_the_band_notes_it() -> None:
    request = read_song({"style": "instrumental, folk", "lyrics": LYRICS, "lm_seed": 7, "seed": 1})
    (note,) = SketchModel().plan(request, Uncontrolled()).notes
    assert "Nobody sings" in note
