"""Bars shared out among sections."""

from itertools import accumulate, combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sketch.sharing import rising, shared_out

SECTIONS = st.lists(st.tuples(st.floats(0.5, 60), st.integers(1, 40)), min_size=1, max_size=12)


def test_what_is_wanted_is_given_where_there_is_room() -> None:
    assert shared_out([4, 8, 4], [1, 4, 2], 16) == [4, 8, 4]


def test_what_is_needed_comes_before_what_is_wanted() -> None:
    assert shared_out([4, 4, 8], [8, 1, 1], 16) == [8, 1, 7]


def test_more_than_the_budget_is_asked_only_where_it_is_needed() -> None:
    assert shared_out([4, 4], [6, 5], 8) == [6, 5]
    assert shared_out([40, 40], [1, 1], 8) == [4, 4]


@given(sections=SECTIONS, budget=st.integers(1, 400))
def test_nobody_gets_less_than_is_needed_and_all_get_what_there_is(
    sections: list[tuple[float, int]], budget: int
) -> None:
    wanted, needed = [want for want, _ in sections], [need for _, need in sections]
    bars = shared_out(wanted, needed, budget)
    assert all(got >= need for got, need in zip(bars, needed, strict=True))
    assert sum(bars) <= max(sum(needed), min(budget, max(1, round(sum(wanted)))))


def missed(bars: list[int], wanted: list[float]) -> float:
    """The sum of squares by which boundaries miss those that are wanted; the end is where it is."""
    scale = sum(bars) / sum(wanted) if sum(wanted) >= sum(bars) + 1 else 1
    ends = list(zip(accumulate(bars), accumulate(wanted), strict=True))[:-1]
    return sum((got - want * scale) ** 2 for got, want in ends)


@given(
    sections=st.lists(st.tuples(st.floats(0.5, 6), st.integers(1, 4)), min_size=1, max_size=4),
    budget=st.integers(1, 12),
)
def test_no_other_division_has_its_boundaries_nearer(sections: list[tuple[float, int]], budget: int) -> None:
    wanted, needed = [want for want, _ in sections], [need for _, need in sections]
    bars = shared_out(wanted, needed, budget)
    total = sum(bars)
    others = [
        [stop - start for start, stop in pairwise((0, *inner, total))]
        for inner in combinations(range(1, total), len(sections) - 1)
    ]
    possible = [
        other for other in others if all(got >= need for got, need in zip(other, needed, strict=True))
    ]
    assert missed(bars, wanted) == pytest.approx(min(missed(other, wanted) for other in possible))


def test_sections_begin_where_they_should_however_many_came_before() -> None:
    assert list(accumulate(shared_out([2.4] * 10, [1] * 10, 24))) == [2, 5, 7, 10, 12, 14, 17, 19, 22, 24]


def test_a_section_that_needs_more_than_its_time_begins_early_and_ends_late() -> None:
    assert shared_out([8, 2, 8], [1, 8, 1], 18) == [5, 8, 5]


def test_what_falls_is_pooled() -> None:
    assert rising([1, 3, 2, 2, 5, 4]) == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 4.5, 4.5])
    assert rising([]) == []
