"""The outline of a song, read from its file."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.audio import AudioForm, Samples, encode
from server.compatible.music_waveform import FileSpan, waveform

RATE = 48_000
LEVELS = (0.1, -0.5, 0.25, 0.0, 0.8, -1.0, 0.3)
SECONDS = len(LEVELS) / 4


def steps() -> Samples:
    """A quarter of a second at each level, on the left twice and on the right not at all: (N, 2)."""
    mono = np.repeat(np.array(LEVELS, np.float32), RATE // 4)
    return np.stack([mono, mono], axis=1)


@contextmanager
def stored(folder: Path, form: AudioForm, samples: Samples) -> Iterator[FileSpan]:
    """The samples in a file, between other bytes."""
    sound = io.BytesIO()
    encode(samples, RATE, form, sound)
    file = folder / "body"
    file.write_bytes(b"before" + sound.getvalue() + b"after")
    fd = os.open(file, os.O_RDONLY)
    try:
        yield FileSpan(fd, len(b"before"), len(sound.getvalue()))
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    "form", [AudioForm("pcm"), AudioForm("pcm", rate_hz=48_000, channels=1), AudioForm("wav16")]
)
def test_each_quarter_is_its_farthest_sample(tmp_path: Path, form: AudioForm) -> None:
    with stored(tmp_path, form, steps()) as span:
        drawn = waveform(span, AudioForm(form.codec, rate_hz=RATE), SECONDS)
    assert drawn == pytest.approx([1000 * level for level in LEVELS], abs=1)


@pytest.mark.parametrize(
    "form",
    [
        AudioForm("mp3", 128, 44_100),
        AudioForm("opus", 96, 48_000),
        AudioForm("pcm", rate_hz=22_050),
        AudioForm("ulaw", rate_hz=8_000),
        AudioForm("alaw", rate_hz=8_000),
    ],
)
def test_every_kind_of_file_is_drawn(tmp_path: Path, form: AudioForm) -> None:
    beat = np.sin(2 * np.pi * 440 * np.arange(2 * RATE) / RATE) * np.repeat([0.5, 0.1], RATE)
    with stored(tmp_path, form, np.stack([beat, beat], axis=1).astype(np.float32)) as span:
        drawn = [abs(value) for value in waveform(span, form, 2.0)]
    assert len(drawn) == 8
    assert drawn[1:3] == pytest.approx([500] * 2, abs=40)
    assert drawn[5:7] == pytest.approx([100] * 2, abs=20)


def test_channels_are_mixed_down(tmp_path: Path) -> None:
    samples = steps() * np.array([1, -1], np.float32)
    with stored(tmp_path, AudioForm("wav16"), samples) as span:
        assert waveform(span, AudioForm("wav16"), SECONDS) == [0] * len(LEVELS)


def test_a_span_is_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"0123456789")
    fd = os.open(tmp_path / "body", os.O_RDONLY)
    try:
        span = FileSpan(fd, 2, 5)
        assert (span.read(2), span.tell(), span.read(), span.read(4)) == (b"23", 2, b"456", b"")
        assert (span.seek(-1, io.SEEK_END), span.read(9)) == (4, b"6")
        assert (span.seek(1), span.seek(1, io.SEEK_CUR), span.read(1)) == (1, 2, b"4")
    finally:
        os.close(fd)
