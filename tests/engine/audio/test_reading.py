"""Audio files heard as a stream."""

import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from engine.audio.reading import LISTENING_HZ, listening
from engine.errors import InvalidRequest

KINDS = (
    ("WAV", "PCM_16"),
    ("WAVEX", "PCM_24"),
    ("RF64", "PCM_16"),
    ("W64", "PCM_16"),
    ("AIFF", "PCM_16"),
    ("CAF", "PCM_16"),
    ("AU", "PCM_16"),
    ("FLAC", "PCM_16"),
    ("OGG", "VORBIS"),
    ("OGG", "OPUS"),
    ("MP3", "MPEG_LAYER_III"),
)
NAMES = ["-".join(kind) for kind in KINDS]


def tone(seconds: float, rate_hz: int, channels: int = 1) -> NDArray[np.float32]:
    """440 Hz at half of full scale (N, C)."""
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    sound = np.sin(2 * np.pi * 440 * times).astype(np.float32) / 2
    return np.repeat(sound[:, None], channels, axis=1)


def file_of(samples: NDArray[np.float32], rate_hz: int, kind: str = "WAV", subtype: str = "FLOAT") -> bytes:
    sink = io.BytesIO()
    soundfile.write(sink, samples, rate_hz, format=kind, subtype=subtype)
    return sink.getvalue()


def heard(content: bytes) -> NDArray[np.float32]:
    with listening(io.BytesIO(content)) as stream:
        return np.concatenate([*stream.blocks, np.zeros(0, np.float32)])


def reading(content: bytes) -> str:
    """Why it is refused."""
    with pytest.raises(InvalidRequest) as refused:
        heard(content)
    assert refused.value.field == "audio"
    return str(refused.value)


@pytest.mark.parametrize(("kind", "subtype"), KINDS, ids=NAMES)
def test_every_kind_of_file_becomes_one_channel_at_16_khz(kind: str, subtype: str) -> None:
    content = file_of(tone(1.0, 48_000, 2), 48_000, kind, subtype)
    with listening(io.BytesIO(content)) as stream:
        assert stream.seconds == pytest.approx(1.0, abs=0.06)
        sound = np.concatenate(list(stream.blocks))
    assert sound.dtype == np.float32
    assert len(sound) == pytest.approx(LISTENING_HZ, abs=900)
    middle = sound[4_000:12_000]
    assert np.abs(np.fft.rfft(middle)).argmax() == 220  # 440 Hz in bins of 2 Hz
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.5 / 2**0.5, rel=0.05)


@pytest.mark.parametrize("rate_hz", [1_000, 8_000, 11_025, 16_000, 44_100, 192_000, 384_000])
def test_every_rate_lasts_as_long(rate_hz: int) -> None:
    assert len(heard(file_of(tone(0.5, rate_hz), rate_hz))) == pytest.approx(8_000, abs=2)


@pytest.mark.parametrize("rate_hz", [500, 500_000])
def test_other_rates_are_refused(rate_hz: int) -> None:
    assert f"has {rate_hz} samples a second" in reading(file_of(tone(0.1, rate_hz), rate_hz))


def test_channels_are_averaged() -> None:
    left = np.stack([np.ones(1_600), np.zeros(1_600), np.zeros(1_600), np.zeros(1_600)], axis=1)
    assert heard(file_of(left.astype(np.float32), 16_000)) == pytest.approx(0.25)


def test_a_file_on_disk_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "tone.ogg"
    path.write_bytes(file_of(tone(0.3, 16_000), 16_000, "OGG", "VORBIS"))
    with listening(path) as stream:
        assert sum(len(block) for block in stream.blocks) == 4_800


def test_what_is_no_number_is_silence_and_what_is_too_loud_is_full_scale() -> None:
    samples = np.array([np.nan, np.inf, -np.inf, 5.0, 0.5], np.float32)
    assert heard(file_of(samples, 16_000)).tolist() == [0.0, 1.0, -1.0, 1.0, 0.5]


def test_what_rings_over_full_scale_at_another_rate_is_kept_within_it() -> None:
    square = np.where(np.arange(48_000) // 300 % 2, 1.0, -1.0).astype(np.float32)
    sound = heard(file_of(square, 48_000))
    assert np.abs(sound).max() == 1


def test_a_file_without_sound_is_empty() -> None:
    assert len(heard(file_of(np.zeros((0, 1), np.float32), 44_100))) == 0


@pytest.mark.parametrize(("kind", "subtype"), KINDS, ids=NAMES)
def test_a_file_that_is_cut_short_is_refused(kind: str, subtype: str) -> None:
    content = file_of(tone(2.0, 48_000, 2), 48_000, kind, subtype)
    assert "The audio " in reading(content[: len(content) * 6 // 10])


def test_a_file_that_breaks_off_within_is_refused() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 48_000).astype(np.float32)
    content = bytearray(file_of(noise, 16_000, "FLAC", "PCM_16"))
    content[30_000:60_000] = bytes(30_000)
    assert "damaged or cut short" in reading(bytes(content))


@pytest.mark.parametrize("told", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_wav_file_that_was_streamed_does_not_tell_its_length(told: int) -> None:
    content = bytearray(file_of(tone(0.5, 16_000), 16_000, subtype="PCM_16"))
    content[4:8] = content[40:44] = struct.pack("<I", told)
    assert len(heard(bytes(content))) == 8_000


@pytest.mark.parametrize(
    "content", [b"", b"no audio at all", b"RIFF\xff\xff\xff\xffWAVE", b"OggS" + bytes(40)]
)
def test_what_is_no_audio_is_refused(content: bytes) -> None:
    assert "cannot be read" in reading(content)


def test_a_header_that_tells_far_too_much_is_refused() -> None:
    content = bytearray(file_of(tone(0.1, 16_000), 16_000, "AU", "PCM_16"))
    content[8:12] = struct.pack(">I", 0x40000000)
    assert "damaged or cut short" in reading(bytes(content))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.flac"
    with soundfile.SoundFile(path, "w", 16_000, 2, format="FLAC", subtype="PCM_16") as file:
        for _ in range(10):
            file.write(np.zeros((320_000, 2), np.float32))
    tracemalloc.start()
    with listening(path) as stream:
        frames = sum(len(block) for block in stream.blocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert frames == 3_200_000  # 26 MB as float32
    assert peak < 4_000_000


def test_a_recording_goes_on_for_no_longer_than_it_may() -> None:
    content = file_of(tone(2.0, 16_000), 16_000)
    with (
        listening(io.BytesIO(content), most_seconds=1.0) as stream,
        pytest.raises(InvalidRequest, match="The audio is longer than"),
    ):
        list(stream.blocks)


def test_reading_stops_where_the_check_raises() -> None:
    class Stopped(Exception):
        pass

    def check() -> None:
        raise Stopped

    with (
        listening(io.BytesIO(file_of(tone(1.0, 16_000), 16_000)), check=check) as stream,
        pytest.raises(Stopped),
    ):
        next(stream.blocks)
