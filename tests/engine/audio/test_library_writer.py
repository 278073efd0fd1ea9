"""FLAC and Opus as libsndfile is asked for them."""

import io

import av
import numpy as np
import pytest
import soundfile

from engine.audio.library_writer import FLAC, LibraryWriter, opus
from engine.control import unchecked
from engine.errors import InvalidRequest


@pytest.mark.parametrize(
    ("kbps", "channels", "level"), [(6, 1, 1.0), (256, 1, 0.0), (512, 2, 0.0), (131, 1, 0.5), (320, 1, 0.0)]
)
def test_a_bitrate_of_opus_is_a_level_of_compression(kbps: int, channels: int, level: float) -> None:
    assert opus(kbps, 48_000, channels).compression_level == pytest.approx(level)


@pytest.mark.parametrize("rate_hz", [11_025, 44_100, 96_000])
def test_rates_that_opus_lacks_are_refused(rate_hz: int) -> None:
    with pytest.raises(InvalidRequest, match=f"{rate_hz} Hz") as refused:
        opus(128, rate_hz, 2)
    assert refused.value.field == "output_format"


def test_flac_that_is_followed_says_that_its_length_is_unknown_and_can_be_read_to_its_end() -> None:
    samples, sink = np.full((24_000, 1), 0.25, np.float32), io.BytesIO()
    with LibraryWriter(24_000, 1, FLAC, sink, unchecked) as writer:
        writer.write(samples[:5_000])
        early = sink.getvalue()
        writer.write(samples[5_000:])
    followed = early + sink.getvalue()[len(early) :]
    streaminfo = slice(
        8, 42
    )  # RFC 9639, section 8.2: the number of samples is 36 bits before the MD5 of 16 bytes
    assert int.from_bytes(followed[streaminfo][10:18], "big") & (2**36 - 1) == 0
    with av.open(io.BytesIO(followed), "r") as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) == len(samples)
    assert soundfile.info(io.BytesIO(sink.getvalue())).frames == len(samples)


def test_opus_comes_in_pages_of_a_fifth_of_a_second() -> None:
    sink = io.BytesIO()
    with LibraryWriter(24_000, 1, opus(64, 24_000, 1), sink, unchecked) as writer:
        pages = []
        for _ in range(10):
            writer.write(np.zeros((4_800, 1), np.float32))
            pages.append(sink.getvalue().count(b"OggS"))
    assert pages[-1] >= 2 + 8
    assert max(np.diff(pages)) <= 2
