"""One note of one zone as sound: the wave read at the right speed, its filter, its envelope."""

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.sketch.fourier import Mono, fast_length
from engine.sketch.interpolation import interpolated
from engine.sketch.soundfont import Envelope, Zone
from engine.sketch.waves import Wave, WavePool, transposition

RATE_HZ = 48_000
_RISE_SECONDS = 0.002  # shortest fade at the start, against clicks
_FALL_SECONDS = 0.005  # fade at the very end
_SHORTEST_RELEASE_SECONDS = 0.08
_LONGEST_RELEASE_SECONDS = 2.0
_HEARD_SHARE = 0.65  # of the release: 65 of its 100 dB
_FULL_FALL = 100 / 20 * np.log(10)  # 100 dB as an exponent of e
_PIECE_FRAMES = 1 << 14
_LONGEST_FRAMES = 90 * RATE_HZ
_FILTER_FRAMES, _FILTER_TAIL_FRAMES = 1 << 17, RATE_HZ // 20  # of a block, and of what rings on behind it
_OPEN_CENTS = 12_000  # filters that open above 8 kHz are left out


class NoteRenderer:
    """Renders notes at 48 kHz and keeps them, since music repeats itself; owns that cache, bounded in bytes."""

    def __init__(self, pool: WavePool, budget_bytes: int) -> None:
        self._pool = pool
        self._budget_bytes = budget_bytes
        self._notes: OrderedDict[tuple[int, int, int, bool], Mono] = OrderedDict()
        self._held_bytes = 0

    def note(self, zone: Zone, key: int, frames: int, *, tuned: bool, check: Check = unchecked) -> Mono:
        """(n,) `key` held for `frames` frames and released, at the zone's full level; not to be written to.

        `check` is called every few milliseconds of work and stops it by raising.
        """
        name = (zone.number, key, frames, tuned)
        found = self._notes.get(name)
        if found is None:
            wave = self._pool.wave(zone, key, RATE_HZ, tuned=tuned, check=check)
            found = render_note(zone, wave, key, frames, damped=not tuned, check=check)
            self._notes[name] = found
            self._held_bytes += found.nbytes
            while self._held_bytes > self._budget_bytes and len(self._notes) > 1:
                _, dropped = self._notes.popitem(last=False)
                self._held_bytes -= dropped.nbytes
        self._notes.move_to_end(name)
        return found


def render_note(
    zone: Zone, wave: Wave, key: int, frames: int, *, damped: bool = False, check: Check = unchecked
) -> Mono:
    """(n,) the note with its release; n is shorter where a sample without a loop ends first.

    Nobody holds a note over 90 s.

    `damped` notes are cut short when released, as a hand does a cymbal, whatever the bank says.
    """
    release = _SHORTEST_RELEASE_SECONDS if damped else _release_seconds(zone.volume)
    frames = min(frames, _LONGEST_FRAMES)
    total = frames + round(release * _HEARD_SHARE * RATE_HZ)
    speed = 2 ** ((transposition(zone, key) - wave.sharp_cents / 100) / 12) * wave.rate_hz / RATE_HZ
    if not wave.loop:
        total = max(min(total, int(wave.end / speed)), 1)
    sound = _read(wave, total, speed, check)
    if min(zone.cutoff_cents, zone.cutoff_cents + zone.cutoff_swing_cents) < _OPEN_CENTS:
        sound = _filtered(sound, zone, check)
    check()
    level = _volume(zone.volume, total, frames, release)
    check()
    sound *= level
    return sound


def _release_seconds(volume: Envelope) -> float:
    return min(max(volume.release, _SHORTEST_RELEASE_SECONDS), _LONGEST_RELEASE_SECONDS)


def _read(wave: Wave, total: int, speed: float, check: Check) -> Mono:
    """(total,) the wave at `speed`, past its end in the loop's second round; in pieces that fit a processor's cache."""
    sound = np.empty(total, dtype=np.float32)
    for start in range(0, total, _PIECE_FRAMES):
        check()
        stop = min(start + _PIECE_FRAMES, total)
        positions = np.arange(start, stop, dtype=np.float64) * speed
        if wave.loop and positions[-1] >= wave.end:
            looped = positions[np.searchsorted(positions, wave.end) :]
            looped -= wave.end
            np.remainder(looped, wave.loop, out=looped)
            looped += wave.end
        sound[start:stop] = interpolated(wave.frames, positions)
    return sound


