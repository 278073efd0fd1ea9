"""The WAVE header and the quantiser."""

import io
import wave

import av
import numpy as np
import pytest
import soundfile

from engine.audio import wav
from engine.control import unchecked


@pytest.mark.parametrize("depth", [16, 24, 32])
def test_the_header_tells_the_size_of_the_file(depth: wav.Depth) -> None:
    header = wav.header(1_000, 2, 48_000, depth)
    data = 1_000 * 2 * depth // 8
    assert int.from_bytes(header[4:8], "little") == len(header) - 8 + data
    assert int.from_bytes(header[-4:], "little") == data


def test_sixteen_bits_are_dithered_by_at_most_two_steps_and_without_bias() -> None:
    level = np.full((20_000, 2), 0.25 / 32767, dtype=np.float32)
    steps = np.frombuffer(wav.SampleQuantiser(16).quantise(level), "<i2")
    assert set(np.unique(steps)) <= {-1, 0, 1}
    assert steps.mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("channels", [1, 2])
def test_a_file_that_is_followed_is_read_to_its_end_by_those_who_are_told_no_length(channels: int) -> None:
    sink = io.BytesIO()
    with wav.WavWriter(24_000, channels, 16, sink, unchecked) as writer:
        writer.write(np.full((5_000, channels), 0.25, np.float32))
        early = sink.getvalue()
        writer.write(np.full((19_000, channels), 0.25, np.float32))
    followed = early + sink.getvalue()[len(early) :]
    assert followed[4:8] == followed[40:44] == b"\xff" * 4
    assert len(soundfile.read(io.BytesIO(followed))[0]) == 24_000
    with av.open(io.BytesIO(followed), "r") as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) == 24_000
    with wave.open(io.BytesIO(followed)) as reader:
        assert len(reader.readframes(reader.getnframes())) == 24_000 * 2 * channels
