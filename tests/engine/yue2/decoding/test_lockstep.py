from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from engine.control import unchecked
from engine.errors import NumericalError
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.sampling import Rule
from engine.yue2.decoding.takes import Decoded
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.backbone import Decoder
from engine.yue2.vocabulary import CODEC_FIRST, MUSIC_END, VOCABULARY
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.halves import ALL_ROWS, StopAt, checks_of, open_halves
from tests.engine.yue2.plain_sampling import plain_pick
from tests.engine.yue2.runs import CAPACITY, RUNS, SLOTS, reference_run, tokens_of

Way = Callable[[Decoder], Graphs | None]
"""How a decoder's songs are drawn: with exact lengths where it gives None, else with static shapes, a step ahead."""


@pytest.fixture(scope="module")
def decoder(checkpoint: Checkpoint, model_config: ModelConfig) -> Decoder:
    return open_halves(checkpoint, model_config, slots=SLOTS, capacity=CAPACITY).decoder


@pytest.fixture(scope="module")
def ending(decoder: Decoder, golden: Golden) -> Decoder:
    """The decoder with a head that ends songs after a while."""
    head = decoder.weights.head.clone()
    head[MUSIC_END] = torch.from_numpy(golden.arrays("generate")["end_token_row"])
    return Decoder(replace(decoder.weights, head=head), decoder.config, decoder.cache, decoder.rotary)


@pytest.fixture(params=["exact", "static"])
def way(request: pytest.FixtureRequest) -> Way:
    return Graphs if request.param == "static" else lambda _: None


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_the_reference_s(decoder: Decoder, golden: Golden, name: str) -> None:
    run = reference_run(golden, name)
    (song,) = run.decode(decoder)
    assert list(song.tokens) == golden.arrays("generate")[f"{name}__tokens"].tolist()
    assert song.truncated == golden.arrays("generate")[f"{name}__truncated"]


@pytest.mark.parametrize("name", RUNS)
def test_static_shapes_a_step_ahead_draw_the_same(decoder: Decoder, golden: Golden, name: str) -> None:
    most = 4 if name.startswith("abc") else 8
    run = reference_run(golden, name).shorter(most)
    (song,) = run.decode(decoder, graphs=Graphs(decoder))
    assert list(song.tokens) == golden.arrays("generate")[f"{name}__tokens"].tolist()[:most]
    assert song == run.decode(decoder)[0]


def test_a_song_ends_at_its_end_token(ending: Decoder, golden: Golden, way: Way) -> None:
    run, heard = reference_run(golden, "semantic_sampled_seed831001").shorter(64), list[int]()
    (song,) = run.decode(ending, heard=heard, graphs=way(ending))
    expected = tuple(golden.arrays("generate")["end_token_min8_max64__tokens"].tolist())
    truncated = bool(golden.arrays("generate")["end_token_min8_max64__truncated"])
    assert song == Decoded(expected, truncated)
    assert heard == [*range(1, 13), 12]


def test_songs_of_a_batch_are_what_they_are_alone(ending: Decoder, golden: Golden, way: Way) -> None:
    run = reference_run(golden, "semantic_cfg2_sampled").shorter(10)
    song = run.songs[0]
    songs = (song, replace(song, seed=5), replace(song, prefix=song.prefix[:100], seed=9))
    alone = [run.of(each).decode(ending)[0] for each in songs]
    assert run.of(*songs).decode(ending, graphs=way(ending)) == alone
    assert len({len(each.tokens) for each in alone}) > 1


def test_what_the_cache_held_before_does_not_matter(decoder: Decoder, golden: Golden, way: Way) -> None:
    run = reference_run(golden, "semantic_cfg2_sampled").shorter(5)
    pair = run.of(run.songs[0], replace(run.songs[0], seed=6))  # of one prefix, which is read once and copied
    graphs = way(decoder)
    expected = pair.decode(decoder, graphs=graphs)
    for kept in (decoder.cache.keys, decoder.cache.values):
        kept.fill_(torch.nan)
    assert pair.decode(decoder, graphs=graphs) == expected


def test_the_cache_holds_what_was_fed(ending: Decoder, golden: Golden, way: Way) -> None:
    run = reference_run(golden, "semantic_sampled_seed831001").shorter(64)
    (song,) = run.decode(ending, graphs=way(ending))
    whole = run.songs[0].prefix + song.tokens
    kept = ending.cache.keys[:, 0, :, : len(whole)].clone()  # (layers, kv_heads, positions, head_dim)
    ending.prefill(whole, 0, 0, unchecked)
    assert float((kept - ending.cache.keys[:, 0, :, : len(whole)]).abs().max()) < 2e-5


