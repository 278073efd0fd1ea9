"""A voice while it is read."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score.draft import DraftNote, DraftVoice
from engine.score.keys import Staff, key_named
from engine.score.model import ChordSymbol, Pitch
from engine.score.place import MAX_BARS, Place

HERE = Place(2, 5)


def voice() -> DraftVoice:
    return DraftVoice("1", key_named("C"), (4, 4), Fraction(1, 8))


def note(duration: Fraction = Fraction(1, 2)) -> DraftNote:
    return DraftNote((Pitch("C", 4),), duration, HERE)


def test_bar_without_notes_is_no_bar() -> None:
    draft = voice()

    draft.bar_line(0, False, False)
    draft.add(note())
    draft.close_bar()
    draft.close_bar()

    assert len(draft.bars) == 1


def test_bar_is_full_when_it_has_the_beats_of_the_meter() -> None:
    draft = voice()

    draft.add(note())
    assert not draft.ends_full
    draft.add(note())
    assert draft.ends_full
    draft.stretch(draft.bar.notes[-1], Fraction(1, 2))
    assert not draft.ends_full


def test_chord_without_a_note_after_it_goes_to_the_next_bar() -> None:
    draft = voice()
    draft.add(note())
    draft.add_chord("G")
    draft.close_bar()
    draft.add(note())
    draft.close_bar()

    first, second = draft.finish([Fraction(1)] * 2)[0].bars

    assert (first.chords, second.chords) == ((), (ChordSymbol("G", Fraction(0)),))


def test_change_inside_a_bar_belongs_to_the_next_one() -> None:
    draft = voice()
    draft.changes.meter = (3, 4)
    draft.add(note())
    draft.changes.key = "G"
    draft.close_bar()
    draft.add(note())
    draft.close_bar()

    first, second = draft.finish([Fraction(1)] * 2)[0].bars

    assert (first.meter, first.key) == ((3, 4), None)
    assert (second.meter, second.key) == (None, "G")


def test_overlay_becomes_a_voice_of_its_own_with_silence_elsewhere() -> None:
    draft = voice()
    draft.add(note(Fraction(1)))
    draft.close_bar()
    draft.add(note(Fraction(1)))
    draft.start_overlay(HERE)
    draft.add(note(Fraction(1, 4)))
    draft.close_bar()

    main, overlay = draft.finish([Fraction(1)] * 2)

    assert [bar.duration for bar in main.bars] == [1, 1]
    assert overlay.id == "1&2"
    assert overlay.bars[0].notes[0].invisible
    assert [bar.duration for bar in overlay.bars] == [1, Fraction(1, 4)]


def test_overlay_of_nothing_and_too_many_overlays_are_faults() -> None:
    draft = voice()
    with pytest.raises(ScoreError, match="before the &"):
        draft.start_overlay(HERE)

    draft.add(note())
    for _ in range(4):
        draft.start_overlay(HERE)
    with pytest.raises(ScoreError, match="at most 4"):
        draft.start_overlay(HERE)


def test_bars_of_rest_are_bounded_before_they_are_made() -> None:
    draft = voice()

    with pytest.raises(ScoreError, match="Shorten"):
        draft.add_full_rests(MAX_BARS + 1, False, HERE)

    assert draft.bars == []


def test_clef_stays_where_a_field_names_none() -> None:
    draft = voice()
    draft.adopt(Staff("bass"))
    draft.adopt(Staff())
    draft.adopt(Staff("", 1))

    assert draft.staff == Staff("bass", 1)
