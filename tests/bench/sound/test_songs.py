"""The songs that are measured."""

import numpy as np
import pytest

from bench.sound.songs import GENRES, LYRICS, Song
from engine.sketch.lyrics import read_lyrics
from engine.sketch.style import read_style


def test_genres_are_fifteen_and_each_is_one_that_the_band_knows() -> None:
    assert len({read_style(genre).genre.name for genre in GENRES}) == len(GENRES) == 15


@pytest.mark.parametrize("lyrics", LYRICS)
def test_words_have_two_verses_and_a_chorus_that_comes_back(lyrics: str) -> None:
    verse, chorus, second, again = read_lyrics(lyrics)
    assert [verse.name, chorus.name, second.name] == ["verse", "chorus", "verse"]
    assert chorus.lines == again.lines
    assert verse.lines != second.lines


@pytest.mark.runtime
def test_a_song_is_its_mix_its_voice_and_its_words(song: Song) -> None:
    assert song.samples.shape == (len(song.voice), 2)
    assert float(np.abs(song.voice).max()) > 0
    assert song.lyrics(0.0) == ""
    assert len(song.lyrics(30.0).split()) < len(song.lyrics(1000.0).split())