def _volume(volume: Envelope, total: int, frames: int, release: float) -> Mono:
    """(total,) attack linear, decay and release straight lines in decibels, both ends faded."""
    level = np.ones(total, dtype=np.float32)
    attack = min(max(round(max(volume.attack, _RISE_SECONDS) * RATE_HZ), 1), total)
    level[:attack] = np.arange(attack, dtype=np.float32) / np.float32(attack)
    first = attack + round(volume.hold * RATE_HZ)
    if volume.sustain > 0 and first < total:
        level[first:] *= _fall(total - first, max(volume.decay, 0.01), volume.sustain)
    if frames < total:
        level[frames:] *= _fall(total - frames, release, 100)
    end = min(round(_FALL_SECONDS * RATE_HZ), total)
    level[total - end :] *= np.arange(end, 0, -1, dtype=np.float32) / np.float32(end + 1)
    return level


def _fall(count: int, seconds: float, most_db: float) -> Mono:
    time: Mono = np.arange(count, dtype=np.float32)
    time *= np.float32(-_FULL_FALL / (seconds * RATE_HZ))
    np.maximum(time, np.float32(-most_db / 20 * np.log(10)), out=time)
    np.exp(time, out=time)
    return time


def _filtered(sound: Mono, zone: Zone, check: Check) -> Mono:
    """(n,) the sound through the zone's low pass, block by block; what rings on from one block adds to the next."""
    filtered = np.zeros(len(sound) + _FILTER_TAIL_FRAMES, dtype=np.float32)
    for start in range(0, len(sound), _FILTER_FRAMES):
        check()
        answer = _filtered_block(sound[start : start + _FILTER_FRAMES], start, zone)
        filtered[start : start + len(answer)] += answer
    return filtered[: len(sound)]


def _filtered_block(block: Mono, start: int, zone: Zone) -> Mono:
    """(n + tail,) a moving cutoff is a blend of its lowest and highest setting; the block is `start` frames in."""
    count = len(block) + _FILTER_TAIL_FRAMES
    length = fast_length(count)
    spectrum = np.fft.rfft(block, length)
    still = _low_passed(spectrum, length, zone.cutoff_cents, zone.resonance_db)[:count]
    if not zone.cutoff_swing_cents:
        return still
    swung_cents = zone.cutoff_cents + zone.cutoff_swing_cents
    swung = _low_passed(spectrum, length, swung_cents, zone.resonance_db)[:count]
    swung -= still
    swung *= _modulation(zone.modulation, start, count)
    swung += still
    return swung


def _low_passed(
    spectrum: NDArray[np.complexfloating], length: int, cutoff_cents: float, resonance_db: float
) -> Mono:
    cutoff_hz = 8.176 * 2 ** (min(cutoff_cents, 13_500) / 1200)
    place = np.arange(len(spectrum), dtype=np.float32) * np.float32(RATE_HZ / length / cutoff_hz)
    quality = np.sqrt(0.5) * 10 ** (resonance_db / 20)
    response = 1 / ((1 - place * place) + np.complex64(1j / quality) * place)
    return np.fft.irfft(spectrum * response, length).astype(np.float32)


def _modulation(envelope: Envelope, start: int, count: int) -> Mono:
    """(count,) the modulation envelope from 0 to 1, from frame `start` on: linear throughout."""
    corners = np.cumsum(
        [
            envelope.delay,
            max(envelope.attack, 1e-4),
            envelope.hold,
            max(envelope.decay * (1 - envelope.sustain), 1e-4),
        ]
    )
    times = np.arange(start, start + count, dtype=np.float32) / np.float32(RATE_HZ)
    return np.asarray(np.interp(times, corners, [0.0, 1.0, 1.0, envelope.sustain]), dtype=np.float32)
