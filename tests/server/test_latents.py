"""Latents as bytes."""

import io

import numpy as np
import pytest

from engine.errors import InvalidRequest
from server.latents import read_latents, write_latents


@pytest.mark.parametrize("channels", [64, 8])
def test_what_is_written_is_read_again(channels: int) -> None:
    latents = np.random.default_rng(1).normal(size=(5, channels)).astype(np.float32)
    sink = io.BytesIO()
    write_latents(latents[::1], sink)
    assert sink.getvalue()[:4] == latents[0, 0].astype("<f4").tobytes()
    assert len(sink.getvalue()) == 5 * channels * 4
    assert np.array_equal(read_latents(sink.getvalue(), channels), latents)


def test_rows_of_another_layout_are_written_in_order() -> None:
    latents = np.arange(128, dtype=np.float32).reshape(64, 2).T
    sink = io.BytesIO()
    write_latents(latents, sink)
    assert np.array_equal(np.frombuffer(sink.getvalue(), "<f4").reshape(2, 64), latents)


@pytest.mark.parametrize("size", [0, 1, 255, 257])
def test_rows_are_whole(size: int) -> None:
    with pytest.raises(InvalidRequest, match=f"256 bytes each; you sent {size} bytes") as caught:
        read_latents(bytes(size), 64)
    assert caught.value.field == "latents"


def test_what_was_sent_is_not_copied() -> None:
    sent = io.BytesIO(bytes(512))
    latents = read_latents(sent.getbuffer(), 64)
    sent.getbuffer()[:4] = np.float32(0.5).tobytes()
    assert latents[0, 0] == 0.5
