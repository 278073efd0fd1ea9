"""A SoundFont 2/3 bank as data: presets, their zones, and where each sample lies in the file.

Format: "SoundFont Technical Specification 2.04"; the `.sf3` variant holds one Ogg Vorbis stream a sample, whose
start and end count bytes while its loop points count frames. Generators of the preset level are added to those of
the instrument level. Modulators and low-frequency oscillators are not read.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any

from engine.errors import CorruptBank


class Generator(IntEnum):
    """Generator numbers of section 8.1.2 that the sampler obeys."""

    LOOP_START = 2
    LOOP_END = 3
    CUTOFF = 8
    RESONANCE = 9
    MOD_TO_CUTOFF = 11
    PAN = 17
    MOD_DELAY = 25
    MOD_ATTACK = 26
    MOD_HOLD = 27
    MOD_DECAY = 28
    MOD_SUSTAIN = 29
    ATTACK = 34
    HOLD = 35
    DECAY = 36
    SUSTAIN = 37
    RELEASE = 38
    INSTRUMENT = 41
    KEYS = 43
    VELOCITIES = 44
    ATTENUATION = 48
    COARSE_TUNE = 51
    FINE_TUNE = 52
    SAMPLE = 53
    SAMPLE_MODES = 54
    SCALE_TUNING = 56
    ROOT = 58


_STAGES = (
    Generator.MOD_DELAY,
    Generator.MOD_ATTACK,
    Generator.MOD_HOLD,
    Generator.MOD_DECAY,
    Generator.ATTACK,
    Generator.HOLD,
    Generator.DECAY,
    Generator.RELEASE,
)
_DEFAULTS = {
    Generator.CUTOFF: 13500,
    Generator.SCALE_TUNING: 100,
    Generator.ROOT: -1,
    **dict.fromkeys(_STAGES, -12000),
}
_VORBIS = 0x10
_ATTENUATION_SCALE = 0.4  # what the hardware that banks are tuned for makes of the generator's decibels


@dataclass(frozen=True, slots=True)
class Envelope:
    """Delay, attack, hold in seconds; decay and release in seconds for a fall of 100 dB; sustain below full level."""

    delay: float
    attack: float
    hold: float
    decay: float
    sustain: float  # dB for the volume, 0 to 1 for the modulation envelope
    release: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Where a sample lies: `offset` and `length` in bytes of the file, loop points in frames."""

    index: int
    name: str
    offset: int
    length: int
    vorbis: bool
    rate_hz: int
    root: int
    correction_cents: int
    loop_start: int
    loop_end: int


@dataclass(frozen=True, slots=True)
class Zone:
    """A sample over a range of keys and velocities, with the sum of both levels' generators."""

    number: int  # unique in its bank
    keys: tuple[int, int]
    velocities: tuple[int, int]
    sample: Sample
    looped: bool
    loop_start: int
    loop_end: int
    root: int
    tuning: float  # semitones to add
    scale: float  # semitones a key
    attenuation_db: float
    pan: float  # -0.5 left to 0.5 right
    volume: Envelope
    modulation: Envelope
    cutoff_cents: float  # above 8.176 Hz
    cutoff_swing_cents: float  # what the modulation envelope adds at its peak
    resonance_db: float

    def sounds(self, key: int, velocity: int) -> bool:
        """True where this zone answers the key at the velocity."""
        return self.keys[0] <= key <= self.keys[1] and self.velocities[0] <= velocity <= self.velocities[1]


@dataclass(frozen=True, slots=True)
class Preset:
    """An instrument as a player chooses it."""

    name: str
    zones: tuple[Zone, ...]


Generators = Mapping[int, int]


def read_presets(octets: memoryview) -> dict[tuple[int, int], Preset]:
    """Presets by (bank, program) of a whole file's bytes. Raises CorruptBank."""
    try:
        return _Reader(octets).presets()
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise CorruptBank(f"The sound bank is damaged ({error}); install the package again.") from error


