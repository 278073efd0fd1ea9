from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling_request import AbcSampling, Sampling, SemanticSampling
from engine.yue2.decoding.draws import WordDraws
from engine.yue2.decoding.sampling import NOT_FINITE, Rule, guided, pick, scored, survivors
from engine.yue2.vocabulary import SCORE_ROWS, SEMANTIC_ROWS, VOCABULARY, TokenRows
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.plain_sampling import plain_pick, plain_scores, plain_survivors, sampling_of

SMALL_VOCABULARY = 64
SMALL_ROWS = TokenRows(8, 50, 20, range(30, 34))


def synthetic(salt: int) -> torch.Tensor:
    """Logits (VOCABULARY,) of the reference's cases."""
    ids = np.arange(VOCABULARY, dtype=np.uint64)
    words = ((ids * 2_654_435_761 + salt * 40_503) % 2**32) >> np.uint64(8)
    return torch.from_numpy((words / 2**20 - 8).astype(np.float32))


def row_of(logits: torch.Tensor, rows: TokenRows) -> torch.Tensor:
    return logits[rows.first : rows.first + rows.count]


def reference_cases(golden: Golden, greedy: bool) -> list[tuple[dict[str, Any], Rule]]:
    rows = {"abc": SCORE_ROWS, "semantic": SEMANTIC_ROWS}
    found = [
        (case, Rule(rows[case["phase"]], Sampling(**case["sampling"]), case["legacy_off"]))
        for case in golden.cases("sampling_cases")["cases"]
    ]
    return [(case, rule) for case, rule in found if rule.greedy == greedy]


def test_what_survives_is_the_reference_s(golden: Golden) -> None:
    for case, rule in reference_cases(golden, greedy=False):
        arrays, name = golden.arrays("sampling"), case["name"]
        scores = scored(row_of(synthetic(case["salt"]), rule.rows), rule, case["history"])
        assert rule.rows.first + int(scores.argmax()) == case["greedy"]
        left = survivors(scores, rule)
        order = left.scores.argsort(descending=True, stable=True)
        assert len(order) == case["survivors"]
        assert (left.places[order] + rule.rows.first).tolist() == arrays[f"{name}__ids"].tolist()
        assert left.scores[order].tolist() == arrays[f"{name}__scores"].tolist()
        chances = left.probabilities()[order].numpy()
        assert float(np.abs(chances - arrays[f"{name}__probs"]).max()) <= 1e-7


def test_draws_are_the_reference_s(golden: Golden) -> None:
    for case, rule in reference_cases(golden, greedy=False):
        row, draws = row_of(synthetic(case["salt"]), rule.rows), WordDraws(831_001)
        drawn = [pick(row, rule, case["history"], draws) for _ in range(8)]
        assert drawn == golden.arrays("sampling")[f"{case['name']}__draws_seed831001"].tolist()


def test_temperature_zero_takes_the_likeliest(golden: Golden) -> None:
    ((case, rule),) = reference_cases(golden, greedy=True)
    row = row_of(synthetic(case["salt"]), rule.rows)
    arrays, scores = golden.arrays("sampling"), scored(row, rule, case["history"])
    assert pick(row, rule, case["history"], WordDraws(0)) == case["greedy"]
    best = scores.sort(descending=True, stable=True)
    assert best.values[:200].tolist() == arrays[f"{case['name']}__scores"].tolist()
    assert (best.indices[:200] + rule.rows.first).tolist() == arrays[f"{case['name']}__ids"].tolist()


def test_all_that_tie_with_the_last_of_the_top_k_stay(golden: Golden) -> None:
    row = torch.full((SEMANTIC_ROWS.count,), -5.0)
    row[1] = 2.0
    row[100:250] = 1.0
    left = survivors(row, Rule(SEMANTIC_ROWS, sampling_of(top_k=100)))
    assert len(left.places) == golden.arrays("sampling")["ties_topk__n_survivors"] == 151
    assert left.places.tolist() == [1, *range(100, 250)]


def test_an_id_that_follows_exactly_the_limit_is_in_the_nucleus() -> None:
    row = torch.full((SMALL_ROWS.count,), -torch.inf)
    row[[3, 9, 21, 40]] = 1.5
    left = survivors(row, Rule(SMALL_ROWS, sampling_of(top_p=0.5)))
    assert left.places.tolist() == [3, 9, 21]


