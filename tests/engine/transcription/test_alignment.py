"""Words and when they are heard."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.transcription.alignment import (
    Spelling,
    Stretch,
    timed,
    token_starts,
    with_punctuation,
    within_speech,
)
from engine.words import Word


def test_a_token_begins_where_the_path_first_meets_it() -> None:
    path = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]
    assert token_starts(path, 2, 0.02) == pytest.approx([0.0, 0.06, 0.1])
    assert token_starts([(0, 0), (2, 4)], 2, 0.02) == pytest.approx([0.0, 0.08, 0.08])
    assert token_starts([], 1, 0.02) == [0.0, 0.0]


def test_marks_belong_to_the_word_they_close_or_open() -> None:
    words = [
        Spelling(" “", 1),
        Spelling("Yes", 1),
        Spelling(",", 1),
        Spelling("”", 1),
        Spelling(" he", 1),
        Spelling(" (", 1),
    ]
    assert with_punctuation(words) == [Spelling(" “Yes,”", 4, 2), Spelling(" he", 1), Spelling(" (", 1)]


def test_marks_that_close_a_word_take_no_time() -> None:
    words = [Spelling(" Yes.", 2, 1), Spelling(" No", 1)]
    assert timed(words, [0.0, 0.5, 3.0, 3.4]) == [Word("Yes.", 0.0, 0.5), Word("No", 3.0, 3.4)]


def test_a_word_without_time_gets_that_of_the_marks_before_it_or_a_share() -> None:
    words = [Spelling(" morning,", 2, 1), Spelling(" everyone", 1), Spelling(" else", 1)]
    assert timed(words, [0.0, 0.5, 1.2, 1.2, 2.0])[:2] == [
        Word("morning,", 0.0, 0.5),
        Word("everyone", 0.5, 1.2),
    ]
    first, second = timed([Spelling(" ab", 1), Spelling(" cd", 1)], [0.0, 1.0, 1.0])
    assert (first, second) == (Word("ab", 0.0, 0.5), Word("cd", 0.5, 1.0))


def test_blank_words_are_left_out() -> None:
    assert timed([Spelling(" ", 1), Spelling(" a", 1)], [0.0, 0.1, 0.2]) == [Word("a", 0.1, 0.2)]


def test_a_word_is_cut_to_the_speech_it_overlaps_most() -> None:
    words = [Word("one", 0.0, 1.5), Word("two", 1.5, 5.5), Word("three", 5.5, 9.0)]
    speech = [(0.6, 2.0), (4.0, 6.5)]
    assert within_speech(words, speech, 10.0) == [
        Word("one", 0.6, 1.5),
        Word("two", 4.0, 5.5),
        Word("three", 5.5, 6.5),
    ]


def test_the_first_and_last_word_of_a_stretch_reach_its_ends() -> None:
    words = [Word("one", 1.1, 1.4), Word("two", 1.4, 1.9), Word("three", 3.5, 3.8)]
    assert within_speech(words, [(1.0, 2.0), (3.0, 4.2)], 5.0) == [
        Word("one", 1.0, 1.4),
        Word("two", 1.4, 2.0),
        Word("three", 3.5, 3.8),
    ]


def test_a_word_in_no_speech_stays_but_within_the_limit() -> None:
    assert within_speech([Word("one", 1.0, 9.0)], [], 5.0) == [Word("one", 1.0, 5.0)]


stretches = st.lists(st.floats(0, 30), min_size=2, max_size=8, unique=True).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@given(st.lists(st.floats(0, 30), min_size=2, max_size=20), stretches)
def test_words_stay_in_order_and_do_not_overlap(times: list[float], speech: list[Stretch]) -> None:
    words = [Word("w", start, end) for start, end in pairwise(sorted(times))]
    kept = within_speech(words, speech, 25.0)
    edges = [edge for word in kept for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert max(edges) <= 25.0
