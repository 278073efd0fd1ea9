"""The band makes room for the singer, and its loudest moments come down."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio import integrated_loudness
from engine.sketch.bus import (
    CELL_FRAMES,
    add_voice,
    brightened,
    ducking,
    glue,
    riding,
)
from engine.sketch.fourier import lowered
from tests.engine.sketch.sounds import RATE, kinks

DUCK_DB, CARVE_DB, VOICE_OVER_BAND_LU = (
    4.0,
    4.0,
    1.5,
)  # as they were tried by ear and by who writes words down


def noise(seconds: float, level: float = 0.1) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    draw = np.random.Generator(np.random.PCG64(3))
    return (level * draw.standard_normal((2, round(seconds * RATE)))).astype(np.float32)


def tone(hertz: float, seconds: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE).astype(np.float32)


def decibels(after: NDArray[np.float32], before: NDArray[np.float32], where: slice) -> float:
    return float(20 * np.log10(after[where].std() / before[where].std()))


def words(*spans: tuple[float, float], seconds: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A tone that sounds during the spans."""
    voice = np.zeros(round(seconds * RATE), np.float32)
    for start, end in spans:
        voice[round(start * RATE) : round(end * RATE)] = tone(300, end - start)
    return voice


def test_the_band_steps_back_before_a_word_and_returns_after_the_line() -> None:
    curve = ducking(words((2.0, 2.4), (2.45, 3.0), seconds=4), 6 * RATE)
    at = {
        seconds: curve[round(seconds * RATE / CELL_FRAMES)]
        for seconds in (1.9, 2.03, 2.2, 2.43, 2.9, 4.0, 5.9)
    }
    assert at[1.9] == 0
    assert at[2.03] > 0.7 * DUCK_DB
    assert at[2.2] > 0.95 * DUCK_DB
    assert at[2.43] > 0.95 * DUCK_DB  # not between two syllables
    assert at[4.0] < 0.1 * DUCK_DB
    assert at[5.9] < 0.01
    assert np.abs(np.diff(curve)).max() < 0.2 * DUCK_DB


