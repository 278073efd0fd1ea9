"""The naive loops compute what the reference computed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from bench.engine.checkpoints import TINY
from bench.engine.naive import (
    AR_NAMES,
    NAR_NAMES,
    Half,
    NaiveAcoustic,
    NaiveDecoder,
    Weights,
    endless,
    random_cache,
)
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig, read_model_config
from engine.yue2.files.tensors import model_tensors
from engine.yue2.vocabulary import SEMANTIC_ROWS

CPU = torch.device("cpu")
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return read_model_config(TINY / "YuE2-3B-tiny")


@pytest.fixture(scope="module")
def weights(config: ModelConfig) -> Iterator[Weights]:
    with Checkpoint(TINY / "YuE2-3B-tiny", model_tensors(config)) as checkpoint:
        yield lambda name: checkpoint.tensor(name).float()


def arrays(name: str, *members: str) -> list[NDArray[Any]]:
    with np.load(TINY / f"{name}.npz") as archive:
        return [archive[member] for member in members]


def half(config: ModelConfig, weights: Weights) -> Half:
    return Half(config, weights, AR_NAMES, random_cache(config, 0, torch.float32, CPU), keeps=True)


def test_reading_and_going_on_match_the_reference(config: ModelConfig, weights: Weights) -> None:
    prefix, normed, forced, logits = arrays(
        "ar", "prefix", "final_norm", "forced_tokens", "last_decode_logits_full"
    )
    embedding, head = weights("model.embed_tokens.weight"), weights("lm_head.weight")
    decoder = half(config, weights)
    states = decoder.forward(embedding[torch.from_numpy(prefix).long()], causal=True)
    np.testing.assert_allclose(states.numpy(), normed, atol=TOLERANCE)
    for token in forced:
        states = decoder.forward(embedding[int(token)][None])
    np.testing.assert_allclose((states[-1] @ head.T).numpy(), logits, atol=TOLERANCE)


def test_draws_come_from_the_allowed_tokens_and_end_never(config: ModelConfig, weights: Weights) -> None:
    loop = NaiveDecoder(half(config, weights), SEMANTIC_ROWS, endless(3), torch.Generator().manual_seed(1))
    drawn = [loop.step(SEMANTIC_ROWS.first + 7) for _ in range(3)]
    assert loop.drawn == drawn
    assert all(SEMANTIC_ROWS.first < token < SEMANTIC_ROWS.first + SEMANTIC_ROWS.count for token in drawn)
    assert loop.half.cache[0][0].shape[1] == 3


def test_velocities_match_the_reference(config: ModelConfig, weights: Weights) -> None:
    tokens, noise, velocity = arrays("nar", "ar_tokens", "noise", "raw0__velocity")
    decoder = half(config, weights)
    decoder.forward(weights("model.embed_tokens.weight")[torch.from_numpy(tokens).long()], causal=True)
    acoustic = NaiveAcoustic(Half(config, weights, NAR_NAMES, decoder.cache, keeps=False))
    computed = acoustic.velocity(torch.from_numpy(noise), time=0.5)
    np.testing.assert_allclose(computed.numpy(), velocity, atol=TOLERANCE)
