"""Grooves hold one full bar of every meter."""

import pytest

from engine.sketch.grooves import GROOVES, Groove
from engine.sketch.vocabulary import METERS


@pytest.mark.parametrize("groove", GROOVES.values(), ids=GROOVES)
def test_patterns_fill_their_bar_and_stay_in_it(groove: Groove) -> None:
    for meter in {*METERS, (1, 4), (13, 16), (8, 4), (11, 8)}:
        pattern = groove.pattern(meter)
        assert pattern.quarters == pytest.approx(4 * meter[0] / meter[1])
        assert pattern.bass
        assert pattern.comp
        assert all(0 <= hit.offset < pattern.quarters and 1 <= hit.velocity <= 127 for hit in pattern.drums)
        assert max(step.offset + step.length for step in pattern.bass) <= pattern.quarters + 1e-9
        assert max(step.offset + step.length for step in pattern.comp) <= pattern.quarters + 1e-9


def test_a_longer_meter_repeats_a_shorter_one() -> None:
    six, twelve = GROOVES["rock"].pattern((6, 8)), GROOVES["rock"].pattern((12, 8))
    assert len(twelve.drums) == 2 * len(six.drums)
    assert twelve.drums[len(six.drums)].offset == six.drums[0].offset + six.quarters


def test_a_grid_is_read_with_its_holds() -> None:
    folk = GROOVES["folk"].pattern((4, 4))
    assert [(step.offset, step.length, step.degree) for step in folk.bass] == [
        (0, 2, "root"),
        (2, 1.5, "fifth"),
        (3.5, 0.5, "approach"),
    ]
    assert [step.stroke for step in folk.comp[:3]] == ["strum", "strum", "upstrum"]
    picked = GROOVES["fingerpicking"].pattern((4, 4)).comp
    assert [step.tone for step in picked[:4]] == [0, 2, 1, 3]
