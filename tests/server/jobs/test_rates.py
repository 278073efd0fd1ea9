import json
import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.jobs.rates import (
    LEAST_UNITS,
    MAX_RATE,
    PACE_FROM,
    SMOOTHING,
    SOURCES,
    Estimate,
    RateBook,
    Stage,
    blend,
    total,
)

STAGES = (Stage("plan", 10.0), Stage("sing", 20.0))
PRIORS = {("m", "plan"): 0.5, ("m", "sing"): 2.0}


@pytest.mark.parametrize("units", [-0.1, math.inf, math.nan])
def test_a_stage_has_a_finite_size(units: float) -> None:
    with pytest.raises(ValueError, match="phase 'plan'"):
        Stage("plan", units)


def test_the_size_of_a_stage_is_from_somewhere() -> None:
    assert [Stage("plan", 1.0, source).source for source in SOURCES] == ["score", "history", "budget"]
    with pytest.raises(ValueError, match="one of score, history, budget"):
        Stage("plan", 1.0, "prior")


def test_a_stage_may_be_empty() -> None:
    assert Stage("plan", 0).units == 0


def test_a_sum_is_measured_where_all_its_parts_are() -> None:
    assert total([Estimate(1.0, True), Estimate(2.0, True)]) == Estimate(3.0, True)
    assert total([Estimate(1.0, True), Estimate(2.0, False)]) == Estimate(3.0, False)
    assert total([]) == Estimate(0.0, False)


def test_the_newest_measurement_weighs_three_tenths_and_no_rate_is_out_of_all_proportion() -> None:
    assert (SMOOTHING, MAX_RATE, LEAST_UNITS, PACE_FROM) == (0.3, 1000.0, 1.0, 0.1)


def test_sources() -> None:
    assert Estimate(1.0, True).source == "history"
    assert Estimate(1.0, False).source == "prior"
    assert Estimate(1.0, True, "budget").source == "budget"
    assert Estimate(1.0, False, "score").source == "prior"


@pytest.mark.parametrize(
    ("sizes", "least"),
    [
        (["score", "score"], "score"),
        (["history", "score"], "history"),
        (["score", "budget", "history"], "budget"),
    ],
)
def test_a_sum_rests_on_its_least_sure_part(sizes: list[str], least: str) -> None:
    assert total([Estimate(1.0, True, size) for size in sizes]).source == least


BUDGET = Stage("sing", 900.0, "budget", lines=4)


def test_a_budget_counts_until_a_song_has_told_its_size_for_each_line() -> None:
    book = RateBook(PRIORS)
    assert book.estimate("m", [BUDGET]) == Estimate(1800.0, False, "budget")
    book.learn_size("m", Stage("sing", 60.0, "history", lines=2))
    assert book.sized("m", BUDGET) == Stage("sing", 120.0, "history", lines=4)
    assert book.estimate("m", [BUDGET]) == Estimate(240.0, False)
    book.learn_size("m", Stage("sing", 120.0, "score", lines=2))
    assert book.sized("m", BUDGET).units == pytest.approx(4 * (30 + SMOOTHING * 30))


def test_what_a_budget_allows_is_the_bound_and_a_known_size_stays() -> None:
    book = RateBook()
    book.learn_size("m", Stage("sing", 500.0, "history", lines=1))
    assert book.sized("m", BUDGET).units == 900.0
    known = Stage("sing", 3.0, "score", lines=4)
    assert book.sized("m", known) is known


def test_several_songs_are_as_large_as_each_together() -> None:
    book = RateBook()
    book.learn_size("m", Stage("sing", 300.0, "history", lines=5, songs=3.0))
    assert book.sized("m", BUDGET).units == pytest.approx(80.0)
    assert book.sized("m", Stage("sing", 900.0, "budget", lines=4, songs=2.0)).units == pytest.approx(160.0)


def test_songs_without_words_models_and_phases_have_sizes_of_their_own() -> None:
    book = RateBook()
    book.learn_size("m", Stage("sing", 60.0, "history", lines=2))
    others = [("m", Stage("sing", 900.0, "budget")), ("n", BUDGET), ("m", Stage("plan", 9.0, "budget", 4))]
    assert [book.sized(model, stage) for model, stage in others] == [stage for _, stage in others]
    book.learn_size("m", Stage("sing", 70.0, "history"))
    assert book.sized("m", Stage("sing", 900.0, "budget")).units == 70.0


@pytest.mark.parametrize("stage", [Stage("sing", 0.5, "history"), Stage("sing", 5.0, "history", songs=0.0)])
def test_a_tiny_phase_and_one_of_no_song_teach_no_size(stage: Stage) -> None:
    book = RateBook()
    book.learn_size("m", stage)
    assert json.loads(book.to_json())["units_per_part"] == []


