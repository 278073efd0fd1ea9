"""A real song measured."""

import numpy as np
import pytest

from bench.sound.measures import (
    beats_with_onset,
    hook_recurrence,
    loudness,
    portrait,
    rhythm,
    section_contrast,
)
from bench.sound.songs import Song


@pytest.mark.runtime
def test_beats_begin_with_an_onset_and_rhythm_has_its_places(song: Song) -> None:
    share, milliseconds = beats_with_onset(song)
    assert share >= 0.85
    assert milliseconds <= 12
    assert beats_with_onset(song, 0.05)[0] < 0.3
    assert beats_with_onset(song, 0.05)[1] > 30
    places = rhythm(song)
    assert places.sum() == pytest.approx(1)
    assert places[::4].sum() > places[1::4].sum()


@pytest.mark.runtime
def test_sections_of_one_name_sound_alike_and_the_hook_comes_back(song: Song) -> None:
    same, other = section_contrast(song)
    assert same >= 0.5
    assert same > other + 0.3
    assert hook_recurrence(song.score) >= 0.5


@pytest.mark.runtime
def test_every_song_is_as_loud_as_the_next_and_has_a_portrait(song: Song) -> None:
    integrated, peak = loudness(song)
    assert integrated == pytest.approx(-14, abs=0.5)
    assert peak <= -1
    assert np.isfinite(portrait(song)).all()
