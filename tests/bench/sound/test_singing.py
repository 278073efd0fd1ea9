"""A song heard by the product's own transcription, and its pitch."""

import numpy as np
import pytest

from bench.sound.singing import (
    LISTENED_SECONDS,
    Track,
    cents_off,
    people_understood,
    phrase_errors,
    understood,
    understood_alone,
)
from bench.sound.songs import Song
from bench.sound.texts import PHRASES
from engine.catalogue import Catalogue, open_catalogue


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return open_catalogue(None)


@pytest.mark.runtime
def test_the_voice_is_within_five_cents_of_the_score(song: Song, track: Track) -> None:
    off = np.abs(cents_off(song, track))
    assert len(off) > 50
    assert float(np.median(off)) <= 5
    assert float(np.mean(off <= 50)) >= 0.9


@pytest.mark.runtime
def test_another_pitch_is_noticed_but_for_octaves(song: Song, track: Track) -> None:
    sharp = Track(track.seconds, track.hertz * 2 ** (30 / 1200))
    assert float(np.median(cents_off(song, sharp))) == pytest.approx(30, abs=5)
    octave = Track(track.seconds, track.hertz * 2)
    assert cents_off(song, octave) == pytest.approx(cents_off(song, track), abs=0.01)


@pytest.mark.runtime
def test_words_are_understood_alone_and_in_the_mix(song: Song, catalogue: Catalogue) -> None:
    listener = catalogue.transcription("")
    alone, in_the_mix = understood_alone(listener, song), understood(listener, song)
    assert alone.said == in_the_mix.said == len(song.lyrics(LISTENED_SECONDS).split()) > 40
    assert alone.recognised >= 0.6
    assert in_the_mix.recognised >= 0.6


@pytest.mark.runtime
def test_people_are_understood(catalogue: Catalogue) -> None:
    heard = people_understood(catalogue.transcription(""))
    assert heard.said == 193
    assert heard.error <= 0.05


@pytest.mark.runtime
def test_phrases_begin_where_they_were_placed(catalogue: Catalogue) -> None:
    placed = phrase_errors(catalogue.speech(""), catalogue.transcription(""))
    assert len(placed.errors) == len(PHRASES)
    assert max(placed.errors) < 0.1
