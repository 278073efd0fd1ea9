"""Reading audio files."""

import io
from pathlib import Path

import numpy as np
import pytest

from engine.audio import decode, encode, read_header
from engine.errors import InvalidRequest


def test_a_file_on_disk_is_read_as_frames_by_channels(tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    mono = np.linspace(-0.5, 0.5, 800, dtype=np.float32)[:, None]
    with path.open("wb") as sink:
        encode(mono, 16_000, "wav32", 128, sink)
    samples, rate = decode(path)
    assert rate == 16_000
    assert np.array_equal(samples, mono)


def test_what_is_no_audio_is_refused_under_the_name_of_its_field() -> None:
    with pytest.raises(InvalidRequest, match=r"cannot be read \(format not recognised\); send") as refused:
        decode(io.BytesIO(b"this is no audio at all"), field="audio")
    assert refused.value.field == "audio"


@pytest.mark.parametrize("output_format", ["mp3", "opus", "flac", "wav16"])
def test_a_header_tells_length_rate_and_channels(output_format: str) -> None:
    sink = io.BytesIO()
    encode(np.zeros((4_800, 2), np.float32), 48_000, output_format, 128, sink)
    sink.seek(0)
    header = read_header(sink)
    assert (header.rate_hz, header.channels) == (48_000, 2)
    assert header.seconds == header.frames / 48_000 == pytest.approx(0.1, abs=0.05)
    with pytest.raises(InvalidRequest, match="cannot be read") as refused:
        read_header(io.BytesIO(b"this is no audio at all"), field="audio")
    assert refused.value.field == "audio"


def test_no_more_is_read_than_is_wanted() -> None:
    sink = io.BytesIO()
    encode(np.linspace(-0.5, 0.5, 800, dtype=np.float32)[:, None], 16_000, "wav32", 128, sink)
    for most, frames in ((300, 300), (900, 800)):
        sink.seek(0)
        assert len(decode(sink, most_frames=most)[0]) == frames
