"""Distances between made-up genres."""

import numpy as np
import pytest

from bench.sound.genres import on_a_map, separation, standardised, told_apart


def crowd(spread: float) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], list[str]]:
    """Three genres of four songs each, of eight features, whose middles are some way apart."""
    draw = np.random.default_rng(3)
    middles = draw.standard_normal((3, 8)) * 5
    songs = np.repeat(middles, 4, axis=0) + spread * draw.standard_normal((12, 8))
    return songs, [name for name in ("folk", "jazz", "metal") for _ in range(4)]


def test_genres_that_are_apart_are_told_apart() -> None:
    songs, names = crowd(0.3)
    assert told_apart(songs, names) == {"folk": 1.0, "jazz": 1.0, "metal": 1.0}
    assert separation(songs, names) > 5


def test_genres_that_are_one_crowd_are_not() -> None:
    songs, names = crowd(100.0)
    assert np.mean(list(told_apart(songs, names).values())) < 0.8
    assert separation(songs, names) < 3


def test_every_feature_counts_alike() -> None:
    songs, _ = crowd(1.0)
    assert standardised(songs * np.arange(1, 9)).std(axis=0) == pytest.approx(np.ones(8))


def test_a_map_keeps_crowds_together() -> None:
    songs, names = crowd(0.1)
    drawn = on_a_map(songs)
    assert drawn.shape == (12, 2)
    assert separation(drawn, names) > 5


def test_a_map_is_not_turned_by_chance() -> None:
    songs, _ = crowd(0.1)
    assert (on_a_map(songs)[0] <= 0).all()
    assert on_a_map(songs) == pytest.approx(on_a_map(songs.copy(order="F")))
