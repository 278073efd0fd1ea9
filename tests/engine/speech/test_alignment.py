"""Spoken words find the written ones that they stand for."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.alignment import shared_out

WORDS = st.lists(st.sampled_from(["a", "b", "5", "km", "kilometers", "-", "!"]), max_size=12)


def shares(written: str, spoken: str) -> list[list[str]]:
    said = spoken.split()
    return [said[part.start : part.stop] for part in shared_out(written.split(), said)]


def test_a_word_that_both_have_is_its_own() -> None:
    assert shares("run 5 km now", "run 5 kilometers now") == [["run"], ["5"], ["kilometers"], ["now"]]


def test_a_number_takes_all_its_words() -> None:
    assert shares("at 7:30 he", "at seven thirty he") == [["at"], ["seven", "thirty"], ["he"]]


def test_words_rewritten_together_share_what_came_out() -> None:
    assert shares("on 1 Jan. so", "on the first of January so") == [
        ["on"],
        ["the", "first"],
        ["of", "January"],
        ["so"],
    ]


def test_what_is_left_out_gets_nothing() -> None:
    assert shares("a * b", "a b") == [["a"], [], ["b"]]


def test_punctuation_gets_nothing_as_long_as_there_are_words() -> None:
    assert shares("- x", "ex why") == [[], ["ex", "why"]]


def test_nothing_written_takes_nothing() -> None:
    assert shared_out([], ["a"]) == []


@settings(max_examples=60)
@given(written=WORDS, spoken=WORDS)
def test_every_spoken_word_is_somebodys_once_and_in_order(written: list[str], spoken: list[str]) -> None:
    given_out = [place for part in shared_out(written, spoken) for place in part]
    assert given_out == (list(range(len(spoken))) if written else [])
