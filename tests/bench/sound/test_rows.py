"""The table of what is heard."""

from bench.sound.__main__ import BARS, rows
from bench.sound.songs import GENRES

GOOD = {
    "cents": [1.0, 2.0, 30.0],
    "alone": [90.0, 70.0],
    "mixed": [80.0] * len(GENRES),
    "beats": [95.0],
    "moved beats": [10.0],
    "distance": [4.0],
    "same": [0.8],
    "other": [0.1],
    "hook": [100.0],
    "loudness": [-14.1, -13.8],
    "told apart": [100.0],
    "separation": [4.0],
    "word errors": [0.5],
    "people word errors": [2.0],
    "phrases": [10.0, 20.0],
}


def test_every_bar_belongs_to_a_row() -> None:
    told = {row.name: row for row in rows(GOOD)}
    assert set(BARS) <= set(told)
    assert not any(row.missed for row in told.values())
    assert told["loudness, furthest from -14 LUFS"].value == 14 - 13.8


def test_one_song_that_is_not_understood_is_enough_to_miss_the_bar() -> None:
    found = rows(GOOD | {"mixed": [100.0] * (len(GENRES) - 1) + [59.0]})
    assert [row.name for row in found if row.missed] == ["words understood, in the mix, worst genre"]


def test_a_song_off_the_beat_misses_its_bars() -> None:
    found = rows(GOOD | {"beats": [84.0], "distance": [13.0]})
    assert len([row for row in found if row.missed]) == 2
