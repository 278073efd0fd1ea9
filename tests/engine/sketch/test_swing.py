"""Swung notes lie on the band's triplets, beats where they were."""

from dataclasses import replace

import pytest

from engine.sketch.swing import swung
from tests.engine.sketch.sounds import note, song


def test_the_second_half_of_a_beat_comes_later_and_beats_stay() -> None:
    score = replace(song(1), notes=(note(60, 0.0, 0.125), note(62, 0.125, 0.25), note(64, 0.25, 0.5)))
    moved = swung(score, 0.6).notes
    assert [(one.start, one.end) for one in moved] == [(0.0, 0.15), (0.15, 0.25), (0.25, 0.5)]


def test_straight_and_compound_songs_stay_as_they_are() -> None:
    score = song(2)
    assert swung(score, 0.5) is score
    assert swung(replace(score, meters=((6, 8),) * 2), 0.6).notes == score.notes


@pytest.mark.parametrize("share", [0.55, 0.66])
def test_notes_keep_their_order_and_their_ends(share: float) -> None:
    score = song(3)
    moved = swung(score, share)
    assert moved.notes[-1].end == pytest.approx(score.notes[-1].end)
    assert all(one.start < one.end for one in moved.notes)
