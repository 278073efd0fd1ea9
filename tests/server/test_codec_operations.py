"""Audio and latents on their way through the codec."""

import io
from collections.abc import Callable

import numpy as np
import pytest

from engine.audio import AudioForm, AudioHeader, decoding, encode
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import InvalidRequest, UnknownModel
from engine.vae_request import read_decode, read_encode
from server import codec_operations
from server.codec_operations import CodecOperations
from server.work import Making, Prepared, Stopwatch
from tests.server.yue2_double import NOTES, Yue2Double


@pytest.fixture(scope="module")
def operations() -> CodecOperations:
    return CodecOperations(Catalogue(yue2=Yue2Double()))


def upload(frames: int, rate_hz: int = 48_000, channels: int = 2, level: float = 0.0) -> io.BytesIO:
    sink = io.BytesIO()
    encode(np.full((frames, channels), level, np.float32), rate_hz, AudioForm("wav16"), sink)
    sink.seek(0)
    return sink


def told(header: AudioHeader) -> Callable[..., AudioHeader]:
    return lambda source, **_: header


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (AudioHeader(1_919, 48_000, 2), r"must last 0\.04 to 983\.04 seconds; it lasts 0\.03997916667\."),
        (AudioHeader(0, 48_000, 2), r"it lasts 0\."),
        (AudioHeader(47_185_921, 48_000, 2), r"it lasts 983\.0400208\."),
        (AudioHeader(2**63 - 1, 48_000, 2), "does not tell its length and holds more than is read here"),
        (AudioHeader(900, 1, 2), "has a rate of 1 Hz; send one of 8000 to 384000 Hz, 48000 Hz at best"),
        (AudioHeader(384_001, 384_001, 1), "has a rate of 384001 Hz"),
        (
            AudioHeader(47_185_921, 96_000, 4),
            "has 4 channels of 96000 Hz, more samples than are read",
        ),
    ],
)
def test_audio_of_another_length_or_size_is_refused(
    operations: CodecOperations, header: AudioHeader, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_operations, "read_header", told(header))
    with pytest.raises(InvalidRequest, match=sentence) as caught:
        operations.encode(read_encode([]), io.BytesIO())
    assert caught.value.field == "audio"


@pytest.mark.parametrize(
    "header",
    [
        AudioHeader(1_920, 48_000, 1),
        AudioHeader(47_185_920, 48_000, 4),
        AudioHeader(8_000, 8_000, 1),
        AudioHeader(384_000, 384_000, 1),
    ],
)
def test_the_shortest_and_the_longest_are_taken(
    operations: CodecOperations, header: AudioHeader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_operations, "read_header", told(header))
    assert operations.encode(read_encode([]), io.BytesIO()).stages[0].units == header.seconds


def made(prepared: Prepared) -> tuple[bytes, str, float | None]:
    sink, stopwatch = io.BytesIO(), Stopwatch()
    packed = prepared.work(Making("0" * 16, sink, Uncontrolled(), stopwatch))
    assert stopwatch.pipeline_seconds > 0
    (part,) = packed.parts
    assert packed.notes == NOTES
    assert (part.offset, part.length, part.content_type) == (0, len(sink.getvalue()), packed.content_type)
    return sink.getvalue(), part.filename, part.seconds


