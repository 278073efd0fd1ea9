"""Written words keep their places whatever is said for them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.normalisation import Reading, said

WRITTEN = (
    "7:30 pm $5 million (555) 123-4567 5 km/h 10-20% — -- 2 1/2 II. John Smith III 9:00 - 17:00 x @ a@b.co "
    "https://a.org/b?c **so** [it](x) :) # 1. no. Sun. Mon-Fri 5'10\" IPv4 «é» ½ \u200d 😀 .5 1.0 0 00"
)
TRICKY = st.lists(st.sampled_from(WRITTEN.split(" ")), max_size=12).map(" ".join)


def test_each_written_word_has_what_is_said_for_it() -> None:
    assert said("Go 5 km at 7:30 pm 😀") == (
        Reading("Go", "Go"),
        Reading("5", "5"),
        Reading("km", "kilometers"),
        Reading("at", "at"),
        Reading("7:30", "seven thirty"),
        Reading("pm", "P.M."),
        Reading("😀", ""),
    )


@pytest.mark.parametrize("dash", ["—", "--", "–"])
def test_words_on_both_sides_of_a_dash_are_two(dash: str) -> None:
    assert [word.written for word in said(f"well{dash}known")] == [f"well{dash}", "known"]


@settings(max_examples=60)
@given(line=st.text(max_size=60) | TRICKY)
def test_no_word_is_lost_and_none_moves(line: str) -> None:
    words = said(line)
    assert re.sub(r"\s", "", "".join(word.written for word in words)) == re.sub(r"\s", "", line)
    assert all(word.written and not re.search(r"\s", word.written) for word in words)


@pytest.mark.parametrize("unit", ["a.", "a-", "x.com", "1,", "[", "no.", "http://a", "‘a"])
def test_endless_words_are_gone_through_at_once(unit: str) -> None:
    (word,) = said((unit * 5000)[:5000])
    assert len(word.written) == 5000
