"""A score in time becomes stereo sound: strikes mixed from rendered notes, a room around them, one loudness."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.audio import Samples, normalise_loudness
from engine.control import Check, Control, unchecked
from engine.errors import InvalidRequest
from engine.score import LONGEST_SECONDS as LONGEST_SCORE_SECONDS
from engine.score.model import Timeline
from engine.sketch.arrangement import Part, arrange
from engine.sketch.bus import Vocal, add_voice, glue
from engine.sketch.notes import RATE_HZ, NoteRenderer
from engine.sketch.reverb import Reverb
from engine.sketch.soundfont import Zone
from engine.sketch.strikes import Strike
from engine.sketch.style import Style
from engine.sketch.vocabulary import Instrument
from engine.sketch.waves import WavePool

BANK = Path(__file__).parent / "bank" / "studio.sf3"
LONGEST_SECONDS = LONGEST_SCORE_SECONDS
TAIL_SECONDS = 2.2
TARGET_LUFS = -14.0
CEILING_DBFS = -2.0  # lossy encoders overshoot a peak by up to 1.3 dB (measured with MP3 at 128 kbit/s)
PHASE = "rendering"
_WAVE_BYTES = 48 << 20
_NOTE_BYTES = 32 << 20
_DRUM_BANK = 128
_FADE_SECONDS = 0.4
_CUT_FADE_SECONDS = 3.0  # where the music would go on
_ROUNDED_SHARE = 0.0005  # of a length asked for: more than the rounding of its tempo takes away
_REFERENCE_RMS = 0.1
_LEVEL_KEYS = {"bass": (33, 40), "drums": (36, 38)}
_MELODIC_LEVEL_KEYS = (60, 67, 72)
_NOTE_STEP = 48  # lengths are rounded to milliseconds, so that repeated notes are found again
_LOOSE_STEP = 480
_STRIKES_A_CHECK = 4096
_VELOCITY_POWER = 1.6
_MIXING_SHARE, _ROOM_SHARE = 0.8, 0.93  # of the phase's progress


@dataclass(frozen=True, slots=True)
class _Event:
    frame: int
    frames: int
    strike: Strike
    part: Part


class Sampler:
    """Plays timelines on the sound bank. Owns the decoded waves, the rendered notes and the room; one thread's."""

    def __init__(self, bank: Path = BANK, check: Check = unchecked) -> None:
        self._pool = WavePool(bank, _WAVE_BYTES)
        check()
        self._renderer = NoteRenderer(self._pool, _NOTE_BYTES)
        self._room = Reverb(RATE_HZ)
        self._answers: dict[tuple[int, int, int, int], tuple[Zone, ...]] = {}
        self._levels: dict[tuple[int, int], float] = {}

    def render(
        self,
        timeline: Timeline,
        style: Style,
        seed: int,
        control: Control,
        *,
        voices: Collection[str] | None = None,
        accompaniment: bool = True,
        room: bool = True,
        limit_seconds: float = math.inf,
        vocal: Vocal | None = None,
    ) -> Samples:
        """(N, 2) stereo at 48 kHz, -14 LUFS, peaks under -1 dBFS; its memory lies channel after channel.

        N covers the timeline and a tail, and at most `limit_seconds`, where the music fades (`sounding_seconds`). `voices` keeps
        only those of the score; the band is left out where `accompaniment` is false, the reverberation where `room`
        is. What the `vocal` sings no instrument plays. Reports bars and checks for cancellation throughout. Raises
        InvalidRequest for a timeline over 20 minutes and CorruptBank.
        """
        length = min(timeline.duration, limit_seconds)
        if length > LONGEST_SECONDS:
            raise InvalidRequest(
                "abc",
                f"The score lasts {length:.0f} s; sketches hold at most {LONGEST_SECONDS:.0f} s. Shorten it.",
            )
        frames = max(round(sounding_seconds(timeline.duration, limit_seconds) * RATE_HZ), 1)
        mix = np.zeros((2, frames), dtype=np.float32)
        send = np.zeros(frames, dtype=np.float32)
        check = control.check_cancelled
        heard = _until(timeline, limit_seconds)
        sung = vocal.notes if vocal else ()
        parts = arrange(
            heard, style, seed, voices=voices, accompaniment=accompaniment, sung=sung, check=check
        )
        self.mix(parts, mix, send, len(heard.bars), control)
        if accompaniment:
            glue(mix, send, check)
        if vocal is not None:
            add_voice(vocal.voice, mix, send, RATE_HZ, check)
        if room:
            self._room.add(send, mix, control)
        del send
        control.report(PHASE, _ROOM_SHARE, bars=len(heard.bars))
        check()
        samples = mix.T
        normalise_loudness(samples, RATE_HZ, TARGET_LUFS, CEILING_DBFS, in_place=True, check=check)
        _fade_out(samples, _CUT_FADE_SECONDS if timeline.duration > limit_seconds else _FADE_SECONDS)
        control.report(PHASE, 1.0, bars=len(heard.bars))
        return samples

    def mix(
        self,
        parts: tuple[Part, ...],
        mix: NDArray[np.float32],
        send: NDArray[np.float32],
        bars: int,
        control: Control,
    ) -> None:
        """Add the parts to `mix` (2, n), and to `send` (n,) what the room is to hear, as far as there are frames."""
        events = _events(parts, len(send), control.check_cancelled)
        gains = {
            id(part): self._gain(part, control.check_cancelled)
            for part in {id(event.part): event.part for event in events}.values()
        }
        bar = -1
        for place, event in enumerate(events):
            control.check_cancelled()
            if event.strike.bar > bar:
                bar = event.strike.bar
                control.report(PHASE, _MIXING_SHARE * place / len(events), bars=min(bar, bars))
            self._strike(event, gains[id(event.part)], mix, send, control.check_cancelled)

    def _strike(
        self,
        event: _Event,
        gain: float,
        mix: NDArray[np.float32],
        send: NDArray[np.float32],
        check: Check,
    ) -> None:
        part, strike = event.part, event.strike
        tuned = part.instrument.bank != _DRUM_BANK
        gain *= (strike.velocity / 127) ** _VELOCITY_POWER * strike.weight
        for zone in self._zones(part.instrument, strike.key, strike.velocity):
            note = self._renderer.note(zone, strike.key, event.frames, tuned=tuned, check=check)
            check()
            note = note[: len(send) - event.frame]
            span = slice(event.frame, event.frame + len(note))
            loud = note * np.float32(gain * 10 ** (-zone.attenuation_db / 20))
            pan = min(max(part.pan + zone.pan * 0.5 + strike.pan, -0.5), 0.5)
            angle = (pan + 0.5) * np.pi / 2
            send[span] += loud * np.float32(part.send)
            mix[0, span] += loud * np.float32(np.cos(angle) * np.sqrt(2))
            mix[1, span] += loud * np.float32(np.sin(angle) * np.sqrt(2))

    def _zones(self, instrument: Instrument, key: int, velocity: int) -> tuple[Zone, ...]:
        """Zones that answer a key; a melodic key beyond the instrument's range is played by the nearest."""
        name = (instrument.bank, instrument.program, key, velocity)
        if name not in self._answers:
            self._answers[name] = self._answering(instrument, key, velocity)
        return self._answers[name]

    def _answering(self, instrument: Instrument, key: int, velocity: int) -> tuple[Zone, ...]:
        zones = self._pool.presets[instrument.bank, instrument.program].zones
        answering = tuple(zone for zone in zones if zone.sounds(key, velocity))
        if answering or instrument.bank == _DRUM_BANK:
            return answering
        nearest = min(max(key, min(zone.keys[0] for zone in zones)), max(zone.keys[1] for zone in zones))
        return tuple(zone for zone in zones if zone.sounds(nearest, velocity))

    def _gain(self, part: Part, check: Check) -> float:
        """What brings an instrument to its part's level, whatever the bank made of its loudness."""
        name = (part.instrument.bank, part.instrument.program)
        if name not in self._levels:
            self._levels[name] = self._measured_level(part.instrument, check)
        return float(10 ** (part.level_db / 20) * _REFERENCE_RMS / self._levels[name])

    def _measured_level(self, instrument: Instrument, check: Check) -> float:
        """Root mean square of typical notes within their first 0.4 s (drums 0.15 s), at full velocity."""
        drum = instrument.bank == _DRUM_BANK
        frames = round((0.15 if drum else 0.4) * RATE_HZ)
        powers = []
        for key in _LEVEL_KEYS.get(instrument.role, _MELODIC_LEVEL_KEYS):
            heard = np.zeros(frames, dtype=np.float32)
            for zone in self._zones(instrument, key, 100):
                note = self._renderer.note(zone, key, frames, tuned=not drum, check=check)[:frames]
                heard[: len(note)] += note * np.float32(10 ** (-zone.attenuation_db / 20))
            powers.append(float(np.mean(np.square(heard))))
        return max(float(np.sqrt(np.mean(powers))), 1e-6)


