"""What is drawn is what was measured, the same each time."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from bench.sound.measures import bar_similarity
from bench.sound.pictures import (
    apart,
    balance_picture,
    genre_picture,
    pitch_picture,
    similarity_picture,
    words_picture,
)
from bench.sound.singing import Track
from bench.sound.songs import Song
from engine.transcription_model import Transcript

GENRES = ["folk", "folk", "jazz", "jazz", "metal", "metal"]


def portraits() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Two songs each of three genres that are far apart."""
    draw = np.random.default_rng(5)
    return np.repeat(4 * draw.standard_normal((3, 6)), 2, axis=0) + 0.1 * draw.standard_normal((6, 6))


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter() if "text" in element.tag]


def test_genres_are_named_once_and_every_song_has_a_point() -> None:
    drawn = genre_picture(portraits(), GENRES)
    assert drawn.count("<circle") == len(GENRES)
    assert [texts(drawn).count(name) for name in ("folk", "jazz", "metal")] == [1, 1, 1]
    assert drawn == genre_picture(portraits(), GENRES)


def test_names_do_not_cover_each_other() -> None:
    places = apart({"hip hop": (100, 100), "pop": (105, 101), "waltz": (100, 99), "far": (400, 100)})
    assert places["far"] == (400, 92)
    heights = sorted(y for name, (_, y) in places.items() if name != "far")
    assert min(later - earlier for earlier, later in pairwise(heights)) >= 13


def test_names_do_not_cover_points() -> None:
    (_, y) = apart({"pop": (100, 100)}, [(100, 90), (104, 80)])["pop"]
    assert min(abs(y - 4 - 90), abs(y - 4 - 80)) >= 8
    assert apart({"pop": (100, 100)}, [(200, 90)])["pop"] == (100, 92)


def test_balance_is_told_against_the_mean_with_its_bands() -> None:
    drawn = texts(balance_picture({"folk": np.full(5, -10.0), "metal": np.full(5, -6.0)}))
    assert [drawn.count("-2"), drawn.count("+2"), drawn.count("-8 dB")] == [5, 5, 5]
    assert "500 to 2000 Hz" in drawn


def test_a_recording_without_words_is_drawn() -> None:
    silent = Transcript("", "en", 1.0, 12.0, ())
    assert texts(words_picture(np.ones(12_000, np.float32), 1000, silent))[-1] == "seconds"


@pytest.mark.runtime
def test_pitch_and_form_of_a_song_are_drawn(song: Song, track: Track) -> None:
    drawn = pitch_picture(song, track)
    assert drawn.count("<polyline") > 5
    assert "seconds" in texts(drawn)
    alike = bar_similarity(song)
    assert np.diag(alike) == pytest.approx(np.ones(len(alike)))
    assert "chorus" in texts(similarity_picture(song, alike))
