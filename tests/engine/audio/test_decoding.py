"""Reading audio files."""

import io
from pathlib import Path

import numpy as np
import pytest

from engine.audio import decode, encode
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
    with pytest.raises(InvalidRequest, match="cannot be read") as refused:
        decode(io.BytesIO(b"this is no audio at all"), field="audio")
    assert refused.value.field == "audio"
