"""Spans that are still to be looked at."""

import numpy as np

from engine.transcription.lanes import Lane
from engine.transcription.loudness import RecordingLoudness
from engine.transcription.spans import FRAME_SAMPLES, Span


def heard(*parts: tuple[int, int]) -> Lane:
    """A lane that has heard frames of silence and of noise by turns."""
    lane = Lane(RecordingLoudness())
    for part in parts:
        for level, frames in zip((0, 1), part, strict=True):
            lane.feed(np.full(frames * FRAME_SAMPLES, level, np.float32))
    return lane


def frames(start: int, stop: int) -> Span:
    return Span(start * FRAME_SAMPLES, stop * FRAME_SAMPLES)


def test_the_first_span_is_one_that_has_ended_or_one_that_has_not() -> None:
    assert heard((9, 0)).first is None
    assert heard((9, 20)).first == heard((9, 20), (20, 0)).first == 9 * FRAME_SAMPLES
    assert heard((9, 20)).open == 9 * FRAME_SAMPLES
    assert heard((9, 20), (20, 0)).open is None


def test_what_lies_before_the_place_reached_is_forgotten() -> None:
    lane = heard((10, 20), (20, 20), (20, 20))
    lane.reach(60 * FRAME_SAMPLES)
    lane.reach(0)
    assert lane.spans == [frames(60, 70)]
    lane.reach(100 * FRAME_SAMPLES)
    assert (lane.spans, lane.open) == ([], 100 * FRAME_SAMPLES)
    lane.finish()
    assert (lane.spans, lane.open) == ([frames(100, 110)], None)


def test_spans_are_cut_to_what_is_asked_for() -> None:
    lane = heard((10, 20), (20, 20))
    assert lane.between(0, 20 * FRAME_SAMPLES) == [frames(10, 20)]
    assert lane.between(25 * FRAME_SAMPLES, 60 * FRAME_SAMPLES) == [frames(25, 30), frames(50, 60)]


def test_it_is_quiet_where_nothing_is_found_or_open() -> None:
    assert heard((10, 20), (20, 0)).quiet_since(31 * FRAME_SAMPLES)
    assert not heard((10, 20), (20, 0)).quiet_since(29 * FRAME_SAMPLES)
    assert not heard((10, 20)).quiet_since(10**6)
