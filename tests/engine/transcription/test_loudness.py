"""Where a recording is loud."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.transcription.features import RATE_HZ
from engine.transcription.loudness import RecordingLoudness, levels
from engine.transcription.spans import FRAME_SAMPLES, Span


def spans(samples: NDArray[np.float32], step: int) -> list[Span]:
    loudness = RecordingLoudness()
    found = [
        span
        for start in range(0, len(samples), step)
        for span in loudness.feed(samples[start : start + step])
    ]
    return found + loudness.finish()


def hiss(decibels: float, frames: int) -> NDArray[np.float32]:
    """Noise of a level below full scale."""
    draw = np.random.default_rng(frames)
    return (10 ** (decibels / 20) * draw.normal(0, 1, frames * FRAME_SAMPLES)).astype(np.float32)


def test_levels_are_those_of_whole_frames() -> None:
    samples = np.concatenate([np.full(FRAME_SAMPLES, 0.5), np.zeros(FRAME_SAMPLES), np.ones(100)])
    assert levels(samples.astype(np.float32)).tolist() == [0.5, 0.0]
    assert len(levels(np.zeros(0, np.float32))) == 0


@pytest.mark.parametrize("step", [700, 16_000, 10**6])
def test_loud_parts_are_found_in_blocks_of_any_size(step: int) -> None:
    sound = np.concatenate([hiss(-60, 20), hiss(-30, 40), hiss(-60, 20), hiss(-20, 30)])
    assert spans(sound, step) == [
        Span(20 * FRAME_SAMPLES, 60 * FRAME_SAMPLES),
        Span(80 * FRAME_SAMPLES, 110 * FRAME_SAMPLES),
    ]


def test_a_quiet_hiss_and_a_click_are_not_loud() -> None:
    assert spans(hiss(-50, 100), 5_000) == []
    assert spans(np.concatenate([hiss(-60, 20), hiss(-10, 3), hiss(-60, 20)]), 5_000) == []


def test_while_it_is_loud_the_start_is_known() -> None:
    loudness = RecordingLoudness()
    loudness.feed(hiss(-60, 5))
    assert loudness.open_since is None
    loudness.feed(np.ones(RATE_HZ, np.float32))
    assert loudness.open_since == 5 * FRAME_SAMPLES
