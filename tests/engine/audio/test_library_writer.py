"""FLAC and Opus as libsndfile is asked for them."""

import io

import numpy as np
import pytest

from engine.audio.library_writer import LibraryWriter, opus
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


def test_opus_comes_in_pages_of_a_fifth_of_a_second() -> None:
    sink = io.BytesIO()
    with LibraryWriter(24_000, 1, opus(64, 24_000, 1), sink, unchecked) as writer:
        pages = []
        for _ in range(10):
            writer.write(np.zeros((4_800, 1), np.float32))
            pages.append(sink.getvalue().count(b"OggS"))
    assert pages[-1] >= 2 + 8
    assert max(np.diff(pages)) <= 2
