"""Another rate and fewer channels while a file is written: any blocks give the bytes of the whole."""

import io
from collections.abc import Sequence

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.audio import AudioForm, Samples, decode, open_writer, resample, resampled_length
from engine.audio.aac import DELAY_SAMPLES, FRAME_SAMPLES
from engine.audio.converting import ConvertingWriter, in_channels, of_length
from engine.audio.raw import TelephoneWriter
from engine.control import unchecked
from tests.engine.audio.telephone import telephone_values

FORMS = [
    AudioForm("mp3", 32, 22_050),
    AudioForm("mp3", 48, 24_000),
    AudioForm("mp3", 128, 44_100, 1),
    AudioForm("opus", 32, 48_000),
    AudioForm("flac", rate_hz=44_100),
    AudioForm("wav16", rate_hz=8_000),
    AudioForm("wav32", rate_hz=22_050, channels=2),
    AudioForm("pcm", rate_hz=16_000, channels=1),
    AudioForm("aac", 64, 44_100, 1),
    AudioForm("ulaw"),
    AudioForm("alaw"),
]
SOURCES = [(24_000, 1), (48_000, 2)]
FREQUENCY_HZ = 440.0
AMPLITUDE = 0.5


def tone(frames: int, rate_hz: int, channels: int) -> Samples:
    """A tone in all channels at once."""
    wave = AMPLITUDE * np.sin(2 * np.pi * FREQUENCY_HZ * np.arange(frames) / rate_hz)
    return np.repeat(wave[:, None], channels, axis=1).astype(np.float32)


def written(samples: Samples, rate_hz: int, form: AudioForm, cuts: Sequence[int] = ()) -> bytes:
    sink, ends = io.BytesIO(), [*sorted(cuts), len(samples)]
    with open_writer(rate_hz, samples.shape[1], form, sink) as writer:
        for start, end in zip([0, *ends], ends, strict=False):
            writer.write(samples[start:end])
            assert writer.frames == end
    assert sink.tell() == len(sink.getvalue())
    return sink.getvalue()


def heard(octets: bytes, form: AudioForm, channels: int) -> tuple[Samples, int]:
    """Samples (N, C) without a delay that nothing in the file tells, and their rate."""
    if form.codec == "pcm":
        steps = np.frombuffer(octets, "<i2").reshape(-1, channels)
        return (steps / 32_768).astype(np.float32), form.rate_hz or 0
    if form.codec in ("ulaw", "alaw"):
        return (telephone_values(form.codec, octets)[:, None] / 32_768).astype(np.float32), 8_000
    if form.codec == "aac":
        with av.open(io.BytesIO(octets), "r", format="aac") as container:
            frames = [np.asarray(frame.to_ndarray(), np.float32) for frame in container.decode(audio=0)]
            return np.concatenate(frames, axis=1).T[DELAY_SAMPLES:], container.streams.audio[0].rate
    return decode(io.BytesIO(octets))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("rate_hz", "channels"), SOURCES)
