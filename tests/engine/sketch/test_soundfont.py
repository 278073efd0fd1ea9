"""Reading a bank: generators of both levels, the bank of the project, and damage."""

import struct

import pytest

from engine.errors import CorruptBank
from engine.sketch.sampler import BANK
from engine.sketch.soundfont import Preset, read_presets
from engine.sketch.vocabulary import INSTRUMENTS

WHOLE = BANK.read_bytes()


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def rows(layout: str, *values: tuple[object, ...]) -> bytes:
    return b"".join(struct.pack(layout, *row) for row in values)


def small_bank(preset: dict[int, int], instrument: dict[int, int], frames: int = 100) -> bytes:
    """A bank of one preset with one zone and one PCM sample of 44.1 kHz, root 60, looped from 10 to 90."""
    instrument = {**instrument, 53: 0}
    preset = {**preset, 41: 0}
    tables = (
        chunk(b"phdr", rows("<20sHHHIII", (b"Test", 3, 0, 0, 0, 0, 0), (b"EOP", 0, 0, 1, 0, 0, 0)))
        + chunk(b"pbag", rows("<HH", (0, 0), (len(preset), 0)))
        + chunk(b"pgen", rows("<HH", *((key, value & 0xFFFF) for key, value in preset.items()), (0, 0)))
        + chunk(b"inst", rows("<20sH", (b"Inst", 0), (b"EOI", 1)))
        + chunk(b"ibag", rows("<HH", (0, 0), (len(instrument), 0)))
        + chunk(b"igen", rows("<HH", *((key, value & 0xFFFF) for key, value in instrument.items()), (0, 0)))
        + chunk(
            b"shdr",
            rows("<20sIIIIIBbHH", (b"Tone", 0, frames, 10, 90, 44_100, 60, -7, 0, 1), (b"EOS", *[0] * 9)),
        )
    )
    lists = chunk(b"LIST", b"sdta" + chunk(b"smpl", bytes(2 * frames))) + chunk(b"LIST", b"pdta" + tables)
    return b"RIFF" + struct.pack("<I", 4 + len(lists)) + b"sfbk" + lists


def only_preset(octets: bytes) -> Preset:
    (preset,) = read_presets(memoryview(octets)).values()
    return preset


def test_the_bank_holds_every_instrument_of_the_vocabulary() -> None:
    presets = read_presets(memoryview(WHOLE))
    assert {(instrument.bank, instrument.program) for instrument in INSTRUMENTS.values()} <= set(presets)
    assert presets[0, 0].name == "Yamaha Grand Piano"
    assert all(preset.zones for preset in presets.values())
    numbers = [zone.number for preset in presets.values() for zone in preset.zones]
    assert len(numbers) == len(set(numbers))


def test_melodic_presets_answer_every_key_at_every_velocity_of_their_middle() -> None:
    for (bank, _), preset in read_presets(memoryview(WHOLE)).items():
        keys = range(48, 85) if bank == 0 else (36, 38, 42, 46, 49)
        for velocity in (1, 40, 80, 96, 127):
            assert [key for key in keys if not any(zone.sounds(key, velocity) for zone in preset.zones)] == []


def test_generators_of_the_preset_are_added_to_those_of_the_instrument() -> None:
    octets = small_bank(
        {51: 2, 48: 50, 43: 40 | 80 << 8}, {51: -14, 52: 25, 48: 100, 43: 60 | 100 << 8, 54: 1}
    )
    (zone,) = only_preset(octets).zones
    assert zone.tuning == pytest.approx(-12 + 0.25 - 0.07)
    assert zone.attenuation_db == pytest.approx(6.0)
    assert zone.keys == (60, 80)
    assert zone.looped
    assert (zone.loop_start, zone.loop_end, zone.root) == (10, 90, 60)


def test_times_are_read_from_timecents_and_defaults_from_the_specification() -> None:
    (zone,) = only_preset(small_bank({38: 1200}, {34: -1200, 37: 200, 58: 72})).zones
    assert zone.volume.attack == pytest.approx(0.5)
    assert zone.volume.sustain == pytest.approx(20.0)
    assert zone.volume.release == pytest.approx(2**-9)  # an octave above the default, which is nothing
    assert zone.volume.hold == 0.0
    assert zone.root == 72
    assert zone.cutoff_cents == 13_500
    assert zone.scale == 1.0
    assert not zone.looped


def test_ranges_that_do_not_meet_make_no_zone() -> None:
    assert only_preset(small_bank({43: 0 | 40 << 8}, {43: 60 | 80 << 8})).zones == ()


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"RIFF\0\0\0\0WAVE",
        WHOLE[:1_000],
        WHOLE[:-40],
        small_bank({}, {53: 0})[:-10],
        small_bank({}, {}).replace(b"shdr", b"shxx"),
        small_bank({}, {}).replace(b"phdr", b"ph\xffr"),
        small_bank({}, {}, frames=100).replace(struct.pack("<II", 0, 100), struct.pack("<II", 0, 9_000)),
    ],
    ids=["empty", "wave", "cut", "tail", "rows", "no-headers", "name", "beyond"],
)
def test_a_damaged_bank_says_so(octets: bytes) -> None:
    with pytest.raises(CorruptBank, match="install the package again"):
        read_presets(memoryview(octets))
