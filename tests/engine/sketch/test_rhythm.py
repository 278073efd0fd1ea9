"""Syllables find their places on the grid of any meter."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.rhythm import ANCHORS, Grid, anticipated, lengths, onsets
from engine.sketch.vocabulary import METERS

GRIDS = st.builds(Grid, st.sampled_from(sorted(METERS)), st.floats(40, 220))


def test_every_meter_has_anchors_that_begin_the_bar() -> None:
    assert ANCHORS.keys() == METERS
    assert all(anchors[0] == 0 and max(anchors) < Grid(meter, 100).bar for meter, anchors in ANCHORS.items())


@pytest.mark.parametrize(
    ("meter", "bar", "beat"),
    [((4, 4), 16, 4), ((3, 4), 12, 4), ((6, 8), 12, 6), ((3, 8), 6, 2), ((7, 8), 14, 4)],
)
def test_bars_and_beats_in_sixteenths(meter: tuple[int, int], bar: int, beat: int) -> None:
    grid = Grid(meter, 120)
    assert (grid.bar, grid.beat) == (bar, beat)
    assert grid.bar_seconds == pytest.approx(bar / 8)


def test_heavy_places_pull_more() -> None:
    grid = Grid((4, 4), 100)
    assert [grid.strength(step) for step in (0, 8, 4, 2, 1)] == sorted(
        (grid.strength(s) for s in (0, 8, 4, 2, 1)), reverse=True
    )


def test_eight_syllables_fill_a_bar_and_land_on_the_next() -> None:
    grid = Grid((4, 4), 90)
    weights = [grid.strength(step) for step in range(32)]
    assert onsets(grid, 9, 2, weights, upbeat=False, closing=False) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert onsets(grid, 5, 2, weights, upbeat=False, closing=False) == [0, 4, 8, 12, 16]


def test_an_upbeat_leaves_the_bar_line_empty() -> None:
    grid = Grid((4, 4), 90)
    weights = [grid.strength(step) for step in range(32)]
    assert onsets(grid, 6, 2, weights, upbeat=True, closing=False)[0] == 2


def test_a_closing_phrase_ends_in_its_last_bar() -> None:
    grid = Grid((4, 4), 160)
    weights = [grid.strength(step) for step in range(64)]
    assert onsets(grid, 4, 4, weights, upbeat=False, closing=False)[-1] == 24
    assert onsets(grid, 4, 4, weights, upbeat=False, closing=True)[-1] == 48


@settings(max_examples=60, deadline=None)
@given(GRIDS, st.sampled_from([1, 2, 4]), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_any_number_within_capacity_is_placed(
    grid: Grid, bars: int, hurried: bool, upbeat: bool, closing: bool, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, grid.capacity(bars, hurried=hurried)))
    weights = [grid.strength(step) for step in range(bars * grid.bar)]
    starts = onsets(grid, count, bars, weights, upbeat=upbeat, closing=closing)
    assert len(starts) == count
    assert starts == sorted(set(starts))
    for hold in (False, True):
        spans = lengths(grid, starts, bars, hold=hold)
        ends = [start + span for start, span in zip(starts, spans, strict=True)]
        assert min(spans) >= 1
        assert all(end <= after for end, after in zip(ends, [*starts[1:], bars * grid.bar], strict=True))
    assert ends[-1] == bars * grid.bar


def test_stressed_syllables_fall_on_strong_places() -> None:
    grid = Grid((4, 4), 90)
    flat = [grid.strength(step) for step in range(32)]
    weak, strong = 0.0, 1.0
    # "the ROSE has CLOSED its WEA-ry EYES" against the same number of syllables that begin with the strong one
    iambs = onsets(grid, 8, 2, flat, upbeat=False, closing=False, stresses=[weak, strong] * 4)
    trochees = onsets(grid, 7, 2, flat, upbeat=False, closing=False, stresses=[strong, weak] * 3 + [strong])
    assert all(grid.strength(place) >= 3 for place in [*iambs[1::2], *trochees[0::2]])
    assert all(grid.strength(place) < 3 for place in [*iambs[0::2], *trochees[1::2]])


def test_a_last_syllable_without_stress_follows_the_strong_place() -> None:
    grid = Grid((4, 4), 90)
    flat = [grid.strength(step) for step in range(32)]
    starts = onsets(grid, 4, 2, flat, upbeat=False, closing=False, stresses=[0.0, 1.0, 1.0, 0.0])
    assert starts[-2] in grid.strong_places(2)
    assert starts[-1] == starts[-2] + grid.beat


@pytest.mark.parametrize("tempo", [90, 120, 150, 220])
def test_no_syllable_is_too_short_to_be_understood(tempo: float) -> None:
    grid = Grid((4, 4), tempo)
    count = grid.capacity(2, hurried=True)
    starts = onsets(grid, count, 2, [1.0] * 32, upbeat=False, closing=False)
    assert min(after - before for before, after in pairwise(starts)) * grid.step_seconds >= 0.13


def test_syllables_without_stress_are_short_and_slow_lines_end_sooner() -> None:
    grid = Grid((4, 4), 90)
    flat = [grid.strength(step) for step in range(32)]
    starts = onsets(grid, 6, 2, flat, upbeat=False, closing=False, stresses=[1.0, 0.0] * 3)
    spans = [after - before for before, after in pairwise(starts)]
    assert max(spans[1::2]) <= min(spans[0::2])
    slow = Grid((3, 4), 60)
    weights = [slow.strength(step) for step in range(24)]
    assert onsets(slow, 4, 2, weights, upbeat=False, closing=False)[-1] * slow.step_seconds <= 3 * 0.75


def test_beats_are_anticipated_by_an_eighth_where_there_is_room() -> None:
    grid, every = Grid((4, 4), 100), [True]
    assert anticipated(grid, [0, 4, 8, 12], every, closing=False) == [0, 2, 6, 10]
    assert anticipated(grid, [0, 6, 8, 10], every, closing=False) == [0, 4, 6, 10]
    assert anticipated(grid, [0, 8], every, closing=True) == [0, 8]
    assert anticipated(grid, [0, 2, 4, 6, 8], every, closing=False) == [0, 2, 4, 6, 8]
    assert anticipated(grid, [0, 8], [True, True, False], closing=False) == [0, 8]
    assert anticipated(Grid((6, 8), 100), [0, 6], every, closing=False) == [0, 6]
