"""Bars shared out among sections."""

from hypothesis import given
from hypothesis import strategies as st

from engine.sketch.sharing import shared_out

SECTIONS = st.lists(st.tuples(st.floats(0.5, 60), st.integers(1, 40)), min_size=1, max_size=12)


def test_what_is_wanted_is_given_where_there_is_room() -> None:
    assert shared_out([4, 8, 4], [1, 4, 2], 16) == [4, 8, 4]


def test_what_is_needed_comes_before_what_is_wanted() -> None:
    assert shared_out([4, 4, 8], [8, 1, 1], 16) == [8, 3, 5]


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
