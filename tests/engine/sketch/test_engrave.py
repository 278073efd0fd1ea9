"""Tones become full bars with ties, rests and accidentals."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.score import Note
from engine.sketch.engrave import LENGTHS, Tone, engrave


def shown(notes: tuple[Note, ...]) -> list[str]:
    signs = {None: "", 0: "=", 1: "^", -1: "_"}
    return [
        f"{signs[note.pitches[0].written] + note.pitches[0].step if note.pitches else 'z'}{note.duration * 16}"
        + ("-" if note.tie else "")
        + note.lyric
        for note in notes
    ]


def test_a_tone_over_the_bar_line_is_tied_and_its_syllable_held() -> None:
    first, second = engrave([Tone(8, 12, "C", 4, 0, "sea")], 2, 16, {})
    assert shown(first) == ["z8", "C8-sea"]
    assert shown(second) == ["C4_", "z12"]


def test_a_length_no_note_head_has_is_divided() -> None:
    assert shown(engrave([Tone(0, 10, "C", 4, 0)], 1, 16, {})[0]) == ["C8-", "C2", "z6"]


def test_an_empty_bar_is_one_rest_of_any_length() -> None:
    assert shown(engrave([], 1, 20, {})[0]) == ["z20"]


def test_accidentals_are_written_once_and_taken_back() -> None:
    tones = [Tone(0, 4, "G", 4, 1), Tone(4, 4, "G", 4, 1), Tone(8, 4, "G", 4, 0), Tone(12, 4, "G", 5, 0)]
    assert shown(engrave(tones, 1, 16, {})[0]) == ["^G4", "G4", "=G4", "G4"]


def test_an_accidental_of_another_octave_is_never_left_in_doubt() -> None:
    tones = [Tone(0, 4, "G", 4, 1), Tone(4, 4, "G", 5, 0), Tone(8, 8, "G", 4, 1)]
    assert shown(engrave(tones, 1, 16, {})[0]) == ["^G4", "=G4", "^G8"]


def test_the_signature_needs_no_accidental_and_a_tie_over_the_bar_repeats_its_own() -> None:
    bars = engrave([Tone(0, 8, "F", 4, 1), Tone(8, 16, "C", 4, 1)], 2, 16, {"F": 1})
    assert [shown(bar) for bar in bars] == [["F8", "^C8-"], ["^C8", "z8"]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 40)), max_size=8), st.integers(4, 24))
def test_every_bar_is_full_and_every_tone_whole(gaps: list[tuple[int, int]], bar: int) -> None:
    tones, place = [], 0
    for gap, span in gaps:
        tones.append(Tone(place + gap, span, "C", 4, 0, "la"))
        place += gap + span
    bars = engrave(tones, place // bar + 1, bar, {})
    assert all(sum(note.duration for note in notes) == Fraction(bar, 16) for notes in bars)
    notes = [note for notes in bars for note in notes if note.pitches]
    assert sum(note.duration * 16 for note in notes) == sum(span for _, span in gaps)
    assert sum(note.lyric == "la" for note in notes) == len(tones) == sum(not note.tie for note in notes)
    assert all(note.duration * 16 in LENGTHS for note in notes)
