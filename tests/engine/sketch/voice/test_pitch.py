"""How high the voice goes."""

import numpy as np
import pytest

from engine.score.model import TimedNote
from engine.sketch.voice.pitch import (
    GLIDE_SECONDS,
    HIGHEST_MIDI,
    HOME_MIDI,
    home_octaves,
    line_octaves,
    pitch_curve,
)

TIMES = np.arange(0, 3, 0.0125)


def _note(midi: int, start: float, end: float) -> TimedNote:
    return TimedNote("V", midi, start, end, 0, "la")


def _semitones(*notes: TimedNote, octaves: int = 0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    hertz = pitch_curve(notes, TIMES, octaves, np.random.default_rng(0))
    return 69 + 12 * np.log2(hertz.astype(np.float64) / 440)


def _between(start: float, end: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return (start <= TIMES) & (end > TIMES)


def test_a_short_note_is_held_still() -> None:
    line = _semitones(_note(60, 0.5, 0.9))
    assert np.abs(line[_between(0.7, 0.9)] - 60).max() < 0.02


def test_a_line_begins_with_a_scoop() -> None:
    line = _semitones(_note(60, 0.5, 0.9))
    assert -0.7 < line[_between(0.49, 0.52)].min() - 60 < -0.3


def test_neighbours_are_joined_by_a_glide_and_others_are_not() -> None:
    joined = _semitones(_note(60, 0.5, 1.0), _note(64, 1.0, 1.4))
    assert abs(joined[_between(0.99, 1.01)].mean() - 62) < 0.7
    assert np.abs(joined[_between(1.0 + GLIDE_SECONDS, 1.4)] - 64).max() < 0.05
    apart = _semitones(_note(60, 0.5, 0.8), _note(64, 1.2, 1.6))
    assert np.abs(apart[_between(0.7, 1.1)] - 60).max() < 0.1


def test_vibrato_comes_late_on_long_notes_and_keeps_its_bounds() -> None:
    line = _semitones(_note(60, 0.2, 2.8))
    assert np.abs(line[_between(0.35, 0.4)] - 60).max() < 0.05
    swung = line[_between(1.0, 2.5)] - 60
    assert 0.2 < swung.max() < 0.32
    assert 0.2 < -swung.min() < 0.32
    rises = np.flatnonzero((swung[:-1] < 0) & (swung[1:] >= 0))
    assert 5.0 < (len(rises) - 1) / (0.0125 * (rises[-1] - rises[0])) < 6.0


def test_vibrato_has_died_away_at_the_notes_end() -> None:
    line = _semitones(_note(60, 0.2, 2.8))
    assert np.abs(line[_between(2.775, 2.81)] - 60).max() < 0.08


def test_octaves_lift_the_whole_curve() -> None:
    low, high = (_semitones(_note(60, 0.5, 1.4), octaves=octaves) for octaves in (0, 1))
    assert high - low == pytest.approx(12, abs=1e-4)


@pytest.mark.parametrize("middle", [0, 20, 40, 46, 47, 58, 59, 67, 100, 127])
def test_a_song_is_moved_to_where_the_voice_is_understood(middle: int) -> None:
    octaves = home_octaves([_note(middle, 0, 1)])
    assert HOME_MIDI[0] <= middle + 12 * octaves <= HOME_MIDI[1]
    assert home_octaves([]) == 0


@pytest.mark.parametrize(
    ("keys", "octaves"), [((55, 67), 0), ((60, 90), -1), ((30, 50), 1), ((20, 85), -1), ((38, 75), 0)]
)
def test_a_line_out_of_reach_is_moved_too(keys: tuple[int, int], octaves: int) -> None:
    notes = [_note(key, place, place + 1) for place, key in enumerate(keys)]
    assert line_octaves(notes, 0) == octaves
    assert max(keys) + 12 * octaves <= HIGHEST_MIDI
