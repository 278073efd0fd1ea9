"""Files that do not tell their length, or tell a wrong one, are opened so that all they hold is read."""

import io
import struct
import wave
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from engine.audio import AudioForm, decode, read_header
from engine.audio.opening import opened
from tests.engine.audio.grown import grown, speech_like

RATE = 24_000


def frames(content: bytes) -> tuple[int, int]:
    """What is told, and what is read."""
    with opened(io.BytesIO(content), "audio") as file:
        return file.frames, len(file.read(file.frames + 1, dtype="float32", always_2d=True))


def by_ffmpeg(content: bytes) -> int:
    with av.open(io.BytesIO(content), "r") as container:
        return sum(int(frame.samples) for frame in container.decode(container.streams.audio[0]))


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_an_mp3_that_was_sent_as_it_grew_is_read_to_its_end(rate_hz: int, channels: int) -> None:
    samples = speech_like(3.5, rate_hz, channels)
    sent, whole = grown(samples, rate_hz, AudioForm("mp3"))
    told, read = frames(sent)
    assert told == read == pytest.approx(len(samples), abs=4 * 1_152)
    assert read >= len(samples)
    assert frames(whole) == (len(samples), len(samples))


@pytest.mark.parametrize("codec", ["wav16", "wav24", "mp3", "opus"])
def test_what_was_sent_is_read_alike_by_others(codec: str) -> None:
    samples = speech_like(3.5)
    sent, _ = grown(samples, RATE, AudioForm(codec))
    assert len(soundfile.read(io.BytesIO(sent))[0]) == pytest.approx(len(samples), abs=1_800)
    assert by_ffmpeg(sent) == pytest.approx(len(samples) * (2 if codec == "opus" else 1), abs=3_600)


def test_a_growing_flac_tells_no_length_and_is_read_in_blocks_by_others() -> None:
    samples = speech_like(3.5)
    sent, _ = grown(samples, RATE, AudioForm("flac"))
    with soundfile.SoundFile(io.BytesIO(sent)) as file:
        file.seekable = lambda: False
        assert sum(iter(lambda: len(file.read(20_000)), 0)) == len(samples)
    assert by_ffmpeg(sent) == len(samples)


def test_a_growing_wav_is_read_by_the_standard_library() -> None:
    samples = speech_like(3.5)
    sent, _ = grown(samples, RATE, AudioForm("wav16"))
    with wave.open(io.BytesIO(sent)) as file:
        assert len(file.readframes(file.getnframes())) == len(samples) * 2


@pytest.mark.parametrize("told", [(0, 0), (36, 0), (0xFFFFFFFF, 0), (0, 0xFFFFFFFF)])
def test_a_wav_of_size_zero_that_holds_sound_is_read(told: tuple[int, int], tmp_path: Path) -> None:
    content = bytearray(grown(speech_like(0.5), RATE, AudioForm("wav16"))[1])
    content[4:8], content[40:44] = (struct.pack("<I", size) for size in told)
    assert frames(bytes(content)) == (12_000, 12_000)
    path = tmp_path / "zero.wav"
    path.write_bytes(content)
    assert len(decode(path)[0]) == 12_000


def test_a_wav_that_is_empty_stays_so() -> None:
    sink = io.BytesIO()
    soundfile.write(sink, np.zeros(0), RATE, format="WAV")
    assert frames(sink.getvalue()) == (0, 0)
    behind = b"LIST" + struct.pack("<I", 4) + b"INFO"
    content = sink.getvalue()
    tagged = content[:4] + struct.pack("<I", len(content) + len(behind) - 8) + content[8:] + behind
    assert frames(tagged) == (0, 0)


def test_a_file_on_disk_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "grown.mp3"
    path.write_bytes(grown(speech_like(2.0), RATE, AudioForm("mp3"))[0])
    assert read_header(path).seconds == pytest.approx(2.0, abs=0.1)
    path.unlink()
    assert not path.exists()
