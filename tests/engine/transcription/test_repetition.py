"""Text that goes round in circles."""

from hypothesis import given
from hypothesis import strategies as st

from engine.transcription.repetition import compression_ratio, without_loops


def test_what_repeats_compresses_well() -> None:
    assert compression_ratio("") == 0.0
    assert compression_ratio("The train left the station at half past eight.") < 1.5
    assert compression_ratio("and so it goes " * 20) > 2.4


def test_loops_are_gone_through_once() -> None:
    assert without_loops([7, *[1, 2, 3] * 9, 8]) == [7, 1, 2, 3, 8]
    assert without_loops([5] * 50) == [5]


def test_what_is_said_three_times_stays() -> None:
    assert without_loops([1, 1, 1, 2, 3, 2, 3, 2, 3]) == [1, 1, 1, 2, 3, 2, 3, 2, 3]


def test_what_is_said_four_times_is_said_once() -> None:
    assert without_loops([1, 1, 1, 1, *[2, 3] * 4]) == [1, 2, 3]


@given(st.lists(st.integers(0, 3), max_size=60))
def test_nothing_new_is_said(tokens: list[int]) -> None:
    kept = without_loops(tokens)
    assert len(kept) <= len(tokens)
    assert set(kept) == set(tokens)
