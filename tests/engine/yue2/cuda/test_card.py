"""The whole way on a card, in float32, beside the reference's outputs and beside drawing written down plainly."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.control import unchecked
from engine.request import read_song
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.sampling import Rule
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.machine.device import pin_numerics
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.places import BucketPlace
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.halves import ALL_ROWS, open_halves
from tests.engine.yue2.plain_sampling import plain_pick
from tests.engine.yue2.runs import CAPACITY, Run, reference_run, tokens_of
from tests.engine.yue2.songs import opened, replay, same, tracks

DEVICE = torch.device("cuda", 0)
SAMPLED = "semantic_sampled_seed831001"


@pytest.fixture
def decoder(checkpoint: Checkpoint, model_config: ModelConfig) -> Decoder:
    pin_numerics()
    return open_halves(checkpoint, model_config, slots=1, capacity=CAPACITY, device=DEVICE).decoder


def plainly_drawn(decoder: Decoder, run: Run) -> list[tuple[int, ...]]:
    """Each song alone, from the whole vocabulary, by torch.multinomial with a generator of its own; no guidance."""
    return [_plainly(decoder, run, seed=song.seed) for song in run.songs]


def _plainly(decoder: Decoder, run: Run, seed: int) -> tuple[int, ...]:
    generator, tokens = torch.Generator(DEVICE).manual_seed(seed), list[int]()
    prefix = run.songs[0].prefix
    decoder.cache.clear(1)
    state = decoder.prefill(prefix, 0, 0, unchecked)
    while len(tokens) < run.sampling.max_tokens:
        logits = decoder.logits(state, ALL_ROWS)[0]
        tokens.append(plain_pick(logits, Rule(run.rows, run.sampling), tokens, generator))
        position = torch.tensor([len(prefix) + len(tokens) - 1], device=DEVICE)
        state = decoder.step(torch.tensor(tokens[-1:], device=DEVICE), BucketPlace(position, CAPACITY))
    return tuple(tokens)


@pytest.mark.parametrize("name", [SAMPLED, "semantic_sampled_seed42", "abc_sampled_seed831001"])
def test_steps_graphs_and_multinomial_over_all_ids_draw_the_same(
    decoder: Decoder, golden: Golden, name: str
) -> None:
    run = reference_run(golden, name).shorter(20)
    pair = run.of(run.songs[0], replace(run.songs[0], seed=5))
    expected = plainly_drawn(decoder, pair)
    graphs = Graphs(decoder)
    assert tokens_of(pair.decode(decoder)) == expected
    assert tokens_of(pair.decode(decoder, graphs=graphs)) == expected  # captured on the way
    assert tokens_of(pair.decode(decoder, graphs=graphs)) == expected  # replayed alone
    assert tokens_of(run.decode(decoder, graphs=graphs)) == expected[:1]


@pytest.mark.parametrize(
    "name", ["abc_greedy", "semantic_greedy", "semantic_cfg2_greedy", "off_cfg1.01_legacy_greedy"]
)
def test_the_likeliest_tokens_are_the_reference_s(decoder: Decoder, golden: Golden, name: str) -> None:
    run, graphs = reference_run(golden, name), Graphs(decoder)
    expected = [tuple(golden.arrays("generate")[f"{name}__tokens"].tolist())]
    assert tokens_of(run.decode(decoder)) == expected
    for _ in range(2):
        assert tokens_of(run.decode(decoder, graphs=graphs)) == expected


def test_a_cache_that_grows_has_its_steps_captured_anew(decoder: Decoder, golden: Golden) -> None:
    one, guided = reference_run(golden, "semantic_greedy"), reference_run(golden, "semantic_cfg2_greedy")
    graphs = Graphs(decoder)
    for run, name, slots in (
        (one, "semantic_greedy", 1),
        (guided, "semantic_cfg2_greedy", 2),
        (one, "semantic_greedy", 2),
    ):
        for _ in range(2):
            expected = tuple(golden.arrays("generate")[f"{name}__tokens"].tolist())
            assert tokens_of(run.decode(decoder, graphs=graphs)) == [expected]
        assert decoder.cache.slots == slots


def test_what_the_cache_held_before_changes_no_bit(decoder: Decoder, golden: Golden) -> None:
    run, graphs = reference_run(golden, SAMPLED), Graphs(decoder)
    pair = run.of(run.songs[0], replace(run.songs[0], seed=5))
    songs = pair.decode(decoder, graphs=graphs)
    written = slice(0, len(run.songs[0].prefix) + run.sampling.max_tokens - 1)
    keys = decoder.cache.keys[:, :, :, written].clone()
    for kept in (decoder.cache.keys, decoder.cache.values):
        kept.fill_(torch.nan)
    assert pair.decode(decoder, graphs=graphs) == songs
    assert torch.equal(decoder.cache.keys[:, :, :, written], keys)


def test_a_song_is_the_reference_s_and_its_replay_the_same_to_the_last_bit(
    model_folder: Path, vae_folder: Path, tmp_path: Path, golden: Golden
) -> None:
    cases = golden.cases("prompt_cases")["cases"]
    case = next(one for one in cases if one["cot"] == "full" and one["abc"])
    prompt = {"style": case["style"], "lyrics": case["lyrics"], "abc": case["abc"], "output_format": "wav32"}
    model = opened(model_folder, vae_folder, tmp_path / "verified.json", device=str(DEVICE))
    codes = ",".join(map(str, golden.arrays("nar")["codec"]))
    given = read_song({**prompt, "semantic_tokens": codes, "seed": 831001, "lm_seed": 0, "output": "latents"})
    (track,) = tracks(model, given)
    assert track.latents is not None
    np.testing.assert_allclose(track.latents, golden.arrays("nar")["latent_steps32"], atol=1e-4)
    np.testing.assert_allclose(track.samples, golden.arrays("vae")["e2e_raw"][0].T, atol=1e-3)
    drawn = tracks(
        model,
        read_song(
            {
                **prompt,
                "lm_seed": 3,
                "seed": 5,
                "steps": 2,
                "semantic_sampling": {"max_tokens": 20, "min_tokens": 9},
            }
        ),
    )
    assert same(tracks(model, replay(drawn[0])), drawn)
    model.unload()
