"""Audio written block by block: the same file however it is cut, and one that can be played while it grows."""

import io
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio import FORMATS, AudioForm, Samples, decode, encode, open_writer
from engine.audio.writer import SLICE_FRAMES
from engine.errors import InvalidRequest

BEFORE = b"--boundary\r\n\r\n"
SPEECH_HZ = 24_000
# Frames that may be missing from the end of what can be played, and heard before its beginning, at 24 kHz.
HELD_BACK = {"mp3": 5 * 576, "opus": 4_800 + 2 * 480, "flac": 1_152}
DELAY = {"mp3": 1_105}


def tone(frames: int, rate_hz: int = SPEECH_HZ, channels: int = 1) -> Samples:
    """A tone that begins and ends softly and swells."""
    time = np.arange(frames) / rate_hz
    wave = np.sin(2 * np.pi * 330 * time) * (0.3 + 0.2 * np.sin(2 * np.pi * 3 * time))
    edge = np.minimum(1, np.minimum(time, time[::-1]) / 0.02) if frames else wave
    return np.repeat((wave * edge)[:, None], channels, axis=1).astype(np.float32)


def whole(samples: Samples, output_format: str, rate_hz: int = SPEECH_HZ) -> bytes:
    sink = io.BytesIO()
    encode(samples, rate_hz, AudioForm(output_format, 64), sink)
    return sink.getvalue()


def in_blocks(samples: Samples, cuts: Sequence[int], output_format: str, rate_hz: int = SPEECH_HZ) -> bytes:
    """The file from blocks that end at the cuts, behind bytes that were in the sink before."""
    sink = io.BytesIO(BEFORE)
    sink.seek(0, io.SEEK_END)
    ends = [*sorted(cuts), len(samples)]
    with open_writer(rate_hz, samples.shape[1], AudioForm(output_format, 64), sink) as writer:
        for start, end in zip([0, *ends], ends, strict=False):
            writer.write(samples[start:end])
            assert writer.frames == end
    assert sink.tell() == len(sink.getvalue())
    assert sink.getvalue().startswith(BEFORE)
    return sink.getvalue()[len(BEFORE) :]


def played(octets: bytes) -> tuple[Samples, int]:
    """What a player hears of a beginning, read to its end without believing the length it tells; and the rate."""
    heard: Samples = np.full((100_000, 1), np.nan, np.float32)
    with soundfile.SoundFile(io.BytesIO(octets)) as file:
        # The binding seeks to where it has read to, which fails at the end of a FLAC file that tells no length.
        with suppress(soundfile.LibsndfileError):
            file.read(out=heard)
        return heard[~np.isnan(heard[:, 0])], file.samplerate


@pytest.mark.parametrize("output_format", FORMATS)
@settings(max_examples=10, deadline=None, database=None, derandomize=True)
@given(cuts=st.lists(st.integers(0, 6_000), max_size=6))
def test_blocks_and_the_whole_give_the_same_bytes(output_format: str, cuts: list[int]) -> None:
    samples = tone(6_000)
    assert in_blocks(samples, cuts, output_format) == whole(samples, output_format)


@pytest.mark.parametrize("output_format", FORMATS)
def test_slices_within_a_block_leave_no_mark_either(output_format: str) -> None:
    samples = tone(SLICE_FRAMES + 4_000, 48_000, channels=2)
    assert in_blocks(samples, [17, 30_011], output_format, 48_000) == whole(samples, output_format, 48_000)


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_is_there_after_each_block_plays_so_far(output_format: str) -> None:
    samples, sink = tone(36_000), io.BytesIO()
    delay = DELAY.get(output_format, 0)
    with open_writer(SPEECH_HZ, 1, AudioForm(output_format, 64), sink) as writer:
        for end in range(7_200, len(samples) + 1, 7_200):
            writer.write(samples[end - 7_200 : end])
            heard, rate = played(sink.getvalue())
            assert rate == SPEECH_HZ
            assert end - HELD_BACK.get(output_format, 0) <= len(heard) - delay <= end
            noise = heard[delay:] - samples[: len(heard) - delay]
            # The last frame of a lossy codec lacks what overlaps with the next.
            settled = noise[: max(0, len(noise) - 960)]
            assert np.sqrt(np.mean(np.square(settled))) < 0.02
    finished, _ = decode(io.BytesIO(sink.getvalue()))
    assert finished.shape == samples.shape


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_was_read_before_the_end_goes_on_with_what_is_read_after_it(output_format: str) -> None:
    samples, sink = tone(36_000), io.BytesIO()
    with open_writer(SPEECH_HZ, 1, AudioForm(output_format, 64), sink) as writer:
        writer.write(samples[:20_000])
        early = sink.getvalue()
        writer.write(samples[20_000:])
    followed = early + sink.getvalue()[len(early) :]
    heard, _ = played(followed)
    delay = DELAY.get(output_format, 0)
    rest = 2_400 if output_format == "mp3" else 0  # without a length the padding is heard as well
    assert len(samples) <= len(heard) - delay <= len(samples) + rest
    assert np.abs(heard[delay : delay + 36_000] - samples).max() < 0.1