def test_a_tone_keeps_its_length_place_and_level(form: AudioForm, rate_hz: int, channels: int) -> None:
    samples = tone(rate_hz * 3 // 4 + 7, rate_hz, channels)
    wanted_hz, wanted_channels = form.held(rate_hz, channels)
    got, rate = heard(written(samples, rate_hz, form), form, wanted_channels)
    assert (rate, got.shape[1]) == (wanted_hz, wanted_channels)
    length = resampled_length(len(samples), rate_hz, rate)
    assert length <= len(got) <= length + (FRAME_SAMPLES if form.codec == "aac" else 0)
    inside = slice(rate // 10, length - rate // 10)
    expected = tone(length, rate, wanted_channels)[inside]
    for channel in range(wanted_channels):
        level = float(got[inside, channel] @ expected[:, channel] / np.square(expected[:, channel]).sum())
        assert abs(20 * np.log10(level)) < 0.15
    noise = got[inside] - expected
    assert 10 * np.log10(np.square(expected).sum() / np.square(noise).sum()) > 18


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=8, deadline=None, database=None, derandomize=True)
@given(cuts=st.lists(st.integers(0, 9_000), max_size=8), source=st.sampled_from(SOURCES))
def test_blocks_and_the_whole_give_the_same_bytes(
    form: AudioForm, cuts: list[int], source: tuple[int, int]
) -> None:
    rate_hz, channels = source
    samples = np.random.default_rng(7).uniform(-0.9, 0.9, (9_000, channels)).astype(np.float32)
    assert written(samples, rate_hz, form, cuts) == written(samples, rate_hz, form)


@settings(max_examples=40, deadline=None, database=None, derandomize=True)
@given(
    frames=st.integers(0, 5_000),
    made_hz=st.sampled_from([8_000, 22_050, 24_000, 44_100, 48_000]),
    rate_hz=st.sampled_from([8_000, 11_025, 22_050, 44_100, 48_000]),
)
@example(frames=1_000, made_hz=24_000, rate_hz=44_100)  # 1,837.5 frames, of which soxr gives 1,837
def test_the_length_is_the_nearest_whole_number_and_the_samples_those_of_the_whole(
    frames: int, made_hz: int, rate_hz: int
) -> None:
    samples = np.random.default_rng(frames).uniform(-0.9, 0.9, (frames, 1)).astype(np.float32)
    octets = written(samples, made_hz, AudioForm("wav32", rate_hz=rate_hz), [frames // 3])
    got, rate = decode(io.BytesIO(octets))
    expected = resample(samples, made_hz, rate_hz)
    assert rate == rate_hz
    assert got.shape == expected.shape
    assert np.abs(got - expected).max(initial=0) < 1e-6


@pytest.mark.parametrize("form", FORMS)
def test_it_can_be_followed_while_it_is_made(form: AudioForm) -> None:
    samples, sink = tone(48_000, 24_000, 1), io.BytesIO()
    with open_writer(24_000, 1, form, sink) as writer:
        reached = []
        for start in range(0, len(samples), 9_600):
            writer.write(samples[start : start + 9_600])
            reached.append(len(sink.getvalue()))
        early = sink.getvalue()
    assert all(np.diff([0, *reached]) > 0)
    assert reached[-1] > 0.75 * len(sink.getvalue())
    head = 1_500  # where a length is filled in at the end, as in a tag frame
    assert sink.getvalue()[head : len(early)] == early[head:]


def test_two_channels_become_their_mean_and_one_goes_to_both() -> None:
    sides = np.array([[0.5, 0.25], [1.0, -1.0]], np.float32)
    assert in_channels(sides, 1).tolist() == [[0.375], [0.0]]
    assert in_channels(sides, 2) is sides
    assert in_channels(np.array([[0.5]], np.float32), 2).tolist() == [[0.5, 0.5]]


def test_what_the_form_already_has_is_not_converted() -> None:
    with open_writer(8_000, 1, AudioForm("ulaw"), io.BytesIO()) as writer:
        assert isinstance(writer, TelephoneWriter)


def test_a_file_whose_making_fails_is_not_finished() -> None:
    sink = io.BytesIO()
    writer = open_writer(24_000, 1, AudioForm("flac", rate_hz=44_100), sink)

    def fail() -> None:
        with writer:
            writer.write(tone(12_000, 24_000, 1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    octets = sink.getvalue()
    writer.finish()
    assert sink.getvalue() == octets
    with pytest.raises(ValueError, match="finished"):
        writer.write(tone(1, 24_000, 1))


def test_a_sink_that_fails_at_the_end_ends_the_inner_file_too() -> None:
    class Full(io.BytesIO):
        full = False

        def write(self, octets: object) -> int:
            if self.full:
                raise OSError("no room")
            return super().write(bytes(octets))  # type: ignore[call-overload]

    sink = Full()
    inner = open_writer(44_100, 1, AudioForm("pcm"), sink)
    writer = ConvertingWriter(24_000, 1, inner, 44_100, 1, unchecked)

    def fill() -> None:
        with writer:
            writer.write(tone(2_000, 24_000, 1))
            sink.full = True

    with pytest.raises(OSError, match="no room"):
        fill()
    assert writer.frames == 2_000
    sink.full = False
    with pytest.raises(ValueError, match="finished"):
        inner.write(tone(1, 44_100, 1))


def test_the_end_is_cut_or_followed_by_silence() -> None:
    samples = np.ones((3, 2), np.float32)
    assert of_length(samples, 2).tolist() == [[1, 1], [1, 1]]
    assert of_length(samples, 4).tolist() == [[1, 1], [1, 1], [1, 1], [0, 0]]


def test_nothing_is_a_head_alone() -> None:
    nothing = np.zeros((0, 1), np.float32)
    samples, rate = decode(io.BytesIO(written(nothing, 24_000, AudioForm("wav16", rate_hz=8_000))))
    assert (samples.shape, rate) == ((0, 1), 8_000)
    assert written(nothing, 24_000, AudioForm("mp3", 32, 22_050)) == b""


def test_slices_within_a_block_leave_no_mark_either() -> None:
    samples = np.random.default_rng(8).uniform(-0.9, 0.9, (40_000, 2)).astype(np.float32)
    form = AudioForm("wav32", rate_hz=44_100)
    assert written(samples, 48_000, form, [17, 33_011]) == written(samples, 48_000, form)
