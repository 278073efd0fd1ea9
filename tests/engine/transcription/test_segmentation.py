"""Tokens cut into segments."""

import pytest

from engine.transcription.segmentation import Piece, pieces

ZERO = 1_000  # the token of 0 s


def at(seconds: float) -> int:
    return ZERO + round(seconds * 50)


def test_a_pair_of_timestamps_ends_a_segment_and_begins_the_next() -> None:
    tokens = [at(0), 1, 2, at(3), at(3.5), 3, at(6)]
    assert pieces(tokens, ZERO, 8.0, whole=True) == ([Piece(0.0, 3.0, (1, 2)), Piece(3.5, 6.0, (3,))], 8.0)


def test_text_without_timestamps_lasts_to_the_end() -> None:
    assert pieces([at(0), 1, 2], ZERO, 4.0, whole=True) == ([Piece(0.0, 4.0, (1, 2))], 4.0)
    assert pieces([1, 2], ZERO, 4.0, whole=True) == ([Piece(0.0, 4.0, (1, 2))], 4.0)


def test_nothing_is_no_segment() -> None:
    assert pieces([], ZERO, 4.0, whole=True) == ([], 4.0)
    assert pieces([at(0), at(4)], ZERO, 4.0, whole=True) == ([], 4.0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_pair_at_the_end_says_that_there_is_more(whole: bool) -> None:
    tokens = [at(0), 1, at(20), at(20)]
    assert pieces(tokens, ZERO, 30.0, whole=whole) == ([Piece(0.0, 20.0, (1,))], 20.0)


def test_what_is_unfinished_is_heard_again_only_after_a_cut_in_mid_speech() -> None:
    tokens = [at(0), 1, at(20), at(20), 2, 3]
    assert pieces(tokens, ZERO, 30.0, whole=False) == ([Piece(0.0, 20.0, (1,))], 20.0)
    assert pieces(tokens, ZERO, 30.0, whole=True)[1] == 30.0


def test_a_window_is_never_written_down_in_tiny_steps() -> None:
    tokens = [at(0), 1, at(2), at(2), 2]
    assert pieces(tokens, ZERO, 30.0, whole=False) == (
        [Piece(0.0, 2.0, (1,)), Piece(2.0, 30.0, (2,))],
        30.0,
    )


def test_the_next_window_may_begin_five_seconds_after_this_one() -> None:
    tokens = [at(0), 1, at(6), at(6), 2]
    assert pieces(tokens, ZERO, 30.0, whole=False) == ([Piece(0.0, 6.0, (1,))], 6.0)


def test_times_beyond_the_window_end_with_it() -> None:
    assert pieces([at(0), 1, at(9)], ZERO, 4.0, whole=True)[0] == [Piece(0.0, 4.0, (1,))]
