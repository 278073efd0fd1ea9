import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.jobs.rates import Estimate, RateBook, Stage
from server.jobs.tracker import NEARLY_DONE, StageTracker

STAGES = (Stage("plan", 10.0), Stage("sing", 30.0))


def started(*stages: Stage, now: float = 100.0) -> StageTracker:
    tracker = StageTracker("m", stages or STAGES)
    tracker.start(now)
    return tracker


def test_a_tracker_begins_at_nothing() -> None:
    tracker = StageTracker("m", STAGES)
    assert (tracker.phase, tracker.share, tracker.counters) == ("", 0.0, {})


def test_progress_follows_the_stages() -> None:
    tracker, rates = started(), RateBook()
    tracker.advance(rates, "plan", 0.5, {"bars": 4}, 101.0)
    assert (tracker.phase, tracker.share, tracker.counters) == ("plan", 0.125, {"bars": 4})
    tracker.advance(rates, "plan", 0.6, {"tokens": 9}, 102.0)
    assert tracker.counters == {"bars": 4, "tokens": 9}
    tracker.advance(rates, "sing", 0.0, {}, 110.0)
    assert (tracker.phase, tracker.share, tracker.counters) == ("sing", 0.25, {})


def test_progress_never_falls_and_is_whole_only_at_the_end() -> None:
    tracker, rates = started(), RateBook()
    tracker.advance(rates, "sing", 1.0, {}, 101.0)
    assert tracker.share == NEARLY_DONE
    tracker.advance(rates, "sing", 0.5, {}, 102.0)
    tracker.advance(rates, "plan", 0.0, {}, 103.0)
    assert tracker.share == NEARLY_DONE
    tracker.finish(rates, 104.0)
    assert tracker.share == 1.0


@pytest.mark.parametrize(("fraction", "share"), [(-1.0, 0.0), (7.0, 0.25), (math.nan, 0.0)])
def test_odd_fractions_are_bounded(fraction: float, share: float) -> None:
    tracker = started()
    tracker.advance(RateBook(), "plan", fraction, {}, 101.0)
    assert tracker.share == share


def test_entering_a_phase_teaches_what_the_one_before_took() -> None:
    tracker, rates = started(now=100.0), RateBook()
    tracker.advance(rates, "plan", 0.1, {}, 103.0)
    assert rates.estimate("m", STAGES[:1]).measured is False
    tracker.advance(rates, "sing", 0.0, {}, 105.0)
    assert rates.estimate("m", STAGES[:1]) == Estimate(5.0, True)
    tracker.finish(rates, 120.0)
    assert rates.estimate("m", STAGES[1:]) == Estimate(15.0, True)


def test_a_phase_that_never_ended_teaches_nothing() -> None:
    tracker, rates = started(), RateBook()
    tracker.advance(rates, "plan", 0.99, {}, 103.0)
    assert "plan" not in rates.to_json()


def test_skipped_stages_count_as_done_and_teach_nothing() -> None:
    tracker, rates = started(Stage("load", 20.0), *STAGES), RateBook()
    tracker.advance(rates, "plan", 0.0, {}, 101.0)
    assert tracker.share == pytest.approx(20 / 60)
    tracker.finish(rates, 102.0)
    assert "load" not in rates.to_json()
    assert "sing" not in rates.to_json()


def test_a_phase_outside_the_plan_is_shown_and_moves_nothing() -> None:
    tracker, rates = started(), RateBook()
    tracker.advance(rates, "warm", 0.9, {}, 101.0)
    assert (tracker.phase, tracker.share) == ("warm", 0.0)
    assert tracker.remaining(rates, 102.0) == Estimate(40.0, False)
    tracker.advance(rates, "plan", 0.0, {}, 103.0)
    tracker.advance(rates, "cool", 0.9, {}, 113.0)
    assert (tracker.phase, tracker.share) == ("cool", 0.25)
    assert tracker.remaining(rates, 114.0) == Estimate(30.0, False)
    assert rates.estimate("m", STAGES[:1]) == Estimate(10.0, True)
    tracker.finish(rates, 119.0)
    assert "warm" not in rates.to_json()
    assert "cool" not in rates.to_json()
    assert "sing" not in rates.to_json()


