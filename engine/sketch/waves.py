"""Samples of the bank made ready to be played: decoded when first needed, looped without a seam, measured for pitch."""

import io
import math
import mmap
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from engine.errors import CorruptBank
from engine.sketch.fourier import Mono, doubled, lowered
from engine.sketch.soundfont import Preset, Sample, Zone, read_presets
from engine.sketch.tuning import deviation_cents

_GUARD_FRAMES = 256  # of the loop's next round behind every wave, for interpolation and filters to look into
_SEAM_SECONDS = 0.03
_DOUBLED_BELOW_HZ = 40_000
_ONSET_SECONDS = 0.05  # what comes before is noise of the attack
_PITCH_SECONDS = 0.5
_LARGEST_CORRECTION_CENTS = 70


@dataclass(frozen=True, slots=True)
class Wave:
    """A playable sample. Reading positions past `end` wrap back by `loop` frames, or stop where `loop` is 0."""

    frames: Mono  # (end + loop + guard,): the loop is written out once more behind the end
    rate_hz: int
    end: int
    loop: int
    onset_cents: float = 0.0  # how far above its nominal pitch it sounds before `end`
    sustain_cents: float = 0.0  # and within the loop


class WavePool:
    """Owns the mapped bank file and the waves decoded from it; the least recently used go when over the budget."""

    def __init__(self, path: Path, budget_bytes: int) -> None:
        with path.open("rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.presets: dict[tuple[int, int], Preset] = read_presets(memoryview(self._file))
        self._budget_bytes = budget_bytes
        self._waves: OrderedDict[tuple[int, int], Wave] = OrderedDict()
        self._held_bytes = 0

    def wave(self, zone: Zone, key: int, rate_hz: int, *, tuned: bool) -> Wave:
        """The wave of a zone, fit to be played as `key` at `rate_hz` without folding its treble back.

        Waves asked for as `tuned` are measured for pitch. Raises CorruptBank where the sample cannot be decoded.
        """
        speed = 2 ** (transposition(zone, key) / 12) * zone.sample.rate_hz / rate_hz
        quarters = math.ceil(4 * math.log2(speed)) if speed > 1.1 else 0
        name = (zone.number, quarters)
        wave = self._waves.get(name)
        if wave is None:
            wave = _built(zone, self._decoded(zone.sample), 2 ** (-quarters / 4), tuned=tuned)
            self._waves[name] = wave
            self._held_bytes += wave.frames.nbytes
            self._trim()
        self._waves.move_to_end(name)
        return wave

    def _trim(self) -> None:
        while self._held_bytes > self._budget_bytes and len(self._waves) > 1:
            _, dropped = self._waves.popitem(last=False)
            self._held_bytes -= dropped.frames.nbytes

    def _decoded(self, sample: Sample) -> Mono:
        octets = self._file[sample.offset : sample.offset + sample.length]
        if not sample.vorbis:
            return np.frombuffer(octets, dtype="<i2").astype(np.float32) / np.float32(32768)
        try:
            frames, _ = soundfile.read(io.BytesIO(octets), dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise CorruptBank(
                f"Sample {sample.name!r} of the sound bank is damaged; install the package again."
            ) from error
        return np.ascontiguousarray(frames[:, 0], dtype=np.float32)


def transposition(zone: Zone, key: int) -> float:
    """Semitones by which a zone's sample is raised to sound as `key`, by the bank's own account."""
    return (key - zone.root) * zone.scale + zone.tuning


def _built(zone: Zone, frames: Mono, cutoff: float, *, tuned: bool) -> Wave:
    start, end = max(zone.loop_start, 0), min(zone.loop_end, len(frames))
    looped = zone.looped and end - start > 4
    if looped:
        frames = _seamless(frames[:end].copy(), start, round(_SEAM_SECONDS * zone.sample.rate_hz))
        ahead = np.resize(frames[start:], end - start + _GUARD_FRAMES)
    else:
        start = end = len(frames)
        ahead = np.zeros(_GUARD_FRAMES, dtype=np.float32)
    frames = np.concatenate((frames, ahead))
    if cutoff < 1:
        frames = lowered(frames, cutoff)
    factor = 2 if zone.sample.rate_hz < _DOUBLED_BELOW_HZ else 1
    if factor == 2:
        frames = doubled(frames)
    wave = Wave(frames, zone.sample.rate_hz * factor, end * factor, (end - start) * factor)
    return _measured(wave, zone) if tuned else wave


def _seamless(frames: Mono, start: int, span: int) -> Mono:
    """Blend the end of a long loop into what comes before its start; short loops are exact cycles already."""
    length = len(frames) - start
    if length < 2 * span or start < 16:
        return frames
    span = min(span, start)
    weight = np.linspace(0, 1, span, dtype=np.float32)
    frames[-span:] += (frames[start - span : start] - frames[-span:]) * weight
    return frames


def _measured(wave: Wave, zone: Zone) -> Wave:
    nominal_hz = 440 * 2 ** ((zone.root - 69 - zone.tuning) / 12)
    first, longest = round(_ONSET_SECONDS * wave.rate_hz), round(_PITCH_SECONDS * wave.rate_hz)
    onset = _cents(wave.frames[first : min(wave.end, first + longest)], wave.rate_hz, nominal_hz)
    loop = wave.frames[wave.end - wave.loop : wave.end]
    sustain = (
        _cents(np.resize(loop, max(longest, wave.loop)), wave.rate_hz, nominal_hz) if wave.loop else onset
    )
    known = [cents for cents in (onset, sustain) if cents is not None]
    if not known:
        return wave
    return Wave(
        wave.frames,
        wave.rate_hz,
        wave.end,
        wave.loop,
        known[0] if onset is None else onset,
        known[-1] if sustain is None else sustain,
    )


def _cents(tone: Mono, rate_hz: int, nominal_hz: float) -> float | None:
    found = deviation_cents(tone, rate_hz, nominal_hz)
    return found if found is not None and abs(found) <= _LARGEST_CORRECTION_CENTS else None