@pytest.mark.parametrize("level", [0.01, 0.3])
def test_the_voice_stands_above_the_band_whatever_both_were(level: float) -> None:
    band, send = noise(6, level), np.zeros(6 * RATE, np.float32)
    band = np.stack([lowered(side, 0.02) for side in band])  # below what makes room in the middle
    before = integrated_loudness(band.T, RATE)
    mix = band.copy()
    add_voice(words((1.0, 5.0), seconds=6), mix, send, RATE)
    inside = slice(2 * RATE, 4 * RATE)
    assert decibels(mix[0] - mix[1], band[0] - band[1], inside) == pytest.approx(-DUCK_DB, abs=0.3)
    sung = (mix - band * 10 ** (-DUCK_DB / 20))[:, inside]
    assert integrated_loudness(sung.T, RATE) - before == pytest.approx(VOICE_OVER_BAND_LU, abs=0.8)
    assert 0.05 < send[inside].std() / sung[0].std() < 0.2
    assert np.allclose(mix[:, : RATE // 2], band[:, : RATE // 2], atol=1e-5)


def test_most_room_is_made_where_consonants_lie() -> None:
    inside = slice(2 * RATE, 4 * RATE)
    falls = []
    for hertz in (150, 2_200, 12_000):
        band = np.stack([tone(hertz, 6), -tone(hertz, 6)]) * np.float32(0.1)
        mix = band.copy()
        add_voice(words((1.0, 5.0), seconds=6), mix, np.zeros(6 * RATE, np.float32), RATE)
        falls.append(decibels(mix[0] - mix[1], band[0] - band[1], inside))
    assert falls == pytest.approx([-DUCK_DB, -DUCK_DB - CARVE_DB, -DUCK_DB], abs=0.5)


def test_a_voice_alone_and_a_silent_voice_are_left_as_they_are() -> None:
    mix, send = np.zeros((2, RATE), np.float32), np.zeros(RATE, np.float32)
    add_voice(tone(300, 0.5), mix, send, RATE)
    assert np.abs(mix[0, : RATE // 2]).max() > 0.5
    band = noise(1)
    unchanged = band.copy()
    add_voice(np.zeros(RATE, np.float32), band, send, RATE)
    assert np.array_equal(band, unchanged)


@pytest.mark.parametrize(("hertz", "gain_db"), [(60, -10), (440, 0.2), (7_000, 3.3)])
def test_the_voice_loses_rumble_and_gains_presence(hertz: float, gain_db: float) -> None:
    before = tone(hertz, 4)
    after = brightened(before, RATE)
    assert len(after) == len(before)
    inside = slice(RATE, 3 * RATE)
    assert 20 * np.log10(after[inside].std() / before[inside].std()) == pytest.approx(gain_db, abs=1.2)
    assert kinks(after[inside]).max() < 1.5  # no seam between blocks


def test_glue_turns_down_what_is_much_louder_than_usual_and_nothing_else() -> None:
    band = noise(4)
    band[:, 2 * RATE : 2 * RATE + RATE // 2] *= 4
    send, before = band[0].copy(), band.copy()
    glue(band, send)
    gain = 20 * np.log10(
        np.abs(band[0]).reshape(-1, RATE // 4).mean(axis=1)
        / np.abs(before[0]).reshape(-1, RATE // 4).mean(axis=1)
    )
    assert np.abs(gain[:8]).max() < 0.01
    assert -4.1 < gain[9] < -1.5
    assert abs(gain[-1]) < 0.1
    assert np.allclose(send, band[0])
    silent = np.zeros((2, 4800), np.float32)
    glue(silent, np.zeros(4800, np.float32))
    assert not silent.any()


def test_the_voice_gets_louder_with_a_louder_chorus() -> None:
    band = noise(16)
    band[:, 8 * RATE :] *= 1.6
    rides = riding(band)
    assert rides[7 * RATE // CELL_FRAMES] == 0
    assert 1 < rides[15 * RATE // CELL_FRAMES] < 4
    assert np.abs(np.diff(rides)).max() < 0.05


def test_a_louder_band_lifts_the_voice_and_the_room_hears_it_late() -> None:
    band, send = noise(16, 0.02), np.zeros(16 * RATE, np.float32)
    band = np.stack([lowered(side, 0.02) for side in band])
    band[:, 8 * RATE :] *= 1.6
    mix = np.stack([band[0], -band[0]])  # nothing of it in the middle
    add_voice(words((2.0, 14.0), seconds=16), mix, send, RATE)
    sung = mix.mean(axis=0)
    assert decibels(sung, sung, slice(6 * RATE, 7 * RATE)) == 0
    lift = 20 * np.log10(sung[12 * RATE : 13 * RATE].std() / sung[6 * RATE : 7 * RATE].std())
    assert 1 < lift < 4
    first = [int(np.flatnonzero(np.abs(heard) > 1e-3 * np.abs(heard).max())[0]) for heard in (sung, send)]
    assert first[1] - first[0] == pytest.approx(0.02 * RATE, abs=20)


def test_the_room_that_is_made_has_no_seams() -> None:
    steady = tone(2_200, 12)
    mix = np.stack([steady, -steady]) * np.float32(0.1)
    add_voice(words((0.5, 11.5), seconds=12), mix, np.zeros(12 * RATE, np.float32), RATE)
    side = ((mix[0] - mix[1]) / 2)[2 * RATE : 11 * RATE]
    levels = side.reshape(-1, RATE // 100).std(axis=1)
    assert levels.max() < 1.02 * levels.min()
    assert kinks(side).max() < 1.2


def test_glue_takes_no_more_than_four_decibels() -> None:
    band = noise(16, 0.01)
    band[:, 4 * RATE : 4 * RATE + RATE // 2] *= 40
    before = band.copy()
    glue(band, band[0].copy())
    assert -4.1 < decibels(band[0], before[0], slice(4 * RATE + RATE // 4, 4 * RATE + RATE // 2)) < -3.5
