"""When phonemes are sung."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.score.model import TimedNote
from engine.sketch.voice.network import Reading
from engine.sketch.voice.phonemes import Nucleus, Text
from engine.sketch.voice.timing import (
    LEAD_FRAMES,
    STEP_SECONDS,
    Plan,
    apportioned,
    held_frames,
    plan,
    rests,
    spoken_frames,
)

# "s ˈi t ˈI ." with pauses around: places 1 s, 2 mark, 3 vowel, 4 t, 5 mark, 6 vowel, 7 stop, 8 pause
NATURAL = np.array([10, 4, 3, 2, 3, 4, 2, 8, 1])


def _text(first: float, second: float, end: float, first_end: float | None = None) -> Text:
    notes = (
        TimedNote("V", 60, first, first_end or second, 0, "see-"),
        TimedNote("V", 62, second, end, 0, "ty"),
    )
    return Text("sˈitˈI.", (Nucleus(1, 2, notes[:1]), Nucleus(4, 5, notes[1:])))


def _reading() -> Reading:
    frames = 2 * int(NATURAL.sum())
    energy = np.sin(np.linspace(0, np.pi, frames)).astype(np.float32)
    return Reading(NATURAL, np.full(frames, 200, np.float32), energy)


def _planned(first: float = 1.0, second: float = 1.6, end: float = 2.4) -> tuple[Text, Plan]:
    text = _text(first, second, end)
    return text, plan(text, _reading())


def test_vowels_begin_on_their_notes_and_consonants_before() -> None:
    text, drawn = _planned()
    edges = drawn.start + STEP_SECONDS * np.concatenate([[0], np.cumsum(drawn.steps)])
    for nucleus, start in zip(text.nuclei, (1.0, 1.6), strict=True):
        heard = edges[nucleus.mark + 1] - LEAD_FRAMES * STEP_SECONDS / 2
        assert heard == pytest.approx(start, abs=STEP_SECONDS)
    assert edges[1] < 0.95
    assert edges[7] == pytest.approx(2.4, abs=2 * STEP_SECONDS)


def test_long_consonants_at_a_lines_end_are_cut_short_and_end_behind_the_note() -> None:
    text = _text(1.0, 1.6, 2.6)
    closed = Text("sˈitˈIt.", text.nuclei)
    natural = np.insert(NATURAL, 7, 13)
    frames = 2 * int(natural.sum())
    drawn = plan(closed, Reading(natural, np.full(frames, 200, np.float32), np.zeros(frames, np.float32)))
    assert drawn.steps[7] == 8
    begins = drawn.start + STEP_SECONDS * drawn.steps[:7].sum()
    assert begins == pytest.approx(2.6 - 4 * STEP_SECONDS, abs=2 * STEP_SECONDS)


def test_consonants_keep_their_length_and_vowels_take_the_rest() -> None:
    _, drawn = _planned(1.0, 3.0, 5.0)
    assert drawn.steps[1] in (4, 5)
    assert drawn.steps[4] in (3, 4)
    assert drawn.steps[2] + drawn.steps[3] > 70
    assert drawn.steps[2] > drawn.steps[3] > 0


def test_on_a_short_note_consonants_leave_room_for_the_vowel() -> None:
    _, drawn = _planned(1.0, 1.075, 1.15)
    assert drawn.steps[2] + drawn.steps[3] >= 1
    assert drawn.steps[2:5].sum() == 3


@settings(deadline=None)
@given(
    st.floats(0, 5),
    st.floats(0.001, 3),
    st.floats(0.001, 3),
    st.lists(st.integers(0, 20), min_size=9, max_size=9),
)
@example(0.0, 1.0, 1.0, [0, 0, 0, 0, 0, 0, 0, 0, 1])  # a vowel that is not heard at all when spoken
def test_any_notes_and_lengths_make_a_plan(
    start: float, first: float, second: float, natural: list[int]
) -> None:
    text = _text(start, start + first, start + first + second)
    steps = np.array(natural)
    frames = max(2 * int(steps.sum()), 1)
    energy = np.zeros(frames, np.float32)
    drawn = plan(text, Reading(steps, energy, energy))
    assert (drawn.steps >= 0).all()
    places = spoken_frames(text, drawn, energy)
    assert places.shape == (drawn.frames,) == held_frames(text, drawn).shape
    assert (np.diff(places) >= 0).all()
    assert ((places >= 0) & (places <= frames - 1)).all()


def test_a_held_vowel_stays_near_its_loudest() -> None:
    text, drawn = _planned(1.0, 3.0, 5.0)
    energy = _reading().energy
    loud = np.interp(spoken_frames(text, drawn, energy), np.arange(len(energy)), energy)
    inside = held_frames(text, drawn)
    assert inside.sum() == pytest.approx(2 * (drawn.steps[[2, 3, 5, 6]].sum()), abs=4)
    assert np.std(loud[inside][20:100]) < 0.05


def test_rests_between_notes_of_a_line_are_found() -> None:
    text = _text(1.0, 2.0, 2.6, first_end=1.4)
    drawn = plan(text, _reading())
    ((first, last),) = rests(text, drawn, 0.08)
    assert drawn.times()[first] == pytest.approx(1.4, abs=0.02)
    assert 1.7 < drawn.times()[last] < 2.0
    assert rests(*_planned(), 0.08) == []


@settings(deadline=None)
@given(st.lists(st.floats(0, 30), max_size=8), st.integers(0, 200))
def test_shares_are_whole_and_sum_to_the_total(weights: list[float], total: int) -> None:
    shares = apportioned(np.array(weights), total)
    assert len(shares) == len(weights)
    if sum(weights) > 0:
        assert shares.sum() == total
        assert np.abs(shares - np.array(weights) * total / sum(weights)).max() < 1