@pytest.mark.parametrize(("rate_hz", "channels"), [(48_000, 2), (44_100, 1), (8_000, 2)])
def test_audio_of_any_rate_is_encoded_at_48_khz_in_stereo(
    operations: CodecOperations, rate_hz: int, channels: int
) -> None:
    raw, name, seconds = made(operations.encode(read_encode([]), upload(rate_hz // 5, rate_hz, channels)))
    assert (len(raw), name, seconds) == (5 * 256, "0000000000000000.f32", 0.2)


def test_no_more_is_read_than_the_header_promised(
    operations: CodecOperations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_operations, "read_header", told(AudioHeader(3_840, 48_000, 2)))
    assert len(made(operations.encode(read_encode([]), upload(48_000)))[0]) == 2 * 256


def test_work_on_audio_can_be_stopped_before_it_begins(operations: CodecOperations) -> None:
    class Stopped(Uncontrolled):
        def check_cancelled(self) -> None:
            raise KeyboardInterrupt

    prepared = operations.encode(read_encode([]), upload(9_600))
    with pytest.raises(KeyboardInterrupt):
        prepared.work(Making("0" * 16, io.BytesIO(), Stopped(), Stopwatch()))


def test_latents_are_decoded_in_the_format_asked_for(operations: CodecOperations) -> None:
    latents = io.BytesIO(np.full((5, 64), 0.1, "<f4").tobytes())
    prepared = operations.decode(read_decode([("output_format", "flac")]), latents)
    raw, name, seconds = made(prepared)
    assert (raw[:4], name, seconds) == (b"fLaC", "0000000000000000.flac", (5 * 1920 - 64) / 48_000)
    assert [(stage.phase, stage.units) for stage in prepared.stages] == [("decoding", 0.2), ("encoding", 0.2)]
    assert (prepared.operation, prepared.model, prepared.rates_id) == ("vae", "yue2", "yue2 none exact")


def test_each_way_and_each_option_has_its_digest(operations: CodecOperations) -> None:
    latents = io.BytesIO(bytes(256))
    digests = [
        operations.decode(read_decode(options), latents).digest
        for options in ([], [("model", "yue2")], [("peak_clip", "0")], [("mp3_bitrate", "320")])
    ]
    assert len(set(digests)) == 3
    assert digests[0] == digests[1]


def test_audio_has_the_digest_of_its_bytes(operations: CodecOperations) -> None:
    digests = [
        operations.encode(read_encode([]), upload(1_920, level=level)).digest for level in (0.0, 0.5, 0.0)
    ]
    assert digests[0] == digests[2] != digests[1]


def test_what_was_sent_counts_as_kept_until_the_job_has_ended(operations: CodecOperations) -> None:
    audio = upload(1_920)
    assert operations.encode(read_encode([]), audio).input_bytes == len(audio.getvalue())
    assert operations.decode(read_decode([]), io.BytesIO(bytes(512))).input_bytes == 512


def test_a_model_without_a_codec_is_refused_before_its_file_is_there(operations: CodecOperations) -> None:
    operations.check(read_decode([]))
    with pytest.raises(UnknownModel):
        operations.check(read_encode([("model", "yue9")]))
    with pytest.raises(UnknownModel):
        CodecOperations(Catalogue()).check(read_decode([]))


def test_reading_audio_can_be_stopped_between_its_slices(
    operations: CodecOperations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_SLICE_SAMPLES", 9_600)
    encoded: list[int] = []

    class Late(Uncontrolled):
        checks = 0

        def check_cancelled(self) -> None:
            self.checks += 1
            if self.checks == 4:
                raise KeyboardInterrupt

    monkeypatch.setattr(Yue2Double, "encode", lambda *_: encoded.append(1))
    prepared, late = operations.encode(read_encode([]), upload(48_000)), Late()
    with pytest.raises(KeyboardInterrupt):
        prepared.work(Making("0" * 16, io.BytesIO(), late, Stopwatch()))
    assert (late.checks, encoded) == (4, [])


def noise(format: str) -> bytes:
    """Three seconds that no format makes short."""
    sink = io.BytesIO()
    samples = np.random.default_rng(0).uniform(-0.1, 0.1, (144_000, 2)).astype(np.float32)
    encode(samples, 48_000, AudioForm(format), sink)
    return sink.getvalue()


def untold(flac: bytes) -> io.BytesIO:
    """A FLAC file as it is streamed."""
    raw = bytearray(flac)
    raw[21] &= 0xF0  # the low 36 bits of eight bytes at 18: the total of samples, in RFC 9639
    raw[22:26] = bytes(4)
    return io.BytesIO(raw)


def test_a_flac_that_was_streamed_is_as_long_as_it_is(operations: CodecOperations) -> None:
    kept, streamed = io.BytesIO(noise("flac")), untold(noise("flac"))
    made_of = [made(operations.encode(read_encode([]), audio)) for audio in (kept, streamed)]
    assert made_of[0] == made_of[1]


def test_one_that_holds_more_than_is_read_is_refused(
    operations: CodecOperations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_operations, "LONGEST_SECONDS", 0.5)
    with pytest.raises(InvalidRequest, match="does not tell its length and holds more than is read here"):
        operations.encode(read_encode([]), untold(noise("flac")))


def test_a_file_that_was_cut_short_is_to_blame_for_the_failure(operations: CodecOperations) -> None:
    raw = noise("flac")
    prepared = operations.encode(read_encode([]), io.BytesIO(raw[: len(raw) // 2]))
    sentence = "cannot be read to its end, so it is damaged or was cut short; save it again"
    with pytest.raises(InvalidRequest, match=sentence) as caught:
        made(prepared)
    assert caught.value.field == "audio"


def test_an_mp3_that_was_cut_short_is_refused_at_once(
    operations: CodecOperations, capfd: pytest.CaptureFixture[str]
) -> None:
    raw = noise("mp3")
    with pytest.raises(InvalidRequest, match=r"holds 1\.\d\d of the 3\.0\d seconds that it tells") as caught:
        operations.encode(read_encode([]), io.BytesIO(raw[: len(raw) // 2]))
    assert caught.value.field == "audio"
    capfd.readouterr()  # libmpg123 writes to stderr