@pytest.mark.parametrize("name", ["semantic_greedy", "semantic_cfg2_greedy"])
def test_kept_tokens_go_on_as_if_they_had_been_drawn(
    decoder: Decoder, golden: Golden, way: Way, name: str
) -> None:
    run = reference_run(golden, name)
    whole = tuple(golden.arrays("generate")[f"{name}__tokens"].tolist())
    song = replace(run.songs[0], kept=whole[:10])
    (rest,) = run.of(song).decode(decoder, graphs=way(decoder))
    assert rest == Decoded(whole, truncated=True)


def test_kept_tokens_cost_no_random_numbers(decoder: Decoder, golden: Golden, way: Way) -> None:
    run = reference_run(golden, "semantic_sampled_seed42").shorter(9)
    kept = tuple(CODEC_FIRST + code for code in (5, 5, 9, 700, 5, 3, 3, 3))
    song = replace(run.songs[0], kept=kept)
    (drawn,) = run.of(song).decode(decoder, graphs=way(decoder))
    logits = decoder.logits(decoder.prefill(song.prefix + kept, 0, 0, unchecked), ALL_ROWS)[0]
    assert len(logits) == VOCABULARY
    rule = Rule(run.rows, run.sampling)
    expected = plain_pick(logits, rule, kept, torch.Generator().manual_seed(song.seed))
    assert drawn.tokens == (*kept, expected)


def test_nothing_is_drawn_where_the_kept_tokens_fill_the_budget(
    decoder: Decoder, golden: Golden, way: Way
) -> None:
    run, heard = reference_run(golden, "semantic_greedy").shorter(8), list[int]()
    full = replace(run.songs[0], kept=(CODEC_FIRST,) * 8)
    (expected,) = run.decode(decoder)
    songs = run.of(full, run.songs[0]).decode(decoder, graphs=way(decoder))
    assert songs == [Decoded(full.kept, truncated=True), expected]
    run.of(full).decode(decoder, heard=heard, graphs=way(decoder))
    assert heard == []


def test_a_stop_at_any_step_leaves_all_fit_for_the_next_songs(
    decoder: Decoder, golden: Golden, way: Way
) -> None:
    run, graphs = reference_run(golden, "semantic_sampled_seed42").shorter(5), way(decoder)
    undisturbed = run.decode(decoder, graphs=graphs)
    checks = checks_of(lambda check: run.decode(decoder, check, graphs=graphs))
    for stop in (1, checks - 6, checks - 2, checks):
        with pytest.raises(InterruptedError):
            run.decode(decoder, StopAt(stop), graphs=graphs)
        assert run.decode(decoder, graphs=graphs) == undisturbed


def test_it_is_checked_at_every_step(decoder: Decoder, golden: Golden, way: Way) -> None:
    run, graphs = reference_run(golden, "semantic_greedy"), way(decoder)

    def checks(most: int) -> int:
        return checks_of(lambda check: run.shorter(most).decode(decoder, check, graphs=graphs))

    within = len(decoder.weights.layers) if graphs is None else 0
    assert checks(16) - checks(8) == 8 * (1 + within)


def test_numbers_that_are_not_finite_are_told(decoder: Decoder, golden: Golden, way: Way) -> None:
    head = decoder.weights.head.clone()
    head[CODEC_FIRST + 3] = torch.nan
    broken = Decoder(replace(decoder.weights, head=head), decoder.config, decoder.cache, decoder.rotary)
    with pytest.raises(NumericalError, match="damaged"):
        reference_run(golden, "semantic_greedy").decode(broken, graphs=way(broken))


def test_numbers_that_do_not_fit_are_told(
    checkpoint: Checkpoint, model_config: ModelConfig, golden: Golden
) -> None:
    narrow = open_halves(checkpoint, model_config, "fp16", slots=1, capacity=CAPACITY).decoder
    narrow.weights.layers[1].down.fill_(60_000)
    with pytest.raises(NumericalError, match="set YUE2_PRECISION to bf16 or fp32"):
        reference_run(golden, "semantic_greedy").decode(narrow)


def test_the_cache_grows_with_the_songs(
    checkpoint: Checkpoint, model_config: ModelConfig, golden: Golden, way: Way
) -> None:
    small = open_halves(checkpoint, model_config, slots=1, capacity=CAPACITY).decoder
    graphs, run = way(small), reference_run(golden, "semantic_cfg2_greedy").shorter(8)
    expected = golden.arrays("generate")["semantic_cfg2_greedy__tokens"].tolist()[:8]
    assert tokens_of(run.decode(small, graphs=graphs)) == [tuple(expected)]
    assert small.cache.slots == 2