rules = st.builds(
    lambda sampling, legacy: Rule(SMALL_ROWS, sampling, legacy),
    st.builds(
        sampling_of,
        temperature=st.sampled_from([0.3, 1.0, 2.5]),
        top_p=st.sampled_from([0.01, 0.5, 0.9, 1.0]),
        top_k=st.sampled_from([1, 3, 17, 49, 50, 1000]),
        penalty=st.sampled_from([0.8, 1.0, 1.2]),
        window=st.sampled_from([1, 5, 100]),
        least=st.sampled_from([0, 4]),
    ),
    st.booleans(),
)
histories = st.lists(st.integers(8, 29).filter(lambda token: token != 20), max_size=12)
dtypes = st.sampled_from([torch.float32, torch.bfloat16])


@settings(max_examples=70, deadline=None, derandomize=True, database=None)
@given(rules, histories, dtypes, st.integers(0, 999), st.sampled_from([2, 9, 10_000]))
def test_rows_leave_what_the_whole_vocabulary_leaves(
    rule: Rule, history: list[int], dtype: torch.dtype, seed: int, levels: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(-levels, levels + 1, (SMALL_VOCABULARY,), generator=generator)
    logits = (steps * (4 / levels)).to(dtype)  # few levels tie often
    left = survivors(scored(row_of(logits, SMALL_ROWS), rule, history), rule)
    expected = plain_survivors(plain_scores(logits, rule, history), rule)
    assert (left.places + SMALL_ROWS.first).tolist() == expected.isfinite().nonzero().squeeze(1).tolist()
    assert torch.equal(left.scores, expected[expected.isfinite()])


@pytest.mark.parametrize(
    "rule",
    [
        Rule(SCORE_ROWS, AbcSampling()),
        Rule(SEMANTIC_ROWS, SemanticSampling(min_tokens=0)),
        Rule(SEMANTIC_ROWS, sampling_of(top_k=40_000, top_p=0.7, penalty=2.0)),
        Rule(SEMANTIC_ROWS, SemanticSampling(), legacy=True),
        Rule(SEMANTIC_ROWS, sampling_of(temperature=0, penalty=3.0)),
    ],
)
def test_rows_draw_what_multinomial_draws_from_the_whole_vocabulary(rule: Rule) -> None:
    draws, generator = WordDraws(9), torch.Generator().manual_seed(9)
    dtype = torch.bfloat16 if rule.legacy else torch.float32
    noise, history = torch.Generator().manual_seed(1), list[int]()
    for _ in range(3):
        logits = (torch.randn(VOCABULARY, generator=noise) * 4).to(dtype)
        expected = plain_pick(logits, rule, history, generator)
        assert pick(row_of(logits, rule.rows), rule, history, draws) == expected
        history += [expected, expected - 1, expected]


def test_what_a_row_gives_leaves_the_logits_alone() -> None:
    row = row_of(synthetic(3), SEMANTIC_ROWS)
    before = row.clone()
    pick(row, Rule(SEMANTIC_ROWS, SemanticSampling()), [160_000], WordDraws(0))
    assert torch.equal(row, before)


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_logits_that_are_not_finite_draw_no_token(number: float) -> None:
    row = torch.zeros(SEMANTIC_ROWS.count)
    row[7] = number
    rule = Rule(SEMANTIC_ROWS, SemanticSampling())
    assert pick(row, rule, [], WordDraws(0)) == NOT_FINITE
    assert pick(torch.full_like(row, -torch.inf), rule, [], WordDraws(0)) == NOT_FINITE


@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 5.0])
@pytest.mark.parametrize("penalty", [1e-300, 1e300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_extreme_settings_still_draw_a_token(temperature: float, penalty: float, dtype: torch.dtype) -> None:
    rule = Rule(SMALL_ROWS, sampling_of(temperature=temperature, penalty=penalty, top_p=0.5), legacy=True)
    row = torch.linspace(-8, 8, SMALL_ROWS.count).to(dtype)
    row[3] = 0.0
    drawn = pick(row, rule, [9, 11, 11, 50], WordDraws(1))
    assert 8 <= drawn < 58
    assert drawn not in SMALL_ROWS.barred


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_guidance_leads_away_from_the_negative_branch(dtype: torch.dtype) -> None:
    likely, unlikely = torch.randn(2, 32, generator=torch.Generator().manual_seed(0)).to(dtype)
    expected = unlikely + (2.5 * (likely - unlikely).float()).to(dtype)
    assert torch.equal(guided(likely, unlikely, 2.5), expected)
    assert torch.equal(guided(likely, unlikely, 0.0), unlikely)