def test_a_phase_may_stand_twice() -> None:
    tracker, rates = started(*STAGES, *STAGES), RateBook()
    for phase, now in (("plan", 100.0), ("sing", 110.0), ("plan", 140.0), ("sing", 150.0)):
        tracker.advance(rates, phase, 0.0, {}, now)
    assert tracker.share == pytest.approx(0.5 + 0.125)


def test_time_left_before_during_and_after() -> None:
    tracker, rates = started(now=100.0), RateBook()
    assert tracker.remaining(rates, 100.0) == Estimate(40.0, False)
    tracker.advance(rates, "plan", 0.0, {}, 100.0)
    assert tracker.remaining(rates, 102.0).seconds == 38.0
    tracker.advance(rates, "plan", 0.5, {}, 110.0)
    assert tracker.remaining(rates, 110.0).seconds == pytest.approx(0.5 * 5 + 0.5 * 10 + 30)
    tracker.advance(rates, "plan", 0.5, {}, 111.0)
    assert tracker.remaining(rates, 111.0).seconds == pytest.approx(36.5)
    tracker.finish(rates, 112.0)
    tracker = started()
    tracker.advance(rates, "sing", 0.0, {}, 101.0)
    tracker.finish(rates, 102.0)
    assert tracker.remaining(rates, 103.0).seconds == 0.0


def test_a_new_phase_starts_its_pace_anew() -> None:
    tracker, rates = started(now=100.0), RateBook()
    tracker.advance(rates, "plan", 0.9, {}, 150.0)
    tracker.advance(rates, "sing", 0.1, {}, 160.0)
    tracker.advance(rates, "sing", 0.5, {}, 165.0)
    assert tracker.remaining(rates, 165.0).seconds == pytest.approx(0.5 * 15 + 0.5 * 5)


def test_a_size_may_be_corrected_while_the_stage_is_not_over() -> None:
    tracker, rates = started(*STAGES, Stage("sing", 60.0)), RateBook()
    tracker.advance(rates, "plan", 0.0, {}, 100.0)
    tracker.expect(rates, "sing", 10.0)
    assert tracker.remaining(rates, 100.0).seconds == 80.0
    tracker.advance(rates, "sing", 0.0, {}, 101.0)
    tracker.expect(rates, "sing", 5.0)
    tracker.expect(rates, "plan", 500.0)
    tracker.expect(rates, "unheard", 500.0)
    assert tracker.remaining(rates, 101.0).seconds == 65.0
    tracker.finish(rates, 111.0)
    assert rates.estimate("m", [Stage("sing", 1.0)]) == Estimate(2.0, True)


def test_a_size_that_was_told_teaches_what_to_expect_of_the_next_song() -> None:
    budget = Stage("sing", 900.0, "budget", lines=3)
    tracker, rates = started(budget), RateBook()
    assert tracker.remaining(rates, 100.0) == Estimate(900.0, False, "budget")
    tracker.advance(rates, "sing", 0.0, {}, 100.0)
    tracker.expect(rates, "sing", 90.0, "score")
    assert tracker.remaining(rates, 100.0) == Estimate(90.0, False, "score")
    tracker.finish(rates, 145.0)
    assert rates.estimate("m", [Stage("sing", 1.0)]) == Estimate(0.5, True)
    assert rates.estimate("m", [budget]) == Estimate(45.0, True, "history")


def test_a_budget_that_nobody_corrected_teaches_nothing() -> None:
    budget = Stage("sing", 900.0, "budget")
    tracker, rates = started(budget), RateBook()
    tracker.advance(rates, "sing", 0.0, {}, 100.0)
    tracker.finish(rates, 145.0)
    assert rates.estimate("m", [budget]) == Estimate(900.0, False, "budget")
    assert rates.to_json() == RateBook().to_json()


def test_a_budget_whose_size_earlier_songs_tell_teaches_nothing_either() -> None:
    budget = Stage("sing", 900.0, "budget")
    tracker, rates = started(budget), RateBook()
    rates.learn_size("m", Stage("sing", 90.0))
    tracker.advance(rates, "sing", 0.0, {}, 100.0)
    tracker.finish(rates, 145.0)
    assert rates.estimate("m", [budget]) == Estimate(90.0, False, "history")


