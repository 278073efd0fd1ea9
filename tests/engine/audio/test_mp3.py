"""MP3 is cut to the samples that went in, by a tag frame that says what LAME's own says."""

import io
import struct

import numpy as np
import pytest
import soundfile

from engine.audio import Samples, decode
from engine.audio.mp3 import MP3_RATES_HZ, Mp3Writer, TagFrame
from engine.bitrates import MP3_BITRATES_KBPS
from engine.control import Check, unchecked
from engine.errors import InvalidRequest

RATE = 48_000


def music(frames: int, rate_hz: int = RATE, channels: int = 2) -> Samples:
    """Two swelling partials, the second channel softer."""
    time = np.arange(frames) / rate_hz
    swell = 0.5 + 0.4 * np.sin(2 * np.pi * 1.3 * time)
    wave = 0.3 * np.sin(2 * np.pi * 220 * time) * swell + 0.1 * np.sin(2 * np.pi * 947 * time)
    return np.asarray(wave[:, None] * np.array([1.0, 0.6])[:channels], dtype=np.float32)


def write(samples: Samples, rate_hz: int, kbps: int, sink: io.BytesIO, check: Check = unchecked) -> None:
    with Mp3Writer(rate_hz, samples.shape[1], kbps, sink, check) as writer:
        writer.write(samples)


def encoded(samples: Samples, rate_hz: int = RATE, kbps: int = 128) -> bytes:
    sink = io.BytesIO()
    write(samples, rate_hz, kbps, sink)
    return sink.getvalue()


def by_libsndfile(samples: Samples, kbps: int) -> bytes:
    sink = io.BytesIO()
    level = (320 - kbps) / 288
    with soundfile.SoundFile(
        sink, "w", RATE, samples.shape[1], "MPEG_LAYER_III", format="MP3",
        compression_level=level, bitrate_mode="CONSTANT",
    ) as file:  # fmt: skip
        file.write(samples)
    return sink.getvalue()


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kbps", [32, 64, 128, 320])
@pytest.mark.parametrize("frames", [1, 1_152, 14_407])
def test_what_is_decoded_is_as_long_as_what_was_encoded(frames: int, kbps: int, channels: int) -> None:
    samples, rate = decode(io.BytesIO(encoded(music(frames, channels=channels), kbps=kbps)))
    assert (samples.shape, rate) == ((frames, channels), RATE)


