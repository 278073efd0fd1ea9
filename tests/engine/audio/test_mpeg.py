"""MP3 of all tools: what can be decoded to its end is read, what is damaged is refused before it is."""

import io
from collections.abc import Callable

import numpy as np
import pytest
import soundfile

from engine.audio import AudioForm, Samples
from engine.audio.mpeg import frames_of
from engine.errors import InvalidRequest
from tests.engine.audio.grown import grown, speech_like

RATE = 24_000
FRAME = 384  # bytes at 128 kbit/s
SECONDS = 4.8  # 200 frames
SENT, WHOLE = grown(speech_like(SECONDS), RATE, AudioForm("mp3"))
GARBAGE = np.random.default_rng(5).integers(0, 256, 100_000, dtype=np.uint8).tobytes()
ID3 = b"ID3\x03\x00\x00" + bytes([0, 0, 64, 0]) + bytes(8_192)
END = b"TAG" + bytes(125)


def seconds(content: bytes) -> float:
    """How long what is read lasts; it is as long as is told."""
    shown = frames_of(io.BytesIO(content), "audio")
    assert shown is not None
    with soundfile.SoundFile(shown) as file:
        read = len(file.read())
        assert read == file.frames
        return read / int(file.samplerate)


def why(content: bytes) -> str:
    """Why it is refused."""
    with pytest.raises(InvalidRequest) as refused:
        frames_of(io.BytesIO(content), "audio")
    assert refused.value.field == "audio"
    return str(refused.value)


def by_libsndfile(samples: Samples, rate_hz: int, mode: str, subtype: str = "MPEG_LAYER_III") -> bytes:
    sink = io.BytesIO()
    with soundfile.SoundFile(
        sink, "w", rate_hz, samples.shape[1], subtype, format="MP3", compression_level=0.3, bitrate_mode=mode
    ) as file:
        file.write(samples)
    return sink.getvalue()


ONCE: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda one: one,
    "without a tag": lambda one: one[FRAME:],
    "with ID3 before and behind": lambda one: ID3 + one + END,
    "with padding behind ID3": lambda one: ID3 + bytes(700) + one,
    "caught within a frame": lambda one: one[FRAME * 2 + 100 :],
    "with little behind it": lambda one: one + GARBAGE[:500],
    "with much behind it": lambda one: one + GARBAGE,
    "with zeros behind it": lambda one: one + bytes(100_000),
}


@pytest.mark.parametrize("content", [SENT, WHOLE], ids=["sent", "whole"])
@pytest.mark.parametrize("made", ONCE.values(), ids=ONCE)
def test_it_is_read_to_its_end(content: bytes, made: Callable[[bytes], bytes]) -> None:
    assert seconds(made(content)) == pytest.approx(SECONDS, abs=0.1)


TWICE: dict[str, Callable[[bytes], bytes]] = {
    "as they are": lambda one: one + one,
    "with tags": lambda one: ID3 + one + END + ID3 + one + END,
    "cut by the byte": lambda one: one[:-200] + one[200:],
}


@pytest.mark.parametrize("content", [SENT, WHOLE], ids=["sent", "whole"])
@pytest.mark.parametrize("made", TWICE.values(), ids=TWICE)
def test_joined_files_are_read_as_one(content: bytes, made: Callable[[bytes], bytes]) -> None:
    assert seconds(made(content)) == pytest.approx(2 * SECONDS, abs=0.2)


@pytest.mark.parametrize("is_loud_first", [True, False])
def test_a_variable_bitrate_is_counted_where_no_tag_does(is_loud_first: bool) -> None:
    noise = np.random.default_rng(1).normal(0, 0.2, (44_100, 1)) * np.array(
        [[1.0]] * 22_050 + [[0.001]] * 22_050
    )
    samples = np.ascontiguousarray(noise if is_loud_first else noise[::-1], dtype=np.float32)
    content = by_libsndfile(samples, 44_100, "VARIABLE")
    assert seconds(content) == 1.0
    behind = content.index(b"\xff\xfb", 100)
    assert seconds(content[behind:]) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("left", [FRAME * 101, FRAME * 101 + 50])
def test_a_part_of_one_that_tells_nothing_is_read(left: int) -> None:
    assert seconds(SENT[:left]) == pytest.approx(2.4, abs=0.05)


def test_a_tag_may_count_a_frame_too_many() -> None:
    assert seconds(WHOLE[:-FRAME]) == pytest.approx(SECONDS, abs=0.1)


@pytest.mark.parametrize("left", [FRAME * 101, FRAME * 101 + 50, len(WHOLE) - 10])
def test_one_that_tells_of_more_is_cut_short(left: int) -> None:
    assert "seconds that it tells, so it is damaged or cut short" in why(WHOLE[:left])


def test_garbage_in_place_of_what_is_told_is_no_end() -> None:
    assert "damaged or cut short" in why(WHOLE[: FRAME * 101] + GARBAGE[: FRAME * 99])


@pytest.mark.parametrize("content", [SENT, WHOLE], ids=["sent", "whole"])
@pytest.mark.parametrize("hole", [bytes(4_000), GARBAGE[:4_000]], ids=["zeros", "garbage"])
def test_damage_in_the_middle_is_told_with_its_place(content: bytes, hole: bytes) -> None:
    middle = FRAME * 101
    assert "damaged 2.42 seconds from its start" in why(content[:middle] + hole + content[middle + 4_000 :])


def test_a_file_of_scraps_is_damaged() -> None:
    assert "The audio is damaged" in why((SENT[FRAME : 5 * FRAME] + b"scrap") * 1_100)


def test_a_rate_or_a_number_of_channels_that_changes_is_told() -> None:
    for other in (speech_like(1.0, 16_000), speech_like(1.0, RATE, 2)):
        rate_hz = 16_000 if other.shape[1] == 1 else RATE
        assert "changes its sample rate or its channels" in why(
            SENT + grown(other, rate_hz, AudioForm("mp3"))[0]
        )


@pytest.mark.parametrize("content", [b"", b"\xff\xfb", bytes(5_000), GARBAGE[:5_000], b"\xff" * 5_000])
def test_what_has_no_frames_has_none(content: bytes) -> None:
    assert frames_of(io.BytesIO(content), "audio") is None
