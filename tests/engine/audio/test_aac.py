"""AAC is a stream of frames that stand on their own, and sounds as what went in after the encoder's delay."""

import io

import av
import numpy as np
import pytest

from engine.audio import AudioForm, Samples, open_writer
from engine.audio.aac import DELAY_SAMPLES, FRAME_SAMPLES, header

RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000)


def music(frames: int, rate_hz: int, channels: int = 2) -> Samples:
    time = np.arange(frames) / rate_hz
    wave = 0.3 * np.sin(2 * np.pi * 220 * time) + 0.1 * np.sin(2 * np.pi * 947 * time)
    return np.asarray(wave[:, None] * np.array([1.0, 0.6])[:channels], dtype=np.float32)


def encoded(samples: Samples, rate_hz: int, kbps: int = 128) -> bytes:
    sink = io.BytesIO()
    with open_writer(rate_hz, samples.shape[1], AudioForm("aac", kbps), sink) as writer:
        writer.write(samples)
    return sink.getvalue()


def heard(octets: bytes) -> tuple[Samples, int]:
    with av.open(io.BytesIO(octets), "r", format="aac") as container:
        frames = [np.asarray(frame.to_ndarray(), np.float32) for frame in container.decode(audio=0)]
        return np.concatenate(frames, axis=1).T, container.streams.audio[0].rate


def frame_sizes(octets: bytes) -> list[int]:
    sizes, place = [], 0
    while place < len(octets):
        assert octets[place : place + 2] == b"\xff\xf1"
        sizes.append((int.from_bytes(octets[place + 3 : place + 6], "big") >> 5) & 0x1FFF)
        place += sizes[-1]
    assert place == len(octets)
    return sizes


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_rate_channels_length_and_sound_are_kept(rate_hz: int, channels: int) -> None:
    samples = music(rate_hz // 2 + 17, rate_hz, channels)
    got, rate = heard(encoded(samples, rate_hz))
    assert (rate, got.shape[1]) == (rate_hz, channels)
    assert len(samples) + DELAY_SAMPLES <= len(got) < len(samples) + DELAY_SAMPLES + FRAME_SAMPLES
    inside = slice(FRAME_SAMPLES, -FRAME_SAMPLES)
    noise = (got[DELAY_SAMPLES : DELAY_SAMPLES + len(samples)] - samples)[inside]
    assert 10 * np.log10(np.square(samples[inside]).sum() / np.square(noise).sum()) > 15


def test_frames_are_of_the_bitrate_that_was_asked_for() -> None:
    noise = np.random.default_rng(2).uniform(-0.3, 0.3, (96_000, 2)).astype(np.float32)
    for kbps in (64, 128, 256):
        told = sum(frame_sizes(encoded(noise, 48_000, kbps))) * 8 / 2 / 1_000
        assert told == pytest.approx(kbps, rel=0.1)


def test_a_bitrate_beyond_the_rate_is_the_most_that_there_is() -> None:
    noise = np.random.default_rng(2).uniform(-0.3, 0.3, (16_000, 1)).astype(np.float32)
    assert encoded(noise, 8_000, 320) == encoded(noise, 8_000, 48)


def test_the_head_of_a_frame_is_that_of_ffmpeg() -> None:
    sink = io.BytesIO()
    with av.open(sink, "w", format="adts") as container:
        track = container.add_stream("aac", rate=44_100, layout="stereo")
        track.bit_rate = 128_000
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(music(1_024, 44_100).T), format="fltp", layout="stereo"
        )
        frame.sample_rate = 44_100
        container.mux([*track.encode(frame), *track.encode(None)])
    theirs = sink.getvalue()
    (first, *_) = frame_sizes(theirs)
    assert header(44_100, 2, first - 7) == theirs[:7]


def test_it_is_only_appended_to_and_whole_frames_at_a_time() -> None:
    samples, sink = music(24_000, 24_000, 1), io.BytesIO()
    reached = [b""]
    with open_writer(24_000, 1, AudioForm("aac", 64), sink) as writer:
        for start in range(0, len(samples), 1_500):
            writer.write(samples[start : start + 1_500])
            assert sink.getvalue().startswith(reached[-1])
            reached.append(sink.getvalue())
            assert len(frame_sizes(reached[-1])) * FRAME_SAMPLES >= writer.frames - 2 * FRAME_SAMPLES
    assert sink.getvalue().startswith(reached[-1])


def test_nothing_gives_nothing() -> None:
    assert encoded(music(0, 48_000), 48_000) == b""