def test_a_song_that_its_budget_cut_teaches_its_speed_but_no_length() -> None:
    tracker, rates = started(Stage("sing", 75.0, "budget")), RateBook()
    tracker.advance(rates, "sing", 1.0, {}, 100.0)
    tracker.expect(rates, "sing", 75.0, "history")
    tracker.finish(rates, 175.0)
    longer = Stage("sing", 3750.0, "budget")
    assert rates.estimate("m", [longer]) == Estimate(3750.0, True, "budget")


def test_a_stage_that_outgrows_earlier_ones_leaves_the_rest_its_share() -> None:
    stages = (Stage("draw", 1000.0, "budget"), Stage("sound", 1000.0, "budget"))
    tracker, rates = started(*stages), RateBook()
    for phase in ("draw", "sound"):
        rates.learn_size("m", Stage(phase, 10.0))
    assert rates.estimate("m", stages).seconds == 20.0
    tracker.advance(rates, "draw", 0.004, {}, 104.0)
    assert tracker.share == pytest.approx(4 / 20)
    assert tracker.remaining(rates, 104.0).seconds == pytest.approx(6 + 10)
    tracker.advance(rates, "draw", 0.4, {}, 500.0)
    assert tracker.remaining(rates, 500.0).seconds == pytest.approx(100 + 500)
    assert tracker.share == pytest.approx(400 / 1000)
    tracker.advance(rates, "draw", 1.0, {}, 1100.0)
    assert tracker.remaining(rates, 1100.0).seconds == pytest.approx(1000)
    assert tracker.share == pytest.approx(0.5)


def test_a_shorter_rest_moves_progress_at_once() -> None:
    tracker, rates = started(), RateBook()
    tracker.advance(rates, "plan", 1.0, {}, 100.0)
    tracker.expect(rates, "sing", 10.0)
    assert tracker.share == 0.5


def test_what_is_worth_telling() -> None:
    tracker, rates = started(Stage("plan", 100.0), now=100.0), RateBook()
    told = [
        tracker.advance(rates, phase, fraction, {}, now)
        for phase, fraction, now in [
            ("plan", 0.0, 100.0),  # entered
            ("plan", 0.005, 100.1),  # too little, too soon
            ("plan", 0.01, 100.2),  # one per cent
            ("plan", 0.011, 100.6),  # less than half a second after
            ("plan", 0.012, 100.75),  # late enough
            ("plan", 0.012, 101.0),
            ("plan", 0.012, 101.25),
            ("rest", 0.0, 101.3),
        ]
    ]
    assert told == [True, False, True, False, True, False, True, True]


def test_the_start_counts_as_told() -> None:
    tracker, rates = started(now=100.0), RateBook()
    assert tracker.advance(rates, "", 0.0, {}, 100.4) is False
    assert tracker.advance(rates, "", 0.0, {}, 100.5) is True


reports = st.tuples(st.sampled_from(["plan", "sing", "other"]), st.floats(-0.5, 1.5), st.floats(0, 10))


@settings(deadline=None)
@given(st.lists(reports, max_size=20))
def test_progress_and_time_left_keep_their_bounds(steps: list[tuple[str, float, float]]) -> None:
    tracker, rates, now, before = started(), RateBook(), 100.0, 0.0
    for phase, fraction, seconds in steps:
        now += seconds
        tracker.advance(rates, phase, fraction, {}, now)
        assert before <= tracker.share <= NEARLY_DONE
        assert 0.0 <= tracker.remaining(rates, now + seconds).seconds < math.inf
        before = tracker.share


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["plan", "sing"]), st.floats(0, 1), st.floats(0, 1e6)), max_size=20)
)
def test_progress_never_falls_whatever_sizes_are_told(steps: list[tuple[str, float, float]]) -> None:
    budgets = (Stage("plan", 10.0, "budget", 2), Stage("sing", 30.0, "budget", 2))
    tracker, rates, before = started(*budgets, *budgets), RateBook(), 0.0
    for now, (phase, fraction, units) in enumerate(steps, start=101):
        tracker.advance(rates, phase, fraction, {}, now)
        tracker.expect(rates, phase, units, "score")
        assert before <= tracker.share <= NEARLY_DONE
        before = tracker.share
