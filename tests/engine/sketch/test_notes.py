"""Notes of every instrument of the bank: in tune over its range, of sane level, without clicks."""

import numpy as np
import pytest

from engine.sketch.notes import RATE_HZ, NoteRenderer
from engine.sketch.vocabulary import INSTRUMENTS, Instrument
from engine.sketch.waves import WavePool
from tests.engine.sketch.sounds import cents_off, kinks

# Lowest and highest key of each instrument, and how many cents it may be off: sections and pads beat.
RANGES = {
    "piano": (33, 93, 6), "electric piano": (36, 91, 3), "vibraphone": (53, 89, 3), "organ": (36, 91, 6),
    "nylon guitar": (40, 83, 3), "steel guitar": (40, 83, 3), "overdriven guitar": (40, 84, 5),
    "distorted guitar": (40, 84, 5), "acoustic bass": (28, 55, 8), "finger bass": (28, 55, 5),
    "synth bass": (28, 60, 8), "violin": (55, 86, 10), "cello": (36, 76, 8), "harp": (36, 91, 6),
    "strings": (36, 88, 15), "choir": (48, 79, 20), "trumpet": (55, 84, 6), "brass": (41, 79, 8),
    "tenor sax": (44, 76, 3), "clarinet": (50, 88, 3), "flute": (60, 93, 3), "saw lead": (40, 84, 3),
    "warm pad": (48, 84, 20),
}  # fmt: skip
HELD = RATE_HZ // 2
MELODIC = [instrument for instrument in INSTRUMENTS.values() if instrument.bank == 0]
KITS = [instrument for instrument in INSTRUMENTS.values() if instrument.bank == 128]


@pytest.fixture(scope="module")
def renderer(pool: WavePool) -> NoteRenderer:
    return NoteRenderer(pool, 8 << 20)


def sound(
    renderer: NoteRenderer, pool: WavePool, instrument: Instrument, key: int, frames: int = HELD
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    zones = [z for z in pool.presets[instrument.bank, instrument.program].zones if z.sounds(key, 96)]
    parts = [renderer.note(zone, key, frames, tuned=instrument.bank == 0) for zone in zones]
    mixed = np.zeros(max(map(len, parts)), dtype=np.float32)
    for zone, part in zip(zones, parts, strict=True):
        mixed[: len(part)] += part * np.float32(10 ** (-zone.attenuation_db / 20))
    return mixed


@pytest.mark.parametrize("instrument", MELODIC, ids=lambda instrument: instrument.name)
def test_a_scale_over_the_whole_range_is_in_tune_and_even(
    renderer: NoteRenderer, pool: WavePool, instrument: Instrument
) -> None:
    low, high, limit = RANGES[instrument.name]
    off, levels = {}, []
    # Steps of a fourth: soon every sample of the instrument has been heard.
    for key in range(low, high + 1, 5):
        tone = sound(renderer, pool, instrument, key)
        off[key] = cents_off(tone[RATE_HZ // 25 : HELD], key)
        levels.append(10 * np.log10(np.square(tone[:HELD]).mean()))
    assert {key: round(cents, 1) for key, cents in off.items() if abs(cents) > limit} == {}
    assert min(levels) > -40
    assert max(levels) < -5
    assert max(levels) - min(levels) < 22


@pytest.mark.parametrize("instrument", MELODIC, ids=lambda instrument: instrument.name)
def test_held_notes_swing_around_zero(renderer: NoteRenderer, pool: WavePool, instrument: Instrument) -> None:
    low, high, _ = RANGES[instrument.name]
    for key in ((2 * low + high) // 3, (low + 2 * high) // 3):
        assert abs(float(sound(renderer, pool, instrument, key, frames=2 * RATE_HZ).mean())) < 0.005


@pytest.mark.parametrize("instrument", MELODIC, ids=lambda instrument: instrument.name)
def test_long_notes_have_no_seams(renderer: NoteRenderer, pool: WavePool, instrument: Instrument) -> None:
    low, high, _ = RANGES[instrument.name]
    for key in ((2 * low + high) // 3, (low + 2 * high) // 3):
        tone = sound(renderer, pool, instrument, key, frames=2 * RATE_HZ)
        assert kinks(tone)[12:-1].max() < 4


@pytest.mark.parametrize("instrument", MELODIC, ids=lambda instrument: instrument.name)
def test_notes_fade_in_and_out(renderer: NoteRenderer, pool: WavePool, instrument: Instrument) -> None:
    tone = np.abs(sound(renderer, pool, instrument, sum(RANGES[instrument.name][:2]) // 2))
    assert tone[0] == 0
    assert tone[:24].max() < 0.4 * tone.max()
    assert tone[-1] < 1e-3 * tone.max()
    assert len(tone) > HELD + RATE_HZ // 50


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
def test_drums_ring_out_and_can_be_damped(renderer: NoteRenderer, pool: WavePool, kit: Instrument) -> None:
    for key in (36, 38, 42, 46, 49):
        rung = sound(renderer, pool, kit, key, frames=10 * RATE_HZ)
        damped = sound(renderer, pool, kit, key, frames=RATE_HZ // 20)
        assert np.abs(rung).max() > 0.02
        assert len(damped) < RATE_HZ // 5
        assert np.allclose(damped[: RATE_HZ // 40], rung[: RATE_HZ // 40], atol=1e-4)


def test_notes_are_kept_within_the_budget(pool: WavePool) -> None:
    renderer = NoteRenderer(pool, 300_000)
    zone = pool.presets[0, 4].zones[40]
    key = zone.keys[0]
    first = renderer.note(zone, key, 4_800, tuned=True)
    assert renderer.note(zone, key, 4_800, tuned=True) is first
    for frames in range(4_848, 9_600, 480):
        renderer.note(zone, key, frames, tuned=True)
    again = renderer.note(zone, key, 4_800, tuned=True)
    assert again is not first
    assert np.array_equal(again, first)
