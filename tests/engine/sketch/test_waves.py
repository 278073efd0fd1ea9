"""Waves: decoded once, bounded, looped without a kink, in tune, band-limited."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import CorruptBank
from engine.sketch.sampler import BANK
from engine.sketch.soundfont import Zone
from engine.sketch.waves import WavePool, transposition

RATE = 48_000


def zone_of(pool: WavePool, program: int, key: int, bank: int = 0) -> Zone:
    return next(zone for zone in pool.presets[bank, program].zones if zone.sounds(key, 96))


def test_the_loop_is_written_out_once_more(pool: WavePool) -> None:
    wave = pool.wave(zone_of(pool, 71, 60), 60, RATE, tuned=True)
    assert wave.loop > 0
    # Doubling the rate rounds a little; what matters is that the second round is the first.
    first, second = wave.frames[wave.end - wave.loop : wave.end], wave.frames[wave.end : wave.end + wave.loop]
    assert np.abs(first - second).max() < 0.01 * np.abs(first).max()


def test_layers_of_one_sample_share_their_wave(pool: WavePool) -> None:
    zones = [zone for zone in pool.presets[0, 0].zones if zone.keys[0] <= 60 <= zone.keys[1]]
    assert len(zones) > 2
    assert pool.wave(zones[0], 60, RATE, tuned=True) is pool.wave(zones[-1], 60, RATE, tuned=True)


def test_samples_of_low_rate_are_doubled(pool: WavePool) -> None:
    zone = zone_of(pool, 4, 60)
    assert zone.sample.rate_hz == 22_050
    assert pool.wave(zone, 60, RATE, tuned=True).rate_hz == 44_100


def test_playing_far_above_the_root_filters_what_would_fold_back(pool: WavePool) -> None:
    zone = zone_of(pool, 89, 96)
    low, high = (pool.wave(zone, key, RATE, tuned=False) for key in (84, 107))

    def treble(frames: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
        power = np.square(np.abs(np.fft.rfft(frames)))
        return float(power[len(power) // 3 :].sum() / power.sum())

    assert treble(high.frames) < 0.1 * treble(low.frames)


def test_transposition_follows_root_scale_and_tuning(pool: WavePool) -> None:
    zone = zone_of(pool, 56, 60)
    assert transposition(zone, zone.root + 12) - transposition(zone, zone.root) == pytest.approx(12)


def test_the_least_recently_used_waves_go_first() -> None:
    pool = WavePool(BANK, 1)
    zone = zone_of(pool, 71, 60)
    first = pool.wave(zone, 60, RATE, tuned=True)
    assert pool.wave(zone, 60, RATE, tuned=True) is first
    pool.wave(zone_of(pool, 71, 70), 70, RATE, tuned=True)
    again = pool.wave(zone, 60, RATE, tuned=True)
    assert again is not first
    assert np.array_equal(again.frames, first.frames)


def test_a_damaged_sample_says_so(tmp_path: Path) -> None:
    octets = bytearray(BANK.read_bytes())
    zone = zone_of(WavePool(BANK, 1), 71, 60)
    octets[zone.sample.offset : zone.sample.offset + zone.sample.length] = bytes(zone.sample.length)
    damaged = tmp_path / "bank.sf3"
    damaged.write_bytes(octets)
    with pytest.raises(CorruptBank, match=r"damaged; install"):
        WavePool(damaged, 1 << 20).wave(zone, 60, RATE, tuned=True)


@pytest.mark.parametrize("content", [None, b""])
def test_a_bank_that_cannot_be_opened_says_so(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bank.sf3"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CorruptBank, match="cannot be opened"):
        WavePool(path, 1)


@pytest.mark.parametrize(("program", "key"), [(89, 60), (89, 72), (81, 62), (81, 74), (48, 60), (73, 72)])
def test_loops_swing_around_zero(pool: WavePool, program: int, key: int) -> None:
    wave = pool.wave(zone_of(pool, program, key), key, RATE, tuned=True)
    assert wave.loop > 0
    assert abs(float(wave.frames[wave.end - wave.loop : wave.end].mean())) < 0.003
