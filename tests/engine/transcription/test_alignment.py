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


@pytest.mark.parametrize(
    ("word", "moved"),
    [
        (Word("x", 3.0, 4.0), Word("x", 0.0, 1.0)),
        (Word("x", 3.0, 3.25), Word("x", 0.75, 1.0)),
        (Word("x", 7.0, 8.0), Word("x", 9.0, 10.0)),
        (Word("x", 20.0, 21.0), Word("x", 11.0, 12.0)),
    ],
)
def test_a_word_in_no_speech_is_moved_to_the_next_that_there_is(word: Word, moved: Word) -> None:
    assert within_speech([word], [(0.0, 1.0), (9.0, 12.0)], 30.0) == [moved]


def test_a_word_that_is_moved_gets_its_share_of_the_word_before_it() -> None:
    words = [Word("one", 0.0, 2.0), Word("two", 3.0, 4.0)]
    assert within_speech(words, [(0.0, 2.0)], 9.0) == [Word("one", 0.0, 1.0), Word("two", 1.0, 2.0)]


def test_speech_beyond_the_limit_is_not_for_these_words() -> None:
    words = [Word("one", 0.0, 1.0), Word("two", 6.0, 7.0)]
    assert within_speech(words, [(0.0, 2.0), (6.0, 8.0)], 5.0)[1] == Word("two", 1.0, 2.0)
    assert within_speech([Word("one", 3.0, 6.0)], [(2.0, 8.0)], 5.0) == [Word("one", 3.0, 5.0)]


def test_a_word_where_nobody_speaks_at_all_stays_but_within_the_limit() -> None:
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
    stretches = [(start, min(stop, 25.0)) for start, stop in speech if start < 25]
    for word in kept if stretches else []:
        assert any(start <= word.start <= word.end <= stop for start, stop in stretches)
