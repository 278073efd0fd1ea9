"""Melodies keep their idea, meet the harmony and stay in range."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.harmony import STEPS, read_chord, read_key
from engine.sketch.melody import RANGES, chord_positions, draw_motif, pitch_line, spelled
from engine.sketch.rhythm import Grid

GRID = Grid((4, 4), 100)
KEY = read_key("C")
CHORDS = [read_chord(numeral, KEY) for numeral in ("I", "V")]
STARTS = [0, 2, 4, 6, 8, 12, 16]
SPANS = [2, 2, 2, 2, 4, 4, 8]


def line(seed: int, starts: list[int], spans: list[int], goal: str = "") -> list[int]:
    motif = draw_motif(Random(seed), GRID, 0.5)
    return pitch_line(motif, GRID, starts, spans, lambda step: CHORDS[step // 16], RANGES["middle"], goal)


def test_the_same_dice_draw_the_same_idea() -> None:
    assert draw_motif(Random(3), GRID, 0.5) == draw_motif(Random(3), GRID, 0.5)
    assert draw_motif(Random(3), GRID, 0.5) != draw_motif(Random(4), GRID, 0.5)


def test_fewer_words_keep_the_line() -> None:
    full = dict(zip(STARTS, line(1, STARTS, SPANS), strict=True))
    fewer = line(1, [0, 4, 8, 16], [4, 4, 4, 8])
    assert fewer == [full[0], full[4], full[8], full[16]]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["", "G", "B"]))
def test_strong_places_carry_chord_tones_and_the_rest_moves_by_small_steps(seed: int, goal: str) -> None:
    positions = line(seed, STARTS, SPANS, goal)
    low, high = RANGES["middle"]
    assert all(low <= position <= high for position in positions)
    for start, position in zip(STARTS, positions, strict=True):
        if start % 8 == 0:
            assert STEPS[position % 7] in CHORDS[start // 16].tones
    assert all(abs(after - before) <= 5 for before, after in pairwise(positions))
    if goal:
        assert STEPS[positions[-1] % 7] == goal


def test_a_long_note_between_strong_places_is_a_chord_tone() -> None:
    for seed in range(20):
        positions = line(seed, [0, 10, 16], [8, 6, 8])
        assert STEPS[positions[1] % 7] in CHORDS[0].tones


def test_chord_positions_ascend_within_bounds() -> None:
    assert [STEPS[position % 7] for position in chord_positions(CHORDS[0], (28, 35))] == ["C", "E", "G", "C"]


@pytest.mark.parametrize(("numeral", "spelling"), [("V", ("G", 4, 1)), ("i", ("G", 4, 0))])
def test_the_leading_tone_comes_with_the_dominant(numeral: str, spelling: tuple[str, int, int]) -> None:
    key = read_key("Am")
    assert spelled(32, read_chord(numeral, key), key) == spelling


def test_the_sixth_degree_rises_beside_the_leading_tone() -> None:
    key = read_key("Am")
    assert spelled(31, read_chord("V", key), key) == ("F", 4, 1)
    assert spelled(31, read_chord("i", key), key) == ("F", 4, 0)
    assert spelled(31, read_chord("V", read_key("A")), read_key("A")) == ("F", 4, 1)
