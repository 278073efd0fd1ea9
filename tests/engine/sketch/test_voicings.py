"""Voicings: the chord's tones, close together, moving little; the bass."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.score import TimedChord
from engine.sketch.voicings import LOWEST_BASS, bass_note, pitch_classes, voicing

ROOTS = st.integers(0, 11)
QUALITIES = st.sampled_from(
    [(0, 4, 7), (0, 3, 7), (0, 3, 6), (0, 4, 7, 10), (0, 4, 7, 11), (0, 5, 7), (0, 4, 7, 10, 14)]
)


def chord(root: int, intervals: tuple[int, ...], bass: int | None = None) -> TimedChord:
    return TimedChord("x", root, intervals, root if bass is None else bass, 0.0, 1.0, 0)


@settings(deadline=None)
@given(ROOTS, QUALITIES, ROOTS, QUALITIES)
@example(11, (0, 3, 6), 1, (0, 5, 7))  # as far apart as any
def test_a_voicing_holds_the_chord_near_the_center_and_moves_little(
    root: int, quality: tuple[int, ...], next_root: int, next_quality: tuple[int, ...]
) -> None:
    first = voicing(pitch_classes(chord(root, quality)), (), 60)
    second = voicing(pitch_classes(chord(next_root, next_quality)), first, 60)
    for notes, (base, intervals) in ((first, (root, quality)), (second, (next_root, next_quality))):
        assert {note % 12 for note in notes} <= {(base + interval) % 12 for interval in intervals}
        assert len(notes) in (3, 4)
        assert abs(sum(notes) / len(notes) - 60) <= 7
        assert all(low < high for low, high in pairwise(notes))
        assert notes[-1] - notes[0] < 12
    assert sum(min(abs(note - other) for other in first) for note in second) <= 8 / 3 * len(second)


def test_rich_chords_lose_their_fifth_first() -> None:
    assert pitch_classes(chord(0, (0, 4, 7, 10, 14))) == (0, 2, 4, 10)
    assert pitch_classes(chord(7, (0, 4, 7))) == (7, 11, 2)


@settings(deadline=None)
@given(ROOTS, QUALITIES, ROOTS, st.sampled_from(["root", "third", "fifth", "octave"]), st.booleans())
def test_the_bass_stays_on_its_instrument_and_in_the_chord(
    root: int, quality: tuple[int, ...], bass: int, degree: str, first: bool
) -> None:
    note = bass_note(chord(root, quality, bass), degree, first=first)
    assert LOWEST_BASS <= note < LOWEST_BASS + 24
    allowed = {bass} if first else {(root + interval) % 12 for interval in quality}
    assert note % 12 in allowed


def test_minor_thirds_and_altered_fifths_are_followed() -> None:
    assert bass_note(chord(4, (0, 3, 6)), "third", first=False) == 31
    assert bass_note(chord(4, (0, 3, 6)), "fifth", first=False) == 34
    assert bass_note(chord(4, (0, 3, 7)), "octave", first=False) == 40
