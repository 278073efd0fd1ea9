"""Stretches of speech from probabilities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.transcription.spans import FRAME_SAMPLES, Span, SpanFinder


def found(probabilities: list[float]) -> list[Span]:
    finder = SpanFinder()
    spans = finder.feed(probabilities)
    last = finder.finish(len(probabilities) * FRAME_SAMPLES)
    return spans if last is None else [*spans, last]


def frames(start: int, stop: int) -> Span:
    return Span(start * FRAME_SAMPLES, stop * FRAME_SAMPLES)


def test_speech_begins_at_a_half_and_ends_where_it_falls_below_035() -> None:
    assert found([0.4] * 3 + [0.6] * 10 + [0.4] * 5 + [0.1] * 9) == [frames(3, 18)]


def test_a_pause_under_150_ms_is_part_of_speech() -> None:
    assert found([0.9] * 10 + [0.1] * 5 + [0.9] * 10 + [0.1] * 9) == [frames(0, 25)]
    assert found([0.9] * 10 + [0.1] * 6 + [0.9] * 10 + [0.1] * 9) == [frames(0, 10), frames(16, 26)]


def test_what_lasts_no_longer_than_250_ms_is_no_speech() -> None:
    assert found([0.9] * 7 + [0.1] * 9) == []
    assert found([0.9] * 8 + [0.1] * 9) == [frames(0, 8)]


def test_speech_that_the_end_cuts_off_ends_there_or_where_it_fell_silent() -> None:
    assert found([0.9] * 10) == [frames(0, 10)]
    assert found([0.9] * 10 + [0.1] * 2) == [frames(0, 10)]


def test_while_speech_goes_on_its_start_is_known() -> None:
    finder = SpanFinder()
    finder.feed([0.1, 0.9, 0.9])
    assert finder.open_since == FRAME_SAMPLES
    finder.feed([0.1] * 9)
    assert finder.open_since is None


def test_overlap_is_negative_between_spans_that_lie_apart() -> None:
    assert Span(0, 10).overlap(Span(5, 20)) == 5
    assert Span(0, 10).overlap(Span(15, 20)) == -5


@given(st.lists(st.sampled_from([0.0, 0.4, 0.9]), max_size=120), st.data())
def test_spans_are_the_same_however_the_frames_are_grouped(
    probabilities: list[float], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(probabilities)))
    finder = SpanFinder()
    spans = finder.feed(probabilities[:cut]) + finder.feed(probabilities[cut:])
    last = finder.finish(len(probabilities) * FRAME_SAMPLES)
    assert (spans if last is None else [*spans, last]) == found(probabilities)
    stops = [span.stop for span in spans]
    assert stops == sorted(stops)


@pytest.mark.parametrize("probability", [0.0, 0.49])
def test_what_never_reaches_a_half_is_no_speech(probability: float) -> None:
    assert found([probability] * 100) == []
