"""A real song measured: the product's band and singer, and the product's own transcription for ears."""

import numpy as np
import pytest

from bench.sound.measures import (
    bar_similarity,
    beats_with_onset,
    hook_recurrence,
    loudness,
    portrait,
    rhythm,
    section_contrast,
)
from bench.sound.pictures import pitch_picture, similarity_picture
from bench.sound.singing import Track, cents_off, tracked, understood
from bench.sound.songs import Song, Studio
from engine.catalogue import open_catalogue


@pytest.fixture(scope="module")
def song() -> Song:
    """Two verses and two choruses of a rock song."""
    return Studio().song("rock", 0)


@pytest.fixture(scope="module")
def track(song: Song) -> Track:
    return tracked(song)


@pytest.mark.runtime
def test_the_voice_is_within_five_cents_of_the_score(song: Song, track: Track) -> None:
    off = np.abs(cents_off(song, track))
    assert len(off) > 50
    assert float(np.median(off)) <= 5
    assert float(np.mean(off <= 50)) >= 0.9


@pytest.mark.runtime
def test_words_are_understood_alone_and_in_the_mix(song: Song) -> None:
    alone, mixed = understood(open_catalogue(None).transcription(""), song)
    assert alone.said == mixed.said > 60
    assert alone.recognised >= 0.6
    assert mixed.recognised >= 0.4


@pytest.mark.runtime
def test_beats_begin_with_an_onset_and_rhythm_has_its_places(song: Song) -> None:
    share, milliseconds = beats_with_onset(song)
    assert share >= 0.7
    assert milliseconds <= 25
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


@pytest.mark.runtime
def test_its_pitch_and_form_are_drawn(song: Song, track: Track) -> None:
    drawn = pitch_picture(song, track)
    assert drawn.count("<polyline") > 5
    assert ">seconds<" in drawn
    alike = bar_similarity(song)
    assert np.diag(alike) == pytest.approx(np.ones(len(alike)))
    assert ">chorus<" in similarity_picture(song, alike)