def test_sizes_survive_storage_within_the_limit() -> None:
    book = RateBook()
    for lines in (0, 3):
        book.learn_size("m", Stage("sing", 60.0, "history", lines))
    assert RateBook.from_json(book.to_json()).to_json() == book.to_json()
    kept = RateBook.from_json(book.to_json(), limit=1)
    assert [kept.sized("m", Stage("sing", 900.0, "budget", lines)).units for lines in (0, 3)] == [900.0, 60.0]
    assert RateBook.from_json('{"seconds_per_unit": []}').to_json() == RateBook().to_json()


def test_priors_count_until_measured_and_one_second_a_unit_without() -> None:
    book = RateBook(PRIORS)
    assert book.estimate("m", STAGES) == Estimate(45.0, False)
    assert book.estimate("other", STAGES) == Estimate(30.0, False)
    assert RateBook(default_rate=3.0).estimate("m", STAGES) == Estimate(90.0, False)


def test_the_first_measurement_replaces_the_prior_and_later_ones_are_averaged() -> None:
    book = RateBook(PRIORS)
    book.learn("m", "plan", 10.0, 1.0)
    assert book.estimate("m", STAGES[:1]) == Estimate(1.0, True)
    assert book.estimate("m", STAGES).measured is False
    book.learn("m", "plan", 10.0, 2.0)
    assert book.estimate("m", STAGES[:1]).seconds == pytest.approx(10 * (0.1 + SMOOTHING * 0.1))


def test_models_and_phases_learn_apart() -> None:
    book = RateBook(PRIORS)
    book.learn("m", "plan", 1.0, 7.0)
    assert book.estimate("n", STAGES[:1]) == Estimate(10.0, False)
    assert book.estimate("m", STAGES[1:]) == Estimate(40.0, False)


@pytest.mark.parametrize("units", [0.0, -1.0])
def test_a_phase_without_size_teaches_nothing(units: float) -> None:
    book = RateBook()
    book.learn("m", "plan", units, 5.0)
    assert book.estimate("m", STAGES).measured is False


def test_odd_times_are_bounded_and_a_tiny_job_teaches_nothing() -> None:
    book = RateBook()
    book.learn("m", "plan", 1.0, -5.0)
    assert book.estimate("m", STAGES[:1]) == Estimate(0.0, True)
    book.learn("m", "sing", 1e-9, 5.0)
    assert book.estimate("m", [Stage("sing", 1.0)]).measured is False
    book.learn("m", "sing", 1.0, 1e9)
    assert book.estimate("m", [Stage("sing", 1.0)]) == Estimate(MAX_RATE, True)


def test_the_least_lately_learnt_rates_go_first() -> None:
    book = RateBook(limit=2)
    for phase in ("a", "b", "a", "c"):
        book.learn("m", phase, 1.0, 4.0)
    measured = {phase: book.estimate("m", [Stage(phase, 1.0)]).measured for phase in "abc"}
    assert measured == {"a": True, "b": False, "c": True}


@pytest.mark.parametrize("restored", [False, True])
def test_512_rates_are_kept_unless_told_otherwise(restored: bool) -> None:
    book = RateBook.from_json(RateBook().to_json()) if restored else RateBook()
    for number in range(513):
        book.learn("m", str(number), 1.0, 4.0)
    assert [book.estimate("m", [Stage(phase, 1.0)]).measured for phase in ("0", "1", "512")] == [
        False,
        True,
        True,
    ]
    assert book.estimate("m", [Stage("0", 1.0)]).seconds == 1.0


def test_stages_and_estimates_cannot_be_changed() -> None:
    for thing, name in ((STAGES[0], "units"), (Estimate(1.0, True), "seconds")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, 2.0)


def test_the_highest_rate_survives_storage() -> None:
    book = RateBook()
    book.learn("m", "sing", 1.0, MAX_RATE)
    assert RateBook.from_json(book.to_json()).to_json() == book.to_json()


def test_a_reader_keeps_the_mapping_it_began_with() -> None:
    book = RateBook()
    before = book._learnt
    book.learn("m", "a", 1.0, 1.0)
    assert before == {}


def test_progress_is_weighted_by_time() -> None:
    book = RateBook(PRIORS)
    assert book.progress("m", STAGES, 0, 0.0) == 0.0
    assert book.progress("m", STAGES, 0, 0.5) == pytest.approx(2.5 / 45)
    assert book.progress("m", STAGES, 1, 0.0) == pytest.approx(5 / 45)
    assert book.progress("m", STAGES, 1, 0.5) == pytest.approx(25 / 45)
    assert book.progress("m", STAGES, 2, 0.0) == 1.0
    assert book.progress("m", STAGES, 2, 1.0) == 1.0


