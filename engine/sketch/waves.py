"""Samples of the bank made ready to be played: decoded when first needed, looped without a seam, measured for pitch."""

import io
import math
import mmap
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from engine.control import Check, unchecked
from engine.errors import CorruptBank
from engine.sketch.fourier import Mono, doubled, lowered
from engine.sketch.soundfont import Preset, Sample, Zone, read_presets
from engine.sketch.tuning import PitchCurve, PitchMeter, pitch_curve, straightened

_GUARD_FRAMES = 256  # of the loop's next round behind every wave, for interpolation and filters to look into
_SEAM_SECONDS = 0.03
_DOUBLED_BELOW_HZ = 40_000
_ONSET_SECONDS = 0.05  # what comes before is noise of the attack
_SHORT_LOOP_SECONDS = 0.12
_SHORTEST_BLEND = 16
_KINK = 1.2


@dataclass(frozen=True, slots=True)
class Wave:
    """A playable sample. Reading positions past `end` wrap back by `loop` frames, or stop where `loop` is 0."""

    frames: Mono  # (end + loop + guard,): the loop is written out once more behind the end
    rate_hz: int
    end: int
    loop: int
    sharp_cents: float = 0.0  # how far above its nominal pitch it sounds


class WavePool:
    """Owns the mapped bank file and the waves decoded from it; the least recently used go when over the budget."""

    def __init__(self, path: Path, budget_bytes: int) -> None:
        self._file = _mapped(path)
        self.presets: dict[tuple[int, int], Preset] = read_presets(memoryview(self._file))
        self._budget_bytes = budget_bytes
        self._waves: OrderedDict[tuple[int, int, int, float, int, bool], Wave] = OrderedDict()
        self._held_bytes = 0

    def wave(self, zone: Zone, key: int, rate_hz: int, *, tuned: bool, check: Check = unchecked) -> Wave:
        """The wave of a zone, fit to be played as `key` at `rate_hz` without folding its treble back.

        Waves asked for as `tuned` are measured for pitch. Raises CorruptBank where the sample cannot be decoded, and
        what `check` raises, called between the steps of the work.
        """
        speed = 2 ** (transposition(zone, key) / 12) * zone.sample.rate_hz / rate_hz
        quarters = math.ceil(4 * math.log2(speed)) if speed > 1.1 else 0
        name = (zone.sample.index, zone.loop_start, zone.loop_end, _nominal_hz(zone), quarters, tuned)
        wave = self._waves.get(name)
        if wave is None:
            check()
            wave = _built(zone, self._decoded(zone.sample), 2 ** (-quarters / 4), tuned=tuned, check=check)
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


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise CorruptBank(f"The sound bank cannot be opened ({error}); install the package again.") from error


def transposition(zone: Zone, key: int) -> float:
    """Semitones by which a zone's sample is raised to sound as `key`, by the bank's own account."""
    return (key - zone.root) * zone.scale + zone.tuning


def _built(zone: Zone, frames: Mono, cutoff: float, *, tuned: bool, check: Check) -> Wave:
    rate_hz, start, end = zone.sample.rate_hz, max(zone.loop_start, 0), min(zone.loop_end, len(frames))
    if not (zone.looped and end - start > 4):
        start = end = len(frames)
    frames = _seamless(_centred(frames[:end], start), start, round(_SEAM_SECONDS * rate_hz))
    sharp_cents = 0.0
    check()
    if tuned:
        frames, start, sharp_cents = _in_tune(frames, start, rate_hz, _nominal_hz(zone))
    check()
    end = len(frames)
    loop = frames[start:] if start < end else np.zeros(1, dtype=np.float32)
    frames = np.concatenate((frames, np.resize(loop, end - start + _GUARD_FRAMES)))
    if cutoff < 1:
        frames = lowered(frames, cutoff)
    if rate_hz >= _DOUBLED_BELOW_HZ:
        return Wave(frames, rate_hz, end, end - start, sharp_cents)
    return Wave(doubled(frames), 2 * rate_hz, 2 * end, 2 * (end - start), sharp_cents)


def _centred(frames: Mono, start: int) -> Mono:
    """(n,) the frames with the loop from `start` swinging around zero, or all of them where there is no loop."""
    steady = frames[start:] if start < len(frames) else frames
    offset = float(steady.mean(dtype=np.float64)) if len(steady) else 0.0
    centred: Mono = frames - np.float32(offset)
    return centred


def _nominal_hz(zone: Zone) -> float:
    """What the bank says that the sample sounds as, played at its own rate."""
    return float(440 * 2 ** ((zone.root - 69 - zone.tuning) / 12))


def _in_tune(frames: Mono, loop_start: int, rate_hz: int, nominal_hz: float) -> tuple[Mono, int, float]:
    """Frames bent to a steady pitch, start of their loop, and cents by which all of it is sharp.

    A loop of a few exact cycles must keep its length, which sets the pitch; what comes before is bent to meet it.
    """
    first = min(round(_ONSET_SECONDS * rate_hz), len(frames) // 4)
    loop = frames[loop_start:]
    if not 0 < len(loop) < _SHORT_LOOP_SECONDS * rate_hz:
        curve = pitch_curve(frames[first:], rate_hz, nominal_hz)
        if curve is None:
            return frames, loop_start, 0.0
        curve = PitchCurve(curve.places + first, curve.cents)
        bent, start = straightened(frames, curve, loop_start, loop)
        return bent, start, 0.0
    meter = PitchMeter(rate_hz // 2, rate_hz, nominal_hz)
    sharp_cents = meter.deviation_cents(np.resize(loop, rate_hz // 2)) or 0.0
    curve = pitch_curve(frames[first:loop_start], rate_hz, nominal_hz) if loop_start > 2 * first else None
    if curve is None:
        return frames, loop_start, sharp_cents
    curve = PitchCurve(curve.places + first, curve.cents - sharp_cents)
    before, _ = straightened(frames[:loop_start], curve, loop_start, loop)
    return np.concatenate((before, loop)), len(before), sharp_cents


def _seamless(frames: Mono, start: int, longest: int) -> Mono:
    """Blend the end of a loop into what comes before its start, over at most `longest` frames; writes to `frames`.

    Short loops are exact cycles already and are left alone, but for those with a kink at the seam.
    """
    length = len(frames) - start
    if length == 0 or start < _SHORTEST_BLEND:
        return frames
    span = min(longest, start)
    if length < 2 * longest:
        if not _kinked(frames, start):
            return frames
        span = min(max(length // 8, _SHORTEST_BLEND), start)
    weight = np.linspace(0, 1, span, dtype=np.float32)
    frames[-span:] += (frames[start - span : start] - frames[-span:]) * weight
    return frames


def _kinked(frames: Mono, start: int) -> bool:
    """True where the waveform bends more sharply at the loop's seam than anywhere inside."""
    inside = np.abs(np.diff(frames[start:], 2))
    seam = np.concatenate((frames[-2:], frames[start : start + 2]))
    return bool(inside.size) and float(np.abs(np.diff(seam, 2)).max()) > _KINK * float(inside.max())