@pytest.mark.parametrize("rate_hz", MP3_RATES_HZ)
def test_every_rate_of_the_format_keeps_length_place_and_sound(rate_hz: int) -> None:
    samples = music(rate_hz // 3, rate_hz)
    got, rate = decode(io.BytesIO(encoded(samples, rate_hz, 160)))
    assert rate == rate_hz
    assert got.shape == samples.shape
    noise = got - samples
    assert 10 * np.log10(np.square(samples).sum() / np.square(noise).sum()) > 18


@pytest.mark.parametrize("rate_hz", MP3_RATES_HZ)
def test_sound_keeps_its_level_at_every_rate_and_bitrate(rate_hz: int) -> None:
    samples = music(rate_hz // 2, rate_hz, channels=1)
    inside = slice(rate_hz // 10, -rate_hz // 10)
    for kbps in (64, 128, 160, 192, 224, 256, 320):
        got, _ = decode(io.BytesIO(encoded(samples, rate_hz, kbps)))
        level = float((got[inside] * samples[inside]).sum() / np.square(samples[inside]).sum())
        assert abs(20 * np.log10(level)) < 0.05, kbps


@pytest.mark.parametrize(("rate_hz", "kbps"), [(8_000, 64), (12_000, 64), (16_000, 160), (24_000, 160)])
def test_a_low_rate_takes_the_most_that_it_has(rate_hz: int, kbps: int) -> None:
    samples = music(rate_hz // 4, rate_hz)
    assert encoded(samples, rate_hz, 320) == encoded(samples, rate_hz, kbps)


def test_the_tag_of_what_grows_tells_the_delay_and_no_padding() -> None:
    frame = TagFrame.before(encoded(music(4_800))[384:], RATE)
    octets = frame.unfinished()
    tag = octets.index(b"Info")
    assert octets[tag + 29 : tag + 32] == (576 << 12).to_bytes(3, "big")
    assert len(octets) == frame.size


def test_slices_join_without_a_seam() -> None:
    samples = music(70_000)
    got, _ = decode(io.BytesIO(encoded(samples, kbps=320)))
    power = np.square(got - samples).sum(axis=1)[: len(samples) // 1_000 * 1_000].reshape(-1, 1_000)
    assert power.mean(axis=1).max() < 1e-5


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kbps", [128, 320])
def test_the_tag_counts_as_that_of_libsndfile(kbps: int, channels: int) -> None:
    samples = music(14_407, channels=channels)
    ours, theirs = encoded(samples, kbps=kbps), by_libsndfile(samples, kbps)
    tag = theirs.index(b"Info")
    assert ours[tag : tag + 16] == theirs[tag : tag + 16]  # name, flags, frames, bytes
    assert ours[tag + 141 : tag + 144] == theirs[tag + 141 : tag + 144]  # delay and padding
    assert ours[tag + 148 : tag + 152] == theirs[tag + 148 : tag + 152]  # bytes again


def crc_16(octets: bytes) -> int:
    """CRC-16/ARC by long division: least significant bit first, polynomial 0x8005."""
    bits = "".join(f"{octet:08b}"[::-1] for octet in octets) + "0" * 16
    rest = int(bits, 2)
    for place in range(len(bits) - 1, 15, -1):
        if rest >> place & 1:
            rest ^= 0x18005 << place - 16
    return int(f"{rest:016b}"[::-1], 2)


def test_the_tag_is_sealed_like_that_of_libsndfile() -> None:
    samples = music(14_407)
    for octets in (encoded(samples), by_libsndfile(samples, 128)):
        end = octets.index(b"Info") + 154
        assert struct.unpack_from(">H", octets, end) == (crc_16(octets[:end]),)


def test_the_tag_takes_a_larger_frame_where_the_streams_are_too_small() -> None:
    octets = encoded(music(14_407), kbps=32)
    bitrates = [MP3_BITRATES_KBPS[(octets[at + 2] >> 4) - 1] for at in (0, 192, 192 + 96)]
    assert bitrates == [64, 32, 32]
    assert octets[192:194] == octets[288:290] == b"\xff\xfb"


def test_overs_are_clipped_not_wrapped() -> None:
    loud = music(14_400) * np.float32(6)
    got, _ = decode(io.BytesIO(encoded(loud, kbps=320)))
    assert np.abs(got - np.clip(loud, -1, 1)).max() < 0.3


def test_nothing_gives_nothing() -> None:
    assert encoded(music(0)) == b""


def test_rates_beyond_the_format_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="96000 Hz") as refused:
        encoded(music(100), 96_000)
    assert refused.value.field == "output_format"


def test_each_slice_is_small_and_preceded_by_a_check() -> None:
    events: list[int] = []

    class Sink(io.BytesIO):
        def write(self, octets: object) -> int:
            assert isinstance(octets, bytes)
            events.append(len(octets))
            return super().write(octets)

    write(music(70_000), RATE, 320, Sink(), lambda: events.append(-1))
    writes = [size for size in events if size >= 0]
    assert events.count(-1) == 4  # three slices and the end
    assert events[0] == -1
    assert max(writes) < 1 << 16


def test_a_check_that_raises_stops_the_encoder_between_slices() -> None:
    class StopAsked(Exception):
        pass

    sink = io.BytesIO()

    def check() -> None:
        if sink.tell():
            raise StopAsked

    with pytest.raises(StopAsked):
        write(music(70_000), RATE, 128, sink, check)
    assert 0 < sink.tell() < 20_000
