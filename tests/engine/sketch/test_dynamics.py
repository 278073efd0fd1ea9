"""Sections say by their names how much plays."""

from dataclasses import replace

import pytest

from engine.sketch.dynamics import Energy, energy_at, energy_of
from tests.engine.sketch.sounds import song


@pytest.mark.parametrize(
    ("name", "energy"),
    [
        ("Chorus 2", Energy.FULL), ("drop", Energy.FULL), ("pre-chorus", Energy.RISING), ("bridge", Energy.RISING),
        ("breakdown", Energy.BARE), ("Verse 1", Energy.THIN), ("outro", Energy.THIN), ("x", Energy.THIN),
    ],
)  # fmt: skip
def test_a_name_has_an_energy(name: str, energy: Energy) -> None:
    assert energy_of(name) is energy


def test_a_song_without_sections_is_full_throughout() -> None:
    score = song(4)
    assert [energy_at(score)(instant) for instant in (0.0, 1.9, 2.0)] == [
        Energy.THIN,
        Energy.THIN,
        Energy.FULL,
    ]
    assert energy_at(replace(score, sections=()))(1.0) is Energy.FULL
