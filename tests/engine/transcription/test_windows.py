"""A recording cut into windows."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.transcription.features import RATE_HZ, WINDOW_SAMPLES
from engine.transcription.spans import Span
from engine.transcription.windows import LONGEST_GAP, Window, Windows
from tests.engine.transcription.spoken import Loudness


def sound(*parts: tuple[float, float]) -> NDArray[np.float32]:
    """Seconds of silence and of speech by turns, in whole frames of 32 ms."""
    pieces = [
        np.full(round(seconds / 0.032) * 512, level, np.float32)
        for part in parts
        for level, seconds in zip((0, 1), part, strict=True)
    ]
    return np.concatenate(pieces)


def blocks(samples: NDArray[np.float32], step: int = 20_000) -> Iterator[NDArray[np.float32]]:
    return (samples[start : start + step] for start in range(0, len(samples), step))


def cut(samples: NDArray[np.float32], step: int = 20_000) -> list[Window]:
    windows = Windows(blocks(samples, step), Loudness())
    found = []
    while (window := windows.next()) is not None:
        assert window.samples.size
        found.append(window)
        windows.resume(window.stop)
    assert windows.heard == len(samples)
    return found


def seconds(*samples: int) -> list[float]:
    return [round(sample / RATE_HZ, 1) for sample in samples]


def test_where_nobody_speaks_there_is_no_window() -> None:
    assert cut(np.zeros(100 * RATE_HZ, np.float32)) == []
    assert cut(np.zeros(0, np.float32)) == []


def test_a_window_begins_just_before_speech_and_holds_it() -> None:
    (window,) = cut(sound((3, 2), (1, 2), (4, 0)))
    assert seconds(window.start, window.stop) == [2.8, 8.3]
    assert [seconds(span.start, span.stop) for span in window.spans] == [[3.0, 5.0], [6.0, 8.0]]
    assert window.whole


def test_a_full_window_ends_in_the_longest_pause_near_its_end() -> None:
    first, second = cut(sound((1, 20), (0.3, 2), (0.9, 2), (0.4, 3), (0.3, 6)))
    assert (first.spans[-1].stop, second.spans[0].start) == (first.spans[1].stop, second.spans[0].start)
    assert seconds(first.spans[-1].stop, second.spans[0].start) == [23.3, 24.2]
    assert first.whole
    assert second.whole


def test_a_long_pause_ends_a_window() -> None:
    pause = LONGEST_GAP / RATE_HZ
    assert len(cut(sound((1, 2), (pause + 1, 2)))) == 2
    assert len(cut(sound((1, 2), (pause - 1, 2)))) == 1


def test_speech_without_a_pause_is_cut_at_30_s() -> None:
    windows = cut(sound((1, 70)))
    assert [window.whole for window in windows] == [False, False, True]
    assert [len(window.samples) for window in windows[:2]] == [WINDOW_SAMPLES] * 2
    assert windows[1].start == windows[0].stop


def test_speech_that_ends_just_before_a_window_is_full_is_not_cut() -> None:
    assert [window.whole for window in cut(sound((1, 29.7), (3, 2)), step=512)] == [True, True]
    assert [window.whole for window in cut(sound((1, 29.9), (3, 2)), step=512)] == [False, True]


def test_without_a_pause_near_its_end_a_window_ends_in_one_farther_off_but_not_in_its_first_third() -> None:
    first, *_ = cut(sound((1, 15), (1, 60)))
    assert (seconds(first.stop), first.whole) == ([16.3], True)
    first, *_ = cut(sound((1, 5), (1, 60)))
    assert (len(first.samples), first.whole) == (WINDOW_SAMPLES, False)


def test_one_can_go_on_from_within_a_window() -> None:
    windows = Windows(blocks(sound((1, 5), (1, 5), (1, 5))), Loudness())
    window = windows.next()
    assert window is not None
    windows.resume(9 * RATE_HZ)
    again = windows.next()
    assert again is not None
    assert again.start == 9 * RATE_HZ
    assert seconds(again.spans[0].start, again.spans[0].stop) == [9.0, 12.0]
    windows.resume(again.stop)
    assert windows.next() is None


def test_the_part_of_a_window_before_a_sample_has_only_the_speech_before_it() -> None:
    (window,) = cut(sound((1, 2), (1, 2), (1, 0)))
    part = window.until(2 * RATE_HZ)
    assert part.stop == 2 * RATE_HZ
    assert part.spans == (Span(window.spans[0].start, 2 * RATE_HZ),)


def test_an_endless_recording_is_held_for_no_longer_than_a_window() -> None:
    windows = Windows(blocks(np.tile(sound((2, 40), (20, 1)), 4)), Loudness())
    held = []
    while (window := windows.next()) is not None:
        held.append(len(windows._sound))
        windows.resume(window.stop)
    assert max(held) < WINDOW_SAMPLES + 3 * RATE_HZ


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.floats(0.2, 8), st.floats(0.4, 45)), min_size=1, max_size=6))
def test_all_speech_is_in_windows_once(parts: list[tuple[float, float]]) -> None:
    samples = sound(*parts)
    windows = cut(samples)
    taken = np.zeros(len(samples), np.int64)
    for window in windows:
        assert 0 < len(window.samples) <= WINDOW_SAMPLES
        assert np.array_equal(window.samples, samples[window.start : window.stop])
        for span in window.spans:
            assert window.start <= span.start < span.stop <= window.stop
            taken[span.start : span.stop] += 1
    assert np.array_equal(taken, (samples > 0).astype(np.int64))
    assert all(first.stop <= second.start for first, second in pairwise(windows))


def band(*parts: tuple[float, float]) -> NDArray[np.float32]:
    """Seconds, and the level: 0 is silence, 0.2 a band, 1 speech."""
    return np.concatenate(
        [np.full(round(length / 0.032) * 512, level, np.float32) for length, level in parts]
    )


def rejected(samples: NDArray[np.float32]) -> list[Window]:
    """All windows, where nobody sings in those that may be sung."""
    windows = Windows(blocks(samples), Loudness())
    found = []
    while (window := windows.next()) is not None:
        found.append(window)
        assert len(found) < 1000, "it goes on for ever"
        if window.sung:
            windows.dismiss(window)
        else:
            windows.resume(window.stop)
    return found


def test_what_is_loud_and_hardly_speech_is_handed_on_as_it_is() -> None:
    window, last = cut(band((2, 0), (8, 0.2), (2, 1), (30, 0.2), (8, 0)))
    assert (window.sung, window.whole, last.sung, last.whole) == (True, False, True, True)
    assert seconds(window.start, window.stop, last.start, last.stop) == [1.8, 31.8, 31.8, 42.3]
    assert [seconds(span.start, span.stop) for span in window.spans] == [[2.0, 31.8]]
    assert [seconds(span.start, span.stop) for span in window.speech] == [[10.0, 12.0]]


def test_speech_between_short_noises_is_cut_as_ever() -> None:
    (window,) = cut(band((1, 0), (0.5, 0.2), (2, 0), (4, 1), (2, 0), (0.5, 0.2), (9, 0)))
    assert (window.sung, window.doubted) == (False, False)
    assert [seconds(span.start, span.stop) for span in window.spans] == [[3.5, 7.5]]


def test_where_nobody_sings_the_speech_comes_next_and_is_doubted() -> None:
    first, second = rejected(band((1, 0), (15, 0.2), (2, 1), (8, 0.2), (9, 0)))
    assert (first.sung, second.sung, second.doubted) == (True, False, True)
    assert [seconds(span.start, span.stop) for span in second.spans] == [[16.0, 18.0]]


def test_where_nobody_sings_the_next_window_overlaps_for_who_begins_late() -> None:
    starts = [window.start for window in rejected(band((1, 0), (70, 0.2), (9, 0)))]
    assert seconds(*starts) == [0.8, 25.6, 50.4]


def test_an_endless_song_is_held_for_no_longer_than_two_windows() -> None:
    windows = Windows(blocks(band((2, 0), (100, 0.2), (6, 1), (80, 0.2))), Loudness())
    held = []
    while (window := windows.next()) is not None:
        held.append(len(windows._sound))
        windows.dismiss(window) if window.sung else windows.resume(window.stop)
    assert max(held) < 2 * WINDOW_SAMPLES + 3 * RATE_HZ


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0.5, 40), st.sampled_from([0.0, 0.2, 1.0])), min_size=1, max_size=7))
@example([(0.53, 0.2), (8.2, 0.0), (15.3, 0.2), (7.7, 0.0), (8.6, 1.0)])  # quiet long before a window is full
def test_all_speech_is_in_a_window_once_though_nobody_sings(parts: list[tuple[float, float]]) -> None:
    samples = band((1, 0), *parts)
    taken = np.zeros(len(samples), np.int64)
    for window in rejected(samples):
        assert 0 < len(window.samples) <= WINDOW_SAMPLES
        assert np.array_equal(window.samples, samples[window.start : window.stop])
        if not window.sung:
            for span in window.spans:
                taken[span.start : span.stop] += 1
    assert np.array_equal(taken, (samples == 1).astype(np.int64))