def test_an_mp3_that_grows_begins_with_a_frame_that_tells_no_length() -> None:
    sink = io.BytesIO()
    with open_writer(SPEECH_HZ, 1, AudioForm("mp3", 64), sink) as writer:
        writer.write(tone(12_000))
        tag = sink.getvalue().index(b"Info")
        assert sink.getvalue()[tag + 4 : tag + 8] == bytes(4)
    assert sink.getvalue()[tag + 4 : tag + 8] == b"\0\0\0\x0f"


@pytest.mark.parametrize("output_format", ["wav16", "wav24", "wav32"])
def test_a_wave_header_leaves_its_sizes_open_until_the_end(output_format: str) -> None:
    sink = io.BytesIO()
    with open_writer(SPEECH_HZ, 1, AudioForm(output_format, 64), sink) as writer:
        assert sink.getvalue().endswith(b"data\xff\xff\xff\xff")
        writer.write(tone(100))
    data = sink.getvalue().index(b"data")
    size = int.from_bytes(sink.getvalue()[data + 4 : data + 8], "little")
    assert size == len(sink.getvalue()) - data - 8


def test_a_finished_file_takes_no_more() -> None:
    sink = io.BytesIO()
    writer = open_writer(SPEECH_HZ, 1, AudioForm("wav16"), sink)
    writer.write(tone(100))
    writer.finish()
    octets = sink.getvalue()
    writer.finish()
    assert sink.getvalue() == octets
    with pytest.raises(ValueError, match="finished"):
        writer.write(tone(1))


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_file_whose_making_fails_is_not_finished(output_format: str) -> None:
    sink = io.BytesIO()
    writer = open_writer(SPEECH_HZ, 1, AudioForm(output_format, 64), sink)

    def fail() -> None:
        with writer:
            writer.write(tone(12_000))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    octets = sink.getvalue()
    writer.finish()
    assert sink.getvalue() == octets
    with pytest.raises(ValueError, match="finished"):
        writer.write(tone(1))


@pytest.mark.parametrize("shape", [(10,), (10, 2)])
def test_samples_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    writer = open_writer(SPEECH_HZ, 1, AudioForm("wav16"), io.BytesIO())
    with pytest.raises(ValueError, match=r"takes \(N, 1\)"):
        writer.write(np.zeros(shape, np.float32))


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_refused(output_format: str, value: float) -> None:
    writer = open_writer(SPEECH_HZ, 1, AudioForm(output_format, 64), io.BytesIO())
    samples = tone(100)
    samples[50] = value
    with pytest.raises(ValueError, match="not all finite"):
        writer.write(samples)
    assert writer.frames == 0


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_file_without_samples_is_readable_as_wave_alone(output_format: str) -> None:
    octets = whole(tone(0), output_format)
    if output_format.startswith("wav"):
        assert decode(io.BytesIO(octets))[0].shape == (0, 1)
    else:
        assert (octets == b"") is (output_format != "opus")
        with pytest.raises(InvalidRequest):
            decode(io.BytesIO(octets))


@pytest.mark.parametrize(("output_format", "bitrate"), [("ac3", 64), ("mp3", 100), ("opus", 65)])
def test_what_no_encoder_offers_is_refused_before_a_byte_is_written(output_format: str, bitrate: int) -> None:
    sink = io.BytesIO()
    with pytest.raises(InvalidRequest):
        open_writer(SPEECH_HZ, 1, AudioForm(output_format, bitrate), sink)
    assert sink.getvalue() == b""
