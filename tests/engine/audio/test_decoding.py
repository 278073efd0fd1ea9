"""Reading audio files."""

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio import AudioForm, decode, decoding, encode, read_header
from engine.errors import InvalidRequest
from tests.engine.audio.grown import grown, speech_like


def test_a_file_on_disk_is_read_as_frames_by_channels(tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    mono = np.linspace(-0.5, 0.5, 800, dtype=np.float32)[:, None]
    with path.open("wb") as sink:
        encode(mono, 16_000, AudioForm("wav32"), sink)
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
    encode(np.zeros((4_800, 2), np.float32), 48_000, AudioForm(output_format), sink)
    sink.seek(0)
    header = read_header(sink)
    assert (header.rate_hz, header.channels) == (48_000, 2)
    assert header.seconds == header.frames / 48_000 == pytest.approx(0.1, abs=0.05)
    with pytest.raises(InvalidRequest, match="cannot be read") as refused:
        read_header(io.BytesIO(b"this is no audio at all"), field="audio")
    assert refused.value.field == "audio"


def test_no_more_is_read_than_is_wanted() -> None:
    sink = io.BytesIO()
    encode(np.linspace(-0.5, 0.5, 800, dtype=np.float32)[:, None], 16_000, AudioForm("wav32"), sink)
    for most, frames in ((300, 300), (900, 800)):
        sink.seek(0)
        assert len(decode(sink, most_frames=most)[0]) == frames


@pytest.mark.parametrize("output_format", ["mp3", "opus", "flac", "wav32"])
@pytest.mark.parametrize("channels", [1, 2])
def test_reading_by_slices_gives_the_samples_of_the_whole(
    output_format: str, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = io.BytesIO()
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (24_000, channels)).astype(np.float32)
    encode(noise, 48_000, AudioForm(output_format), sink)
    sink.seek(0)
    whole, _ = soundfile.read(sink, dtype="float32", always_2d=True)
    monkeypatch.setattr(decoding, "_SLICE_SAMPLES", 5_000)
    samples, rate = decode(sink)
    assert (rate, samples.shape) == (48_000, whole.shape)
    assert float(np.abs(samples - whole).max()) < 1e-6  # an MP3 of one channel differs in the last bit


def test_reading_can_be_stopped_between_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    sink, checks = io.BytesIO(), iter([None, None])
    encode(np.zeros((3_000, 1), np.float32), 16_000, AudioForm("wav16"), sink)
    monkeypatch.setattr(decoding, "_SLICE_SAMPLES", 1_000)
    with pytest.raises(StopIteration):
        decode(sink, check=checks.__next__)
    assert decode(sink)[0].shape == (3_000, 1)


def test_a_file_that_ends_before_its_header_says_is_read_to_its_end() -> None:
    sink = io.BytesIO()
    encode(np.zeros((96_000, 2), np.float32), 48_000, AudioForm("opus"), sink)
    content = bytearray(sink.getvalue())
    last = content.rindex(b"OggS")
    cut = io.BytesIO(content[:last])
    assert len(decode(cut)[0]) <= read_header(cut).frames < 96_000


def test_an_mp3_that_was_cut_short_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    sink = io.BytesIO()
    encode(np.zeros((96_000, 2), np.float32), 48_000, AudioForm("mp3"), sink)
    cut = io.BytesIO(sink.getvalue()[: len(sink.getvalue()) // 2])
    for read in (read_header, decode):
        with pytest.raises(InvalidRequest, match=r"of the 2\.\d\d seconds that it tells"):
            read(cut)
    capfd.readouterr()  # libmpg123 writes to stderr


def test_a_file_object_is_read_from_its_start_wherever_it_stands() -> None:
    sink = io.BytesIO()
    encode(np.zeros((480, 2), np.float32), 48_000, AudioForm("wav16"), sink)
    assert sink.tell() > 0
    assert read_header(sink).frames == len(decode(sink)[0]) == 480


def test_a_file_that_does_not_tell_its_length_is_counted_as_far_as_is_asked() -> None:
    sent, _ = grown(speech_like(2.0), 24_000, AudioForm("flac"))
    assert read_header(io.BytesIO(sent), most_samples=48_000).frames == 48_000
    assert read_header(io.BytesIO(sent)).frames == decoding.UNTOLD_FRAMES
    assert len(decode(io.BytesIO(sent), most_frames=48_000)[0]) == 48_000
