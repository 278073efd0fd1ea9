"""Stretches without spaces are cut where words end, and nothing of them is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.speech.chunks import cut


@pytest.mark.parametrize(
    "chunk", ["cat", "mother-in-law's", "state-of-the-art.", "$1,234,567.89", "", "“U.S.A.,”"]
)
def test_what_people_write_is_one_piece(chunk: str) -> None:
    assert cut(chunk) == [chunk]


@pytest.mark.parametrize(
    "unit", ["a-.", "a@", "1/2/", "a@a.", "‘’a", "and/or/", "aB", "1,", "9", "\u0301", "😀"]
)
def test_a_long_stretch_is_cut_into_short_pieces(unit: str) -> None:
    pieces = cut(unit * 100)
    assert len(pieces) > 1
    assert max(map(len, pieces)) <= 36


def test_words_stay_whole() -> None:
    assert cut("one/two/three/four/five/six/seven/eight") == ["one/two/three/four/five/six/", "seven/eight"]


@given(chunk=st.text(alphabet="abAB19.,-/@'é", max_size=80))
def test_only_hyphens_are_left_out(chunk: str) -> None:
    pieces = cut(chunk)
    assert re.sub("-", "", "".join(pieces)) == re.sub("-", "", chunk)