class _Reader:
    """Owns the tables of one file while its presets are put together."""

    def __init__(self, octets: memoryview) -> None:
        if bytes(octets[:4]) != b"RIFF" or bytes(octets[8:12]) != b"sfbk":
            raise CorruptBank("The sound bank is not a SoundFont file; install the package again.")
        self._octets = octets
        self._chunks = dict(_chunks(octets))
        self._samples_at = self._chunks["smpl"][0]
        self._preset_bags = self._table("pbag", "<HH")
        self._preset_generators = self._table("pgen", "<HH")
        self._instruments = self._table("inst", "<20sH")
        self._instrument_bags = self._table("ibag", "<HH")
        self._instrument_generators = self._table("igen", "<HH")
        self._headers = self._table("shdr", "<20sIIIIIBbHH")
        self._zones = 0

    def presets(self) -> dict[tuple[int, int], Preset]:
        rows = self._table("phdr", "<20sHHHIII")
        found: dict[tuple[int, int], Preset] = {}
        for row, following in pairwise(rows):
            name, program, bank, first = row[:4]
            zones: list[Zone] = []
            for preset in _levels(
                self._preset_bags[first : following[3] + 1], self._preset_generators, Generator.INSTRUMENT
            ):
                zones += self._instrument_zones(preset)
            found[bank, program] = Preset(_text(name), tuple(zones))
        return found

    def _instrument_zones(self, preset: Generators) -> Iterator[Zone]:
        index = preset[Generator.INSTRUMENT]
        first, last = self._instruments[index][1], self._instruments[index + 1][1]
        bags = self._instrument_bags[first : last + 1]
        for instrument in _levels(bags, self._instrument_generators, Generator.SAMPLE):
            zone = self._zone(preset, instrument)
            if zone.keys[0] <= zone.keys[1] and zone.velocities[0] <= zone.velocities[1]:
                yield zone

    def _zone(self, preset: Generators, instrument: Generators) -> Zone:
        def total(generator: Generator) -> int:
            base = _signed(instrument.get(generator, _DEFAULTS.get(generator, 0)))
            return base + _signed(preset.get(generator, 0))

        sample = self._sample(instrument[Generator.SAMPLE])
        root = _signed(instrument.get(Generator.ROOT, -1))
        self._zones += 1
        return Zone(
            number=self._zones,
            keys=_overlap(preset, instrument, Generator.KEYS),
            velocities=_overlap(preset, instrument, Generator.VELOCITIES),
            sample=sample,
            looped=bool(instrument.get(Generator.SAMPLE_MODES, 0) & 1)
            and sample.loop_end > sample.loop_start,
            loop_start=sample.loop_start + _signed(instrument.get(Generator.LOOP_START, 0)),
            loop_end=sample.loop_end + _signed(instrument.get(Generator.LOOP_END, 0)),
            root=root if 0 <= root <= 127 else sample.root,
            tuning=total(Generator.COARSE_TUNE)
            + (total(Generator.FINE_TUNE) + sample.correction_cents) / 100,
            scale=total(Generator.SCALE_TUNING) / 100,
            attenuation_db=max(total(Generator.ATTENUATION), -200) / 10 * _ATTENUATION_SCALE,
            pan=min(max(total(Generator.PAN) / 1000, -0.5), 0.5),
            volume=_volume_envelope(total),
            modulation=_modulation_envelope(total),
            cutoff_cents=total(Generator.CUTOFF),
            cutoff_swing_cents=total(Generator.MOD_TO_CUTOFF),
            resonance_db=max(total(Generator.RESONANCE), 0) / 10,
        )

    def _sample(self, index: int) -> Sample:
        name, start, end, loop_start, loop_end, rate, root, correction, _link, kind = self._headers[index]
        vorbis = bool(kind & _VORBIS)
        width = 1 if vorbis else 2
        size = self._chunks["smpl"][1]
        if not start < end or end * width > size or not rate:
            raise CorruptBank(
                f"Sample {_text(name)!r} lies outside the sound bank; install the package again."
            )
        base = 0 if vorbis else start
        return Sample(
            index=index,
            name=_text(name),
            offset=self._samples_at + start * width,
            length=(end - start) * width,
            vorbis=vorbis,
            rate_hz=rate,
            root=root,
            correction_cents=correction,
            loop_start=loop_start - base,
            loop_end=loop_end - base,
        )

    def _table(self, name: str, layout: str) -> list[tuple[Any, ...]]:
        offset, size = self._chunks[name]
        return list(struct.iter_unpack(layout, self._octets[offset : offset + size]))


def _chunks(octets: memoryview) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name, offset and size of every chunk inside the lists; chunks of odd size may lack their pad byte."""
    offset = 12
    while offset + 8 <= len(octets):
        size = struct.unpack_from("<I", octets, offset + 4)[0]
        if offset + 8 + size > len(octets):
            raise CorruptBank("The sound bank ends in the middle of a chunk; install the package again.")
        if bytes(octets[offset : offset + 4]) == b"LIST":
            offset += 12
            continue
        yield bytes(octets[offset : offset + 4]).decode("ascii"), (offset + 8, size)
        offset += 8 + size
        if size & 1 and bytes(octets[offset : offset + 1]) == b"\0":
            offset += 1


def _levels(
    bags: list[tuple[Any, ...]], generators: list[tuple[Any, ...]], link: Generator
) -> Iterator[Generators]:
    """The zones of one level that name `link`, each over the global zone's values."""
    shared: dict[int, int] = {}
    for bag, following in pairwise(bags):
        own = dict(generators[bag[0] : following[0]])
        if link in own:
            yield {**shared, **own}
        else:
            shared = own


def _text(name: bytes) -> str:
    return name.split(b"\0", 1)[0].decode("latin-1").strip()


def _signed(value: int) -> int:
    return value - 65536 if value > 32767 else value


def _overlap(preset: Generators, instrument: Generators, generator: Generator) -> tuple[int, int]:
    everything = 127 << 8
    outer, inner = preset.get(generator, everything), instrument.get(generator, everything)
    return max(outer & 255, inner & 255), min(outer >> 8, inner >> 8)


def _seconds(timecents: int) -> float:
    return 0.0 if timecents <= -12000 else float(2 ** (min(timecents, 8000) / 1200))


def _volume_envelope(total: Callable[[Generator], int]) -> Envelope:
    return Envelope(
        delay=0.0,  # notes begin when the score has them begin
        attack=_seconds(total(Generator.ATTACK)),
        hold=_seconds(total(Generator.HOLD)),
        decay=_seconds(total(Generator.DECAY)),
        sustain=min(max(total(Generator.SUSTAIN), 0), 1440) / 10,
        release=_seconds(total(Generator.RELEASE)),
    )


def _modulation_envelope(total: Callable[[Generator], int]) -> Envelope:
    return Envelope(
        delay=_seconds(total(Generator.MOD_DELAY)),
        attack=_seconds(total(Generator.MOD_ATTACK)),
        hold=_seconds(total(Generator.MOD_HOLD)),
        decay=_seconds(total(Generator.MOD_DECAY)),
        sustain=1 - min(max(total(Generator.MOD_SUSTAIN), 0), 1000) / 1000,
        release=0.0,
    )
