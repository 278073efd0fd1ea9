"""Times of the bars as played, and their bounds."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score import parse
from engine.score.clock import Clock, beat_of, clock_of
from engine.score.repeats import play_order
from tests.engine.score.tunes import tune


def clock(body: str, **header: str) -> Clock:
    score = parse(tune(body, **header))
    return clock_of(score, play_order(score.voices))


def test_bars_follow_each_other_as_they_are_played() -> None:
    played = clock("|:C8|[Q:60]D4:|[M:3/4]E6|")

    assert played.lengths == [1, Fraction(1, 2), 1, Fraction(1, 2), Fraction(3, 4)]
    assert played.tempos == [120, 60, 120, 60, 60]
    assert played.meters == [(4, 4)] * 4 + [(3, 4)]
    assert played.seconds == [0, 2, 4, 6, 8]
    assert (played.duration, played.end(1), played.at(4, Fraction(1, 4))) == (11, 4, 9)


def test_short_first_bar_counts_its_beats_from_its_end() -> None:
    played = clock("C3|D8|")

    assert (played.beats_in(0), played.beats(0)) == (1, [0.25])
    assert (played.beats_in(1), played.beats(1)) == (4, [0.75, 1.25, 1.75, 2.25])


def test_clock_without_bars_shows_nothing() -> None:
    assert Clock().duration == 0


@pytest.mark.parametrize(("meter", "beat"), [((4, 4), 4), ((6, 8), Fraction(8, 3)), ((6, 4), 4), ((5, 8), 8)])
def test_beat_of_a_meter(meter: tuple[int, int], beat: Fraction) -> None:
    assert beat_of(meter) == 1 / Fraction(beat)


def test_twenty_minutes_are_a_score_and_a_second_more_is_a_fault() -> None:
    assert clock("Z598|C8|").duration == 1198
    assert clock("Z598|C8|D8|").duration == 1200
    with pytest.raises(ScoreError, match="lasts 20 min 1 s, repeats counted; shorten it to 20 min") as fault:
        parse(tune("Z598|C8|D8|E4|"))
    assert (fault.value.line, fault.value.column) == (7, 12)


def test_length_counts_repeats_and_tempo() -> None:
    assert clock("|:Z40:::|", tempo="1/4=240").duration == 160
    with pytest.raises(ScoreError, match="lasts 26 min 40 s"):
        parse(tune("|:Z40:::|", tempo="1/4=24"))


def test_bar_of_very_many_beats_is_a_fault_and_costs_nothing() -> None:
    with pytest.raises(ScoreError, match="beats; shorten it to 20000"):
        parse(f"X:1\nM:1/64\nL:1/1\nQ:1000\nK:C\n{'C64 ' * 70}")
    with pytest.raises(ScoreError, match="5333 min 20 s"):
        parse(f"X:1\nM:1/64\nL:1/1\nK:C\n{'C64 ' * 2500}")
