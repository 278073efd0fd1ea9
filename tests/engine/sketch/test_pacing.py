"""The tempo at which bars fit sections."""

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.score import parse, timeline, write
from engine.sketch.compose import compose
from engine.sketch.pacing import FASTEST_PACE, SLOWEST_PACE, Times, pace, shortened
from engine.sketch.sharing import shared_out


def times(wanted: list[float], *, slowing: float = 0.0, needed: int = 1) -> Times:
    return Times(tuple(wanted), (needed,) * len(wanted), sum(wanted), slowing)


def test_bars_that_fit_are_left_alone() -> None:
    assert pace(times([8, 16, 4]), 2.0) == 1


def test_the_whole_is_filled_with_whole_bars() -> None:
    assert pace(times([11]), 2.0) == pytest.approx(12 / 11)
    assert pace(times([11], slowing=0.5), 2.0) == pytest.approx(11 / 11)


def test_a_near_tempo_is_taken_whose_bars_end_with_the_sections() -> None:
    assert 2.0 / pace(times([9, 9, 9]), 2.0) == pytest.approx(9 / 5)


def test_what_slows_at_the_end_is_the_last_sections() -> None:
    assert pace(times([24, 30], slowing=0.5), 2.0) == pytest.approx(
        7 / 6
    )  # fourteen bars, and seventeen and a half


def test_a_far_tempo_is_not() -> None:
    assert pace(times([3, 3]), 2.0) == 1


def test_words_that_take_more_than_their_time_count() -> None:
    assert pace(times([8, 8]), 2.0) == 1
    assert pace(Times((8, 8), (5, 1), 16), 2.0) == 9 / 8


def test_the_last_section_gives_its_time_and_keeps_a_little() -> None:
    assert shortened([4.0, 5.0], 2) == [4, 3]
    assert shortened([4.0, 1.0], 2) == [4, 0.001]


@given(
    wanted=st.lists(st.floats(3, 120), min_size=1, max_size=8),
    bar=st.floats(0.8, 6),
    slowing=st.sampled_from([0.0, 0.525]),
)
def test_any_times_are_filled_at_a_tempo_not_far_away(
    wanted: list[float], bar: float, slowing: float
) -> None:
    told = times(wanted, slowing=slowing)
    faster = pace(told, bar)
    assert SLOWEST_PACE <= faster <= FASTEST_PACE
    bars = told.seconds * faster / bar - slowing
    if SLOWEST_PACE < faster < FASTEST_PACE:
        assert bars == pytest.approx(round(bars), abs=1e-6)
        assert round(bars) >= 1


@given(wanted=st.lists(st.floats(6, 60), min_size=2, max_size=8), bar=st.floats(0.8, 3))
def test_boundaries_are_missed_by_less_than_half_a_bar(wanted: list[float], bar: float) -> None:
    told = times(wanted)
    length = bar / pace(told, bar)
    ends = accumulate(
        shared_out([part / length for part in wanted], told.needed, round(told.seconds / length))
    )
    missed = [abs(end * length - there) for end, there in zip(ends, accumulate(wanted), strict=True)]
    assert max(missed) <= length / 2 + 1e-6


@pytest.mark.parametrize("style", ["pop", "folk", "hip hop", "waltz", "ambient"])
@pytest.mark.parametrize("seconds", [10, 31, 125])
def test_a_song_whose_headings_tell_times_lasts_just_that(style: str, seconds: float) -> None:
    text = f"[Intro, {0.2 * seconds:.3f} s]\n[Verse, {0.5 * seconds:.3f} s]\nHello\n[Outro, {0.3 * seconds:.3f} s]"
    score = compose(style, text, 3, seconds)
    played = timeline(parse(write(score)))
    assert played.duration == pytest.approx(seconds, abs=0.05)
    starts = [start for _, start, _ in played.sections]
    assert starts == pytest.approx([0, 0.2 * seconds, 0.7 * seconds], abs=played.bars[0][1])


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["pop", "folk", "hip hop", "waltz", "ballad", "rock", "ambient"]),
    st.lists(
        st.tuples(st.sampled_from(["Verse", "Chorus", "Solo"]), st.floats(8, 30)), min_size=1, max_size=5
    ),
)
def test_sections_begin_half_a_bar_at_most_from_where_their_headings_tell(
    style: str, sections: list[tuple[str, float]]
) -> None:
    text = "\n".join(f"[{name}, {seconds:.3f} s]" for name, seconds in sections)
    seconds = sum(length for _, length in sections)
    played = timeline(parse(write(compose(style, text, 3, seconds))))
    told = [0.0, *accumulate(length for _, length in sections)]
    assert played.duration == pytest.approx(seconds, abs=0.05)
    starts = [start for _, start, _ in played.sections]
    assert starts == pytest.approx(told[:-1], abs=0.5 * played.bars[0][1] + 0.01)


def test_a_last_section_that_is_short_ends_at_the_songs_own_tempo() -> None:
    played = [
        timeline(compose("folk", f"[Verse, 30 s]\n[Outro, {seconds} s]", 3, 30 + seconds)).bars[-1]
        for seconds in (3, 12)
    ]
    (start, end), (slow_start, slow_end) = played
    assert slow_end - slow_start > 1.3 * (end - start)


def test_a_tempo_that_a_tag_tells_is_kept_whatever_the_headings_say() -> None:
    score = compose("folk, 84 BPM", "[Verse, 20 s]\n[Chorus, 20 s]", 3, 40)
    assert score.tempo_bpm == 84
    assert 40 - 60 / 84 * 4 < timeline(parse(write(score))).duration <= 40
