import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.yue2.decoding import sampling
from engine.yue2.decoding.draws import WordDraws, all_exponentials
from engine.yue2.decoding.sampling import NOT_FINITE, Rule
from engine.yue2.decoding.static_sampling import LONGEST_WINDOW, Past, Settings, guided, picked, scored
from engine.yue2.vocabulary import SEMANTIC_ROWS
from tests.engine.yue2.decoding.test_sampling import SMALL_ROWS, histories, rules
from tests.engine.yue2.plain_sampling import sampling_of

CPU = torch.device("cpu")


def drawn(
    logits: torch.Tensor, rule: Rule, past: list[list[int]], generators: list[torch.Generator] | None
) -> list[int]:
    """Places of what the static path draws from logits (S, count); greedily without generators."""
    chosen, kept = Settings(CPU), Past(len(past), rule.rows, CPU)
    chosen.set(rule, 1.0)
    kept.begin(past)
    scores = scored(logits, rule.legacy, chosen, kept)
    exponentials = None if generators is None else all_exponentials(generators, rule.rows, scores.dtype)
    places: list[int] = picked(logits, scores, exponentials, chosen).tolist()
    return places


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    rules, st.tuples(histories, histories), st.booleans(), st.integers(0, 999), st.sampled_from([3, 10_000])
)
def test_static_shapes_draw_what_one_row_at_a_time_draws(
    rule: Rule, past: tuple[list[int], list[int]], wide: bool, seed: int, levels: int
) -> None:
    noise = torch.Generator().manual_seed(seed)
    steps = torch.randint(-levels, levels + 1, (2, SMALL_ROWS.count), generator=noise)
    logits = (steps * (4 / levels)).to(torch.float32 if wide else torch.bfloat16)
    chosen, kept = Settings(CPU), Past(2, SMALL_ROWS, CPU)
    chosen.set(rule, 1.0)
    kept.begin(past)
    scores = scored(logits, rule.legacy, chosen, kept)
    exponentials = torch.empty(scores.shape, dtype=scores.dtype).exponential_(generator=noise)
    places = picked(logits, scores, exponentials, chosen)
    for song, history in enumerate(past):
        row = sampling.scored(logits[song], rule, history)
        assert torch.equal(scores[song], row)
        left = sampling.survivors(row, rule)
        chances = left.probabilities() / exponentials[song, left.places]
        assert places[song] == left.places[chances.argmax()]


def test_songs_draw_from_their_own_streams() -> None:
    rule = Rule(SEMANTIC_ROWS, sampling_of(top_p=0.9))
    logits = torch.randn(2, SEMANTIC_ROWS.count, generator=torch.Generator().manual_seed(3)) * 4
    generators = [torch.Generator().manual_seed(seed) for seed in (4, 5)]
    alone = [sampling.pick(row, rule, [], WordDraws(4 + song)) for song, row in enumerate(logits)]
    places = drawn(logits, rule, [[], []], generators)
    assert [place + SEMANTIC_ROWS.first for place in places] == alone


def test_temperature_zero_takes_the_likeliest() -> None:
    rule = Rule(SMALL_ROWS, sampling_of(temperature=0, penalty=1.5, least=2))
    logits = torch.randn(3, SMALL_ROWS.count, generator=torch.Generator().manual_seed(0))
    past = [[], [9, 9, 40], [50]]
    alone = [
        sampling.pick(row, rule, history, WordDraws(0)) for row, history in zip(logits, past, strict=True)
    ]
    assert [place + SMALL_ROWS.first for place in drawn(logits, rule, past, None)] == alone


def test_logits_that_are_not_finite_draw_no_token() -> None:
    logits = torch.zeros(3, SMALL_ROWS.count)
    logits[0, 5], logits[2, 5] = torch.nan, torch.inf
    rule = Rule(SMALL_ROWS, sampling_of(temperature=0))
    places = drawn(logits, rule, [[], [], []], None)
    assert [place == NOT_FINITE for place in places] == [True, False, True]


def test_what_was_drawn_moves_into_the_window() -> None:
    past = Past(2, SMALL_ROWS, CPU)
    past.begin([[8, 9], list(range(8, 8 + 42)) * 3])
    past.add(torch.tensor([7, 11]))
    assert past.drawn.tolist() == [3, 127]
    assert past.recent[0].tolist() == [SMALL_ROWS.count] * (LONGEST_WINDOW - 3) + [0, 1, 7]
    assert past.recent[1].tolist() == [*(list(range(42)) * 3)[-LONGEST_WINDOW + 1 :], 11]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scale", [1.01, 2.0, 0.0])
def test_guidance_is_as_with_a_scale_known_to_the_host(dtype: torch.dtype, scale: float) -> None:
    logits = (torch.randn(4, 999, generator=torch.Generator().manual_seed(0)) * 8).to(dtype)
    chosen = Settings(CPU)
    chosen.set(Rule(SMALL_ROWS, sampling_of()), scale)
    assert torch.equal(guided(logits, chosen.guidance), sampling.guided(logits[:2], logits[2:], scale))