def test_progress_without_any_time_is_none() -> None:
    assert RateBook().progress("m", (), 0, 1.0) == 0.0
    assert RateBook().progress("m", [Stage("a", 0.0)], 0, 1.0) == 0.0
    assert RateBook(default_rate=0.5).progress("m", [Stage("a", 1.0)], 0, 1.0) == 1.0


def test_blend_trusts_the_expectation_first_and_the_pace_last() -> None:
    assert blend(100.0, 50.0, 0.0) == 100.0
    assert blend(100.0, 50.0, 0.05) == pytest.approx(95.0)
    assert blend(100.0, 20.0, 0.1) == pytest.approx(0.9 * 90.0 + 0.1 * 180.0)
    assert blend(100.0, 100.0, 0.5) == pytest.approx(0.5 * 50.0 + 0.5 * 100.0)
    assert blend(100.0, 500.0, 1.0) == 0.0


@settings(deadline=None)
@given(expected=st.floats(0, 1e6), elapsed=st.floats(0, 1e6), fraction=st.floats(0, 1))
def test_blend_is_never_negative(expected: float, elapsed: float, fraction: float) -> None:
    assert blend(expected, elapsed, fraction) >= 0.0


def test_remaining_counts_down_between_reports_and_adds_what_follows() -> None:
    book = RateBook(PRIORS)
    assert book.remaining("m", STAGES, 0.0, 0.0, 0.0) == Estimate(45.0, False)
    assert book.remaining("m", STAGES, 0.0, 0.0, 2.0) == Estimate(43.0, False)
    assert book.remaining("m", STAGES, 0.0, 0.0, 99.0) == Estimate(40.0, False)
    assert book.remaining("m", STAGES[1:], 10.0, 0.5, 1.0).seconds == pytest.approx(0.5 * 20 + 0.5 * 10 - 1)


def test_remaining_is_measured_where_each_stage_is() -> None:
    book = RateBook()
    book.learn("m", "plan", 1.0, 1.0)
    assert book.remaining("m", STAGES[:1], 0.0, 0.0, 0.0).measured is True
    assert book.remaining("m", STAGES, 0.0, 0.0, 0.0).measured is False


keys = st.tuples(st.text(max_size=4), st.text(max_size=4))


@settings(deadline=None)
@given(st.dictionaries(keys, st.floats(0, MAX_RATE), max_size=8))
def test_learnt_rates_survive_storage(rates: dict[tuple[str, str], float]) -> None:
    book = RateBook()
    for (model, phase), seconds in rates.items():
        book.learn(model, phase, 1.0, seconds)
    restored = RateBook.from_json(book.to_json())
    assert restored.to_json() == book.to_json()
    for (model, phase), seconds in rates.items():
        assert restored.estimate(model, [Stage(phase, 1.0)]) == Estimate(seconds, True)


def test_a_restored_book_has_its_own_priors_and_limit() -> None:
    rates = [["m", phase, 4] for phase in "abc"]
    raw = json.dumps({"seconds_per_unit": rates}).encode()
    book = RateBook.from_json(raw, {("n", "a"): 5.0}, default_rate=9.0, limit=2)
    seconds = [book.estimate("m", [Stage(phase, 1.0)]).seconds for phase in "abc"]
    assert seconds == [9.0, 4.0, 4.0]
    assert book.estimate("n", [Stage("a", 1.0)]).seconds == 5.0
    book.learn("m", "d", 1.0, 1.0)
    assert book.estimate("m", [Stage("b", 1.0)]).measured is False


DAMAGED = [
    "",
    "{",
    "[]",
    "3",
    "{}",
    '{"seconds_per_unit": {}}',
    '{"seconds_per_unit": [], "units_per_part": {}}',
    '{"seconds_per_unit": [], "units_per_part": [["m", "a", -1]]}',
    '{"seconds_per_unit": [], "units_per_part": [["m", "a", 1e10]]}',
    '{"seconds_per_unit": [3]}',
    '{"seconds_per_unit": [["m", "a"]]}',
    '{"seconds_per_unit": [["m", "a", 1, 2]]}',
    '{"seconds_per_unit": [["m", 1, 1]]}',
    '{"seconds_per_unit": [[1, "a", 1]]}',
    '{"seconds_per_unit": [["m", "a", "1"]]}',
    '{"seconds_per_unit": [["m", "a", -0.1]]}',
    '{"seconds_per_unit": [["m", "a", NaN]]}',
    '{"seconds_per_unit": [["m", "a", Infinity]]}',
    '{"seconds_per_unit": [["m", "a", 1e10]]}',
    '{"seconds_per_unit": [["m", "a", 1' + "0" * 400 + "]]}",
    "[" * 100_000,
    b"\xff\xfe\xfd",
]


@pytest.mark.parametrize("raw", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_rates_are_refused(raw: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        RateBook.from_json(raw)
