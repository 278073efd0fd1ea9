"""Every format is written, read back and compared; the sink may hold bytes before and may fail."""

import io

import numpy as np
import pytest

from engine.audio import FORMATS, MP3_BITRATES_KBPS, AudioForm, Samples, decode, encode
from engine.errors import InvalidRequest

RATE = 48_000


@pytest.fixture(scope="module")
def chord() -> Samples:
    time = np.arange(RATE * 3 // 2) / RATE
    left = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 1320 * time)
    right = 0.3 * np.sin(2 * np.pi * 554.37 * time)
    fade = np.minimum(1, np.minimum(time, time[::-1]) / 0.01)
    return np.stack([left * fade, right * fade], axis=1).astype(np.float32)


def encoded(samples: Samples, output_format: str, bitrate_kbps: int = 128, before: bytes = b"") -> bytes:
    sink = io.BytesIO(before)
    sink.seek(0, io.SEEK_END)
    encode(samples, RATE, AudioForm(output_format, bitrate_kbps), sink)
    assert sink.tell() == len(sink.getvalue())
    assert sink.getvalue().startswith(before)
    return sink.getvalue()[len(before) :]


def signal_to_noise_db(wanted: Samples, got: Samples) -> float:
    return float(10 * np.log10(np.square(wanted).sum() / (np.square(got - wanted).sum() + 1e-20)))


@pytest.mark.parametrize(
    ("output_format", "least_db"),
    [("mp3", 20), ("opus", 20), ("flac", 120), ("wav16", 75), ("wav24", 120), ("wav32", 150)],
)
def test_a_file_read_back_has_the_rate_the_length_and_the_sound(
    chord: Samples, output_format: str, least_db: float
) -> None:
    octets = encoded(chord, output_format, before=b"--boundary\r\n\r\n")
    samples, rate = decode(io.BytesIO(octets))
    assert rate == RATE
    assert samples.shape == chord.shape
    assert signal_to_noise_db(chord, samples) > least_db


@pytest.mark.parametrize("output_format", FORMATS)
def test_equal_samples_give_equal_bytes(chord: Samples, output_format: str) -> None:
    short = chord[:24_000]
    assert encoded(short, output_format) == encoded(short, output_format, before=b"x")


def mp3_frame_bitrates(octets: bytes) -> list[int]:
    """Bitrates in kbit/s of the MPEG-1 layer III frames of a 48 kHz file."""
    found = []
    offset = 0
    while offset + 4 <= len(octets):
        assert octets[offset] == 0xFF
        assert octets[offset + 1] & 0xFE == 0xFA
        kbps = MP3_BITRATES_KBPS[(octets[offset + 2] >> 4) - 1]
        found.append(kbps)
        offset += 144 * kbps * 1000 // RATE + (octets[offset + 2] >> 1 & 1)
    return found


@pytest.mark.parametrize("bitrate_kbps", [32, 128, 320])
def test_every_mp3_frame_has_the_bitrate_asked_for(chord: Samples, bitrate_kbps: int) -> None:
    rates = mp3_frame_bitrates(encoded(chord[:24_000], "mp3", bitrate_kbps))
    # The first frame is the LAME tag, which has a size of its own.
    assert set(rates[1:]) == {bitrate_kbps}
    assert len(rates) > 20


@pytest.mark.parametrize("bitrate_kbps", [64, 192])
def test_opus_keeps_near_the_bitrate(chord: Samples, bitrate_kbps: int) -> None:
    octets = encoded(np.tile(chord, (2, 1)), "opus", bitrate_kbps)
    assert len(octets) * 8 / 3 / 1000 == pytest.approx(bitrate_kbps, rel=0.25)


def test_the_slices_are_small_and_each_is_preceded_by_a_check(chord: Samples) -> None:
    class Sink(io.BytesIO):
        largest = 0

        def write(self, octets: object) -> int:
            assert isinstance(octets, bytes | memoryview)
            self.largest = max(self.largest, len(octets))
            return super().write(octets)

    checks: list[int] = []
    sink = Sink()
    encode(chord, RATE, AudioForm("wav32"), sink, lambda: checks.append(sink.tell()))
    assert sink.largest <= 1 << 20
    assert len(checks) == -(-len(chord) // 32_768)


@pytest.mark.parametrize("output_format", ["mp3", "wav16"])
def test_a_check_that_raises_stops_the_encoder(chord: Samples, output_format: str) -> None:
    class StopAsked(Exception):
        pass

    remaining = [True]

    def check() -> None:
        if not remaining:
            raise StopAsked
        remaining.pop()

    with pytest.raises(StopAsked):
        encode(chord, RATE, AudioForm(output_format), io.BytesIO(), check)


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_the_sink_raises_reaches_the_caller(chord: Samples, output_format: str) -> None:
    class Full(io.BytesIO):
        def write(self, octets: object) -> int:
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        encode(chord, RATE, AudioForm(output_format), Full())


def test_overs_are_clipped_not_wrapped() -> None:
    loud = np.full((2_000, 2), 1.5, dtype=np.float32)
    for output_format in ("wav16", "wav24", "flac"):
        samples, _ = decode(io.BytesIO(encoded(loud, output_format)))
        assert samples.min() > 0.99


@pytest.mark.parametrize(
    ("output_format", "bitrate_kbps", "rate", "field"),
    [
        ("ac3", 128, RATE, "output_format"),
        ("mp3", 100, RATE, "mp3_bitrate"),
        ("opus", 128, 44_100, "output_format"),
    ],
)
def test_what_no_encoder_offers_is_refused(
    chord: Samples, output_format: str, bitrate_kbps: int, rate: int, field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        encode(chord, rate, AudioForm(output_format, bitrate_kbps), io.BytesIO())
    assert refused.value.field == field


def test_names_of_the_formats() -> None:
    assert AudioForm("opus").content_type == "audio/ogg; codecs=opus"
    assert {AudioForm(name).extension for name in FORMATS} == {"mp3", "opus", "flac", "wav"}
