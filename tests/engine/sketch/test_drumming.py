"""Fills lead into sections, verses are thinner than choruses, a build is a roll."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from engine.score import Timeline
from engine.sketch.drumming import drum_hits
from engine.sketch.grooves import GROOVES
from engine.sketch.percussion import CRASH, HAT, KICK, OPEN_HAT, SNARE, TAMBOURINE
from tests.engine.sketch.sounds import song


def in_sections(*names: str, bars: int = 4) -> Timeline:
    """Sections of so many bars of a second."""
    score = song(bars * len(names))
    parts = tuple((name, float(at * bars), float((at + 1) * bars)) for at, name in enumerate(names))
    return replace(score, sections=parts)


def struck(score: Timeline, groove: str, bar: int) -> Counter[tuple[float, int]]:
    return Counter(
        (round(hit.start - bar, 4), hit.key) for hit in drum_hits(score, GROOVES[groove]) if hit.bar == bar
    )


@pytest.mark.parametrize("groove", [name for name, groove in GROOVES.items() if groove.fill])
def test_the_bar_before_a_section_ends_in_a_fill(groove: str) -> None:
    score = in_sections("verse", "verse")
    usual, filled = struck(score, groove, 1), struck(score, groove, 3)
    assert {hit for hit in usual if hit[0] < 0.5} == {hit for hit in filled if hit[0] < 0.5}
    if usual:  # grooves without drums have none to fill with
        assert usual != filled
        assert {hit[0] for hit in filled if hit[0] >= 0.5}
    else:
        assert not filled


def test_the_last_bar_has_one_stroke_with_its_cymbal() -> None:
    assert set(struck(in_sections("verse"), "rock", 3)) == {(0.0, KICK), (0.0, CRASH)}


def test_an_open_hat_is_choked_by_the_next_stroke_on_the_hat() -> None:
    score = in_sections("verse", "chorus")
    hits = [hit for name in ("funk", "four on the floor") for hit in drum_hits(score, GROOVES[name])]
    opened = [hit for hit in hits if hit.key == OPEN_HAT]
    assert opened
    assert np.median([hit.length for hit in opened]) <= 0.5


def test_a_fill_leads_into_the_last_bar() -> None:
    score = in_sections("verse")
    assert struck(score, "rock", 2) != struck(score, "rock", 1)


def test_a_chorus_is_fuller_and_a_breakdown_barer_than_a_verse() -> None:
    score = in_sections("verse", "chorus", "breakdown", "verse")
    verse, chorus, breakdown = (struck(score, "pop", bar) for bar in (1, 5, 9))
    assert breakdown.total() < verse.total() < chorus.total()
    assert not any(key in (KICK, SNARE) for _, key in breakdown)
    assert any(key == TAMBOURINE for _, key in chorus)
    assert sum(key == HAT for _, key in verse) < sum(key == HAT for _, key in chorus)


def test_a_build_is_a_roll_that_thickens() -> None:
    score = in_sections("build", "drop")
    rolls = [
        [hit for hit in drum_hits(score, GROOVES["four on the floor"]) if hit.bar == bar and hit.key == SNARE]
        for bar in range(4)
    ]
    assert [len(roll) for roll in rolls] == [4, 8, 16, 16]
    assert rolls[0][0].velocity < rolls[1][0].velocity < rolls[3][-1].velocity
    assert not any(key == KICK for _, key in struck(score, "four on the floor", 3))
