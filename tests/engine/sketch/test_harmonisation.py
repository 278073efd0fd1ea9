"""Chords guessed for a melody: of its key, near its notes, home at both ends."""

from dataclasses import replace

import pytest

from engine.score import Timeline, parse, timeline
from engine.sketch.harmonisation import harmonised
from tests.engine.sketch.sounds import melody, note, song


def tune(body: str, key: str = "C") -> Timeline:
    return timeline(parse(f"X:1\nM:4/4\nL:1/4\nK:{key}\n{body}\n"))


def names(score: Timeline) -> list[str]:
    return [chord.text for chord in harmonised(score).chords]


@pytest.mark.parametrize(
    ("body", "key", "chords"),
    [
        ("CEGE|FAcA|GBdB|c4|", "C", ["C", "F", "G", "C"]),
        ("EGBG|AceA|B^DFB|E4|", "Em", ["Em", "Am", "B", "Em"]),
        ("BdFd|EGBG|FAcA|B4|", "Bb", ["Bb", "Eb", "F", "Bb"]),
        ("DFAF|GBdG|z4|D4|", "D dor", ["Dm", "G", "G", "Dm"]),
        ("CEGE|FAcA|c4|", "none", ["C", "F", "C"]),
    ],
)
def test_each_bar_has_the_triad_of_its_notes(body: str, key: str, chords: list[str]) -> None:
    assert names(tune(body, key)) == chords


def test_chords_fill_their_bars() -> None:
    score = harmonised(tune("CDEF|GABc|z4|C4|"))
    assert [(chord.start, chord.end) for chord in score.chords] == list(score.bars)
    assert all(chord.bass == chord.root for chord in score.chords)


def test_a_score_with_chords_or_without_notes_stays_as_it_is() -> None:
    assert harmonised(song()) == song()
    silent = replace(melody(note(60, 0, 1)), notes=())
    assert harmonised(silent) == silent


def test_a_timeline_without_keys_is_taken_for_c() -> None:
    assert names(melody(note(60, 0, 1), note(64, 1, 2))) == ["C"]
