"""Recordings that go on for longer than may be, whatever they say of it."""

import io

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.audio.reading import LISTENING_HZ, listening
from engine.errors import InvalidRequest


def silence(seconds: float, *, untold: bool = False) -> io.BytesIO:
    """A FLAC file, as one that was streamed where its length is not told."""
    sink = io.BytesIO()
    encode(np.zeros((round(seconds * 8_000), 1), np.float32), 8_000, AudioForm("flac"), sink)
    raw = bytearray(sink.getvalue())
    if untold:
        raw[21] &= 0xF0  # the low 36 bits of eight bytes at 18: the total of samples, in RFC 9639
        raw[22:26] = bytes(4)
    return io.BytesIO(raw)


@pytest.mark.parametrize("untold", [False, True])
def test_a_recording_is_read_no_further_than_it_may_be_long(untold: bool) -> None:
    with listening(silence(60, untold=untold), most_seconds=20) as stream:
        assert (stream.seconds is None) is untold
        with pytest.raises(InvalidRequest, match="send it in shorter parts") as caught:
            list(stream.blocks)
    assert caught.value.field == "audio"


def test_what_is_as_long_as_may_be_is_read_to_its_end() -> None:
    with listening(silence(3, untold=True), most_seconds=3.001) as stream:
        assert sum(len(block) for block in stream.blocks) == pytest.approx(3 * LISTENING_HZ, abs=2)
