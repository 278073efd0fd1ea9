"""The rows of download: best rates, largest growth."""

from bench.download import GROWTH_BAR, IDLE_BAR, growth_rows, rates_rows


def test_the_largest_growth_is_held_against_the_bar() -> None:
    (row,) = growth_rows({"growth": [1.0, GROWTH_BAR.limit + 1, 2.0]})
    assert row.value == GROWTH_BAR.limit + 1
    assert row.missed


def test_the_best_rates_are_compared() -> None:
    *_, share = rates_rows("idle", {"bare": [900.0, 1000.0], "product": [850.0, 100.0]}, IDLE_BAR)
    assert share.value == 0.85
    assert not share.missed
