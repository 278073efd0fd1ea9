import math
from dataclasses import replace

import pytest
import torch

from engine.control import Check, unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.acoustic import Acoustic, Scratch
from engine.yue2.network.flow import noise
from engine.yue2.network.precision import Precision
from tests.engine.yue2.halves import EXACT, Halves, StopAt, checks_of, error, halves_of, open_halves
from tests.engine.yue2.naive import NaiveModel
from tests.engine.yue2.network.conftest import Arrays

AR_LENGTH = 155
SLOT = 1
RAW_TIMES = [20, 0, -1.25]


@pytest.fixture(scope="module")
def halves(checkpoint: Checkpoint, model_config: ModelConfig, tokens: list[int]) -> Halves:
    opened = open_halves(checkpoint, model_config)
    opened.decoder.prefill(tokens, SLOT, 0, unchecked)
    return opened


@pytest.fixture(scope="module")
def state(arrays: Arrays) -> torch.Tensor:
    return torch.from_numpy(arrays["noise"]).unsqueeze(0)  # (1, 24, 64)


def test_what_it_is_conditioned_on_is_the_reference(halves: Halves, arrays: Arrays) -> None:
    for layer in (0, 2):
        keys, values = halves.cache.read(layer, SLOT, AR_LENGTH)
        assert error(keys.transpose(0, 1), arrays[f"layer{layer}_cache_k"]) < EXACT
        assert error(values.transpose(0, 1), arrays[f"layer{layer}_cache_v"]) < EXACT
    assert error(halves.acoustic.weights.positions[:28].float(), arrays["pe_first_28_rows"]) == 0


@pytest.mark.parametrize("raw", RAW_TIMES)
def test_every_stage_of_an_evaluation_is_the_reference(
    halves: Halves, arrays: Arrays, state: torch.Tensor, raw: float
) -> None:
    acoustic = halves.acoustic
    assert float(acoustic.time_value(raw)) == float(arrays[f"raw{raw}__t"])
    vector = acoustic.time_vector(raw)
    assert error(vector, arrays[f"raw{raw}__time_emb"]) < EXACT
    rows = acoustic.embed(state, vector)
    assert error(rows, arrays[f"raw{raw}__x_in"]) < EXACT
    scratch = Scratch.of(acoustic, 1, 26, SLOT, AR_LENGTH)
    for index, layer in enumerate(acoustic.weights.layers):
        acoustic.pass_layer(index, layer, rows, scratch, unchecked)
        assert error(rows, arrays[f"raw{raw}__x_layer{index}"]) < EXACT
    velocity = acoustic.velocity(state, raw, SLOT, AR_LENGTH, unchecked)
    assert error(velocity[0], arrays[f"raw{raw}__velocity"]) < EXACT


@pytest.mark.parametrize("raw", RAW_TIMES)
def test_it_is_one_pass_over_tokens_and_frames_with_one_mask(
    halves: Halves,
    checkpoint: Checkpoint,
    model_config: ModelConfig,
    tokens: list[int],
    state: torch.Tensor,
    raw: float,
) -> None:
    expected = NaiveModel(checkpoint, model_config).velocity(tokens, state[0], raw)
    assert error(halves.acoustic.velocity(state, raw, SLOT, AR_LENGTH, unchecked)[0], expected) < EXACT


def test_frames_behind_the_table_of_positions_have_its_last(halves: Halves, state: torch.Tensor) -> None:
    whole = halves.acoustic
    weights = replace(whole.weights, positions=whole.weights.positions[:10])
    config = replace(whole.config, max_latent_frames=10)
    vector = torch.zeros(whole.config.hidden_size)
    rows = Acoustic(weights, config, whole.cache, whole.rotary).embed(state, vector)
    table, expected = whole.weights.positions, whole.embed(state, vector)
    assert torch.equal(rows[:10], expected[:10])
    assert error(rows[10:] - table[9], expected[10:] - table[10:26]) < EXACT


