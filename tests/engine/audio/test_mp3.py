"""Splicing: the joined stream is as good as one made in one go, whatever the number of threads."""

import io
from collections.abc import Callable
from typing import BinaryIO

import numpy as np
import pytest
import soundfile

from engine.audio import Samples, decode, encode, encoding
from engine.audio.mp3 import FRAME_SAMPLES, NoSeam, Shape, encode_spliced, shape_of, worth_splicing

RATE = 48_000


@pytest.fixture(scope="module")
def music() -> Samples:
    """Four seconds of chords whose level and pitch change, so that frames differ in need."""
    time = np.arange(4 * RATE) / RATE
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 1.3 * time)
    noise = np.random.default_rng(3).standard_normal(len(time)) * 0.02
    left = 0.2 * np.sin(2 * np.pi * (220 + 40 * np.floor(time * 4)) * time) * swell + noise
    right = 0.2 * np.sin(2 * np.pi * 331 * time) * (1 - swell) + noise[::-1]
    return np.stack([left, right], axis=1).astype(np.float32)


def whole(samples: Samples, sink: BinaryIO, check: Callable[[], None], kbps: int = 128) -> None:
    stream = io.BytesIO()
    with soundfile.SoundFile(
        stream, "w", RATE, 2, "MPEG_LAYER_III", format="MP3",
        compression_level=(320 - kbps) / 288, bitrate_mode="CONSTANT",
    ) as file:  # fmt: skip
        check()
        file.write(np.ascontiguousarray(samples))
    sink.write(stream.getvalue())


def spliced(samples: Samples, lanes: int = 2) -> bytes:
    shape = shape_of(RATE, 128, 2)
    assert shape is not None
    sink = io.BytesIO(b"before")
    sink.seek(6)
    encode_spliced(samples, shape, whole, sink, lambda: None, lanes=lanes, stretch=60)
    assert sink.tell() == len(sink.getvalue())
    return sink.getvalue()[6:]


@pytest.fixture(scope="module")
def joined(music: Samples) -> bytes:
    return spliced(music)


@pytest.fixture(scope="module")
def single(music: Samples) -> bytes:
    sink = io.BytesIO()
    whole(music, sink, lambda: None)
    return sink.getvalue()


def errors_db(samples: Samples, octets: bytes) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Noise of each 1/10 s in decibels."""
    decoded, rate = decode(io.BytesIO(octets))
    assert rate == RATE
    assert decoded.shape == samples.shape
    power = np.square(decoded - samples).sum(axis=1).reshape(-1, RATE // 10).mean(axis=1)
    return np.asarray(10 * np.log10(power + 1e-12), dtype=np.float64)


def test_the_joined_stream_is_as_long_and_as_good_as_one_made_in_one_go(
    music: Samples, joined: bytes, single: bytes
) -> None:
    assert len(joined) == len(single)
    assert np.abs(errors_db(music, joined) - errors_db(music, single)).max() < 3


def test_the_tag_is_that_of_the_whole_stream(joined: bytes, single: bytes) -> None:
    # Name and flags, counts of frames and bytes; then delay and padding.
    assert joined[36:52] == single[36:52]
    assert joined[36 + 141 : 36 + 144] == single[36 + 141 : 36 + 144]


def test_the_bytes_do_not_depend_on_the_threads(music: Samples, joined: bytes) -> None:
    assert spliced(music, lanes=1) == joined


def test_a_caller_that_stops_is_obeyed(music: Samples) -> None:
    class StopAsked(Exception):
        pass

    def check() -> None:
        raise StopAsked

    shape = shape_of(RATE, 128, 2)
    assert shape is not None
    with pytest.raises(StopAsked):
        encode_spliced(music, shape, whole, io.BytesIO(), check)


def test_stretches_without_room_for_one_another_are_not_joined() -> None:
    stretches = 0

    def greedy(samples: Samples, sink: BinaryIO, check: Callable[[], None]) -> None:
        nonlocal stretches
        # Sound data begins 200 bytes early in every stretch but the one that holds the silent start.
        begin = 0 if samples[0, 0] == 0 else 100
        frames = 1 + len(samples) // FRAME_SAMPLES
        sink.write((bytes([0xFF, 0xFB, 0x94, 0x64, begin]) + bytes(379)) * frames)
        stretches += 1

    ramp = np.repeat(np.arange(400, dtype=np.float32), FRAME_SAMPLES)[:, None] * np.ones(
        (1, 2), dtype=np.float32
    )
    with pytest.raises(NoSeam):
        encode_spliced(ramp, Shape(384, 36), greedy, io.BytesIO(), lambda: None, stretch=100)
    assert stretches > 1


def test_without_a_seam_the_song_is_encoded_in_one_go(
    music: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(samples: Samples, shape: object, encoder: object, sink: BinaryIO, check: object) -> None:
        sink.write(b"half a stream")
        raise NoSeam

    short, single, sink = music[:RATE], io.BytesIO(), io.BytesIO()
    encode(short, RATE, "mp3", 128, single)
    monkeypatch.setattr(encoding, "worth_splicing", lambda frames: True)
    monkeypatch.setattr(encoding, "encode_spliced", failing)
    encode(short, RATE, "mp3", 128, sink)
    assert sink.getvalue() == single.getvalue()


def test_only_long_streams_of_equal_frames_are_spliced() -> None:
    assert shape_of(48_000, 128, 2) == Shape(384, 36)
    assert shape_of(44_100, 128, 2) is None
    assert shape_of(24_000, 64, 1) is None
    assert shape_of(48_000, 32, 2) is None
    assert worth_splicing(30 * RATE)
    assert not worth_splicing(20 * RATE)