def sounding_seconds(duration: float, limit_seconds: float) -> float:
    """How long a score of `duration` seconds sounds, what fades after it included: at most `limit_seconds`.

    Just as long where no more is missing than the rounding of a tempo takes away, so that a length asked for is met.
    """
    whole = duration + TAIL_SECONDS
    return limit_seconds if whole > limit_seconds * (1 - _ROUNDED_SHARE) else whole


def _until(timeline: Timeline, seconds: float) -> Timeline:
    """What of the song is heard in so many seconds; its duration stays, since it does not end there."""
    bars = tuple(bar for bar in timeline.bars if bar[0] < seconds)
    return replace(
        timeline,
        notes=tuple(note for note in timeline.notes if note.start < seconds),
        chords=tuple(chord for chord in timeline.chords if chord.start < seconds),
        bars=bars,
        meters=timeline.meters[: len(bars)],
    )


def _events(parts: tuple[Part, ...], end: int, check: Check) -> list[_Event]:
    """All strikes that start before frame `end`, in the order of their start."""
    events = []
    for part in parts:
        step = _NOTE_STEP if part.exact else _LOOSE_STEP
        for place, strike in enumerate(part.strikes):
            if place % _STRIKES_A_CHECK == 0:
                check()
            frames = max(round(strike.length * RATE_HZ / step), 1) * step
            if (frame := round(strike.start * RATE_HZ)) < end:
                events.append(_Event(frame, frames, strike, part))
    return sorted(events, key=lambda event: event.frame)


def _fade_out(samples: Samples, seconds: float) -> None:
    """Fade the last `seconds`, but at most a third, of (N, 2) samples to silence, in place."""
    count = min(round(seconds * RATE_HZ), len(samples) // 3)
    fade = 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, count, dtype=np.float32))
    samples[len(samples) - count :] *= fade[:, None]