@pytest.mark.parametrize("raw", RAW_TIMES)
def test_time_may_be_shifted(halves: Halves, raw: float) -> None:
    whole = halves.acoustic
    shifted = Acoustic(whole.weights, replace(whole.config, timestep_shift=3.0), whole.cache, whole.rotary)
    time = 1 / (1 + math.exp(-raw))
    assert float(shifted.time_value(raw)) == pytest.approx(3 * time / (1 + 2 * time), abs=1e-6)


def test_an_evaluation_copies_nothing_from_the_host(
    halves: Halves, state: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = halves.acoustic.velocity(state, 0.5, SLOT, AR_LENGTH, unchecked)
    monkeypatch.setattr(torch, "tensor", None)  # on a card what it copies is waited for
    assert torch.equal(halves.acoustic.velocity(state, 0.5, SLOT, AR_LENGTH, unchecked), expected)


def test_variations_are_as_each_alone(halves: Halves, state: torch.Tensor) -> None:
    several = torch.stack((state[0], noise(3, 24, 64), noise(4, 24, 64)))
    together = halves.acoustic.velocity(several, 0.5, SLOT, AR_LENGTH, unchecked)
    for index in range(3):
        alone = halves.acoustic.velocity(several[index : index + 1], 0.5, SLOT, AR_LENGTH, unchecked)
        assert error(together[index], alone[0]) < EXACT


def test_it_writes_only_behind_what_was_read(halves: Halves, state: torch.Tensor) -> None:
    keys, values = halves.cache.keys.clone(), halves.cache.values.clone()
    halves.acoustic.velocity(state, 0.5, SLOT, AR_LENGTH, unchecked)
    for before, after in ((keys, halves.cache.keys), (values, halves.cache.values)):
        assert torch.equal(after[:, SLOT, :, :AR_LENGTH], before[:, SLOT, :, :AR_LENGTH])
        assert torch.equal(after[:, SLOT, :, AR_LENGTH + 26 :], before[:, SLOT, :, AR_LENGTH + 26 :])
        assert torch.equal(after[:, 0], before[:, 0])


def test_a_stop_at_any_check_leaves_nothing_broken(
    halves: Halves, state: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.yue2.network.tiles.PRODUCT_ROWS", 20)

    def evaluate(check: Check) -> torch.Tensor:
        return halves.acoustic.velocity(state, 0.5, SLOT, AR_LENGTH, check)

    expected, checks = evaluate(unchecked), checks_of(evaluate)
    assert checks == 3 * 6
    for count in range(1, checks + 1):
        with pytest.raises(InterruptedError):
            evaluate(StopAt(count))
        assert torch.equal(evaluate(unchecked), expected)


def test_tiles_change_nothing_but_low_bits(
    halves: Halves, state: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = torch.stack((state[0], noise(3, 24, 64)))
    whole = halves.acoustic.velocity(several, 0.5, SLOT, AR_LENGTH, unchecked)
    monkeypatch.setattr("engine.yue2.network.tiles.PRODUCT_ROWS", 7)
    monkeypatch.setattr("engine.yue2.network.tiles.LEAST_ATTENTION_ROWS", 5)
    monkeypatch.setattr("engine.yue2.network.tiles.ATTENTION_OPERATIONS", 1)
    assert error(halves.acoustic.velocity(several, 0.5, SLOT, AR_LENGTH, unchecked), whole) < EXACT


@pytest.mark.parametrize(
    "precision",
    [
        Precision("cpu", torch.float16, torch.bfloat16, torch.bfloat16, torch.float32),
        Precision("cuda", *(torch.bfloat16,) * 4),
        Precision("fp16", *(torch.float16,) * 3, torch.float32),
    ],
    ids=["cpu", "cuda", "old-cuda"],
)
def test_half_precision_is_near(
    checkpoint: Checkpoint,
    model_config: ModelConfig,
    tokens: list[int],
    arrays: Arrays,
    state: torch.Tensor,
    precision: Precision,
) -> None:
    halves = halves_of(checkpoint, model_config, precision)
    halves.decoder.prefill(tokens, SLOT, 0, unchecked)
    velocity = halves.acoustic.velocity(state, 0, SLOT, AR_LENGTH, unchecked)
    assert velocity.dtype is precision.residual
    assert error(velocity[0].float(), arrays["raw0__velocity"]) < 0.1
