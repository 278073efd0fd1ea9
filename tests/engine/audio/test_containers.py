"""Sound tracks by FFmpeg."""

import io
import random
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio import containers
from engine.audio.containers import INSTALLATION
from engine.audio.reading import listening
from engine.errors import InvalidRequest

RATE_HZ = 48_000
SOUND: NDArray[np.float32] = np.float32(0.5) * np.sin(
    2 * np.pi * 440 * np.arange(RATE_HZ * 2) / RATE_HZ
).astype(np.float32)
KINDS = (
    ("ipod", "aac"),
    ("mp4", "aac"),
    ("adts", "aac"),
    ("webm", "libopus"),
    ("matroska", "flac"),
    ("mpegts", "aac"),
)


def container(kind: str, codec: str = "", *, video: bool = False, seconds: float = 2) -> bytes:
    """Two seconds of a tone in stereo, or less, and of a black picture."""
    sink = io.BytesIO()
    with av.open(sink, "w", format=kind) as file:
        sound = _sound_track(file, codec) if codec else None
        if video:
            _add_picture(file)
        if sound is not None:
            _add_sound(file, sound, SOUND[: round(seconds * RATE_HZ)])
    return sink.getvalue()


def _sound_track(file: av.container.OutputContainer, codec: str) -> av.AudioStream:
    track = file.add_stream(codec, rate=RATE_HZ)
    assert isinstance(track, av.AudioStream)
    track.codec_context.layout = "stereo"
    return track


def _add_picture(file: av.container.OutputContainer) -> None:
    picture = file.add_stream("mpeg4", rate=10)
    picture.width, picture.height, picture.pix_fmt = 64, 64, "yuv420p"
    for number in range(20):
        frame = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
        frame.pts = number
        file.mux(picture.encode(frame))
    file.mux(picture.encode(None))


def _add_sound(file: av.container.OutputContainer, track: av.AudioStream, sound: NDArray[np.float32]) -> None:
    whole = av.AudioFrame.from_ndarray(np.stack([sound, sound]), format="fltp", layout="stereo")
    whole.sample_rate, whole.pts = RATE_HZ, 0
    size = track.codec_context.frame_size or 1_024
    parts = av.AudioResampler(track.format.name, "stereo", RATE_HZ, frame_size=size)
    for frames in (parts.resample(whole), parts.resample(None)):
        for part in frames:
            file.mux(track.encode(part))
    file.mux(track.encode(None))


def heard(content: bytes) -> NDArray[np.float32]:
    with listening(io.BytesIO(content)) as stream:
        return np.concatenate([*stream.blocks, np.zeros(0, np.float32)])


def refusal(content: bytes) -> str:
    with pytest.raises(InvalidRequest) as refused:
        heard(content)
    assert refused.value.field == "audio"
    return str(refused.value)


@pytest.mark.parametrize(("kind", "codec"), KINDS)
@pytest.mark.parametrize("video", [False, True])
def test_the_first_sound_track_is_heard(kind: str, codec: str, video: bool) -> None:
    if (kind, video) in {("ipod", True), ("adts", True), ("webm", True)}:  # hold no picture of this kind
        video = False
    sound = heard(container(kind, codec, video=video))
    assert len(sound) == pytest.approx(32_000, abs=800)
    middle = sound[8_000:24_000]
    assert np.abs(np.fft.rfft(middle)).argmax() == 440
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.5 / 2**0.5, rel=0.1)


def test_the_length_is_the_tracks() -> None:
    with listening(io.BytesIO(container("ipod", "aac"))) as stream:
        assert stream.seconds == pytest.approx(2.0, abs=0.05)


def test_a_file_on_disk_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "tone.m4a"
    path.write_bytes(container("ipod", "aac"))
    with listening(path) as stream:
        assert sum(len(block) for block in stream.blocks) == pytest.approx(32_000, abs=800)


def test_a_picture_without_sound_is_refused() -> None:
    assert (
        refusal(container("mp4", video=True)) == "There is no sound in the file; send one with a sound track."
    )


@pytest.mark.parametrize(("kind", "codec"), [("mov", "alac"), ("avi", "pcm_u8"), ("matroska", "ac3")])
def test_a_listed_codec_is_decoded(kind: str, codec: str) -> None:
    assert len(heard(container(kind, codec, seconds=0.5))) == pytest.approx(8_000, abs=800)


@pytest.mark.parametrize(("kind", "codec"), [("avi", "adpcm_ms"), ("mov", "adpcm_ima_qt")])
def test_another_codec_is_not_decoded_even_if_ffmpeg_can(kind: str, codec: str) -> None:
    assert av.Codec(codec, "r").name == codec
    assert "of a kind that is not read here" in refusal(container(kind, codec, seconds=0.5))


@pytest.mark.parametrize(
    ("kind", "codec", "name", "other"),
    [("matroska", "flac", b"A_FLAC", b"A_ZZZZ"), ("webm", "libopus", b"A_OPUS", b"A_OPUX")],
)
def test_a_codec_that_ffmpeg_does_not_know_is_refused(
    kind: str, codec: str, name: bytes, other: bytes
) -> None:
    content = container(kind, codec, seconds=0.5)
    assert name in content
    assert "of a kind that is not read here" in refusal(content.replace(name, other))


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The file with some of its bytes drawn anew, most of them near its head."""
    octets = bytearray(content)
    for _ in range(draw.randint(1, 12)):
        place = draw.randrange(min(len(octets), draw.choice([400, len(octets)])))
        octets[place : place + 4] = draw.randbytes(min(4, len(octets) - place))
    return bytes(octets)


def test_damaged_files_are_read_or_refused_and_nothing_else() -> None:
    draw = random.Random(1)
    files = [container(kind, codec, seconds=0.1) for kind, codec in KINDS]
    outcomes = {outcome(damaged(files[number % len(files)], draw)) for number in range(200)}
    assert outcomes == {"read", "refused for audio"}


def outcome(content: bytes) -> str:
    try:
        with listening(io.BytesIO(content), most_seconds=60) as stream:
            assert all(np.isfinite(block).all() for block in stream.blocks)
    except InvalidRequest as refused:
        return f"refused for {refused.field}"
    return "read"


def test_nothing_but_the_file_given_is_opened() -> None:
    assert containers._GUARDS["protocol_whitelist"] == ""
    with pytest.raises((av.FFmpegError, OSError)):
        av.open(__file__, container_options=containers._GUARDS)


@pytest.mark.parametrize(("kind", "codec"), KINDS[:4])
def test_a_file_that_is_cut_short_is_refused(kind: str, codec: str) -> None:
    content = container(kind, codec)
    assert "The audio " in refusal(content[: len(content) * 6 // 10])


@pytest.mark.parametrize(
    "content",
    [
        b"#EXTM3U\n#EXTINF:3,\nfile://{path}\n#EXT-X-ENDLIST\n",
        b"ffconcat version 1.0\nfile '{path}'\n",
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 97\n",
        bytes(range(256)) * 50,
    ],
)
def test_lists_of_other_files_and_addresses_are_not_followed(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tone.aac"
    path.write_bytes(container("adts", "aac"))
    assert "cannot be read" in refusal(content.replace(b"{path}", str(path).encode()))


def test_without_ffmpeg_the_refusal_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    content = container("ipod", "aac")
    monkeypatch.setitem(sys.modules, "av", None)
    sentence = refusal(content)
    assert "send WAV, FLAC, MP3 or Ogg" in sentence
    assert sentence.endswith(INSTALLATION)
