from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.layers import Layer
from engine.yue2.network.places import BucketPlace, ExactPlace
from engine.yue2.network.precision import Precision
from engine.yue2.vocabulary import SCORE_ROWS, SEMANTIC_ROWS
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.halves import (
    ALL_ROWS,
    EXACT,
    Halves,
    StopAt,
    checks_of,
    error,
    halves_of,
    open_halves,
)
from tests.engine.yue2.naive import NaiveModel

Arrays = Mapping[str, NDArray[np.float32]]


@pytest.fixture(scope="module")
def halves(checkpoint: Checkpoint, model_config: ModelConfig) -> Halves:
    return open_halves(checkpoint, model_config)


@pytest.fixture(scope="module")
def halved(checkpoint: Checkpoint, model_config: ModelConfig) -> Halves:
    return open_halves(checkpoint, model_config, "fp16")


@pytest.fixture(scope="module")
def naive(checkpoint: Checkpoint, model_config: ModelConfig) -> NaiveModel:
    return NaiveModel(checkpoint, model_config)


@pytest.fixture(scope="module")
def arrays(golden: Golden) -> Arrays:
    return golden.arrays("ar")


@pytest.fixture(scope="module")
def prefix(arrays: Arrays) -> list[int]:
    return [int(token) for token in arrays["prefix"]]


def token(value: int) -> torch.Tensor:
    return torch.tensor([int(value)])


def test_every_layer_of_a_prefill_is_the_reference(halves: Halves, arrays: Arrays, prefix: list[int]) -> None:
    decoder = halves.decoder
    rows = decoder.embed(torch.tensor(prefix))
    assert error(rows, arrays["hidden_layers"][0]) == 0
    for index, layer in enumerate(decoder.weights.layers):
        decoder.read_layer(index, layer, rows, 0, 0, unchecked)
        assert error(rows, arrays["hidden_layers"][index + 1]) < EXACT
    assert error(decoder.normed(rows), arrays["final_norm"]) < EXACT


def test_keys_are_kept_after_norm_and_rotation_and_values_as_they_are(
    halves: Halves, arrays: Arrays, prefix: list[int]
) -> None:
    halves.decoder.prefill(prefix, 0, 0, unchecked)
    for layer in (0, 2):
        keys, values = halves.cache.read(layer, 0, len(prefix))
        assert error(keys.transpose(0, 1), arrays[f"layer{layer}_k_postrope"]) < EXACT
        assert error(values.transpose(0, 1), arrays[f"layer{layer}_v"]) < EXACT


def test_logits_of_prefill_and_of_steps_are_the_reference(
    halves: Halves, arrays: Arrays, prefix: list[int]
) -> None:
    decoder = halves.decoder
    logits = decoder.logits(decoder.prefill(prefix, 1, 0, unchecked), ALL_ROWS)
    assert error(logits[0], arrays["prefill_logits"]) < EXACT
    for index, forced in enumerate(arrays["forced_tokens"]):
        state = decoder.step(token(forced), ExactPlace((1,), (len(prefix) + index,)))
        logits = decoder.logits(state, ALL_ROWS)
        assert error(logits[0, arrays["probe_ids"]], arrays["decode_logits_probe"][index]) < EXACT
    assert error(logits[0], arrays["last_decode_logits_full"]) < EXACT


def test_float32_is_near_the_reference_in_float64(halves: Halves, arrays: Arrays, prefix: list[int]) -> None:
    logits = halves.decoder.logits(halves.decoder.prefill(prefix, 0, 0, unchecked), ALL_ROWS)
    assert error(logits[0, arrays["probe_ids"]], arrays["float64_prefill_logits_probe"]) < EXACT


def test_steps_differ_from_reading_all_at_once_as_little_as_the_reference_s(
    halves: Halves, arrays: Arrays, prefix: list[int]
) -> None:
    decoder, whole = halves.decoder, [*prefix, *(int(value) for value in arrays["forced_tokens"])]
    decoder.prefill(prefix, 0, 0, unchecked)
    for position in range(len(prefix), len(whole)):
        state = decoder.step(token(whole[position]), ExactPlace((0,), (position,)))
    again = decoder.prefill(whole, 1, 0, unchecked)
    found = error(decoder.logits(state, ALL_ROWS), decoder.logits(again, ALL_ROWS))
    assert found < 3 * float(arrays["decode_vs_recompute_maxabs"])


def test_steps_are_a_full_recomputation(
    halves: Halves, naive: NaiveModel, arrays: Arrays, prefix: list[int]
) -> None:
    forced = [int(value) for value in arrays["forced_tokens"]]
    states = naive.states(prefix + forced)
    state = halves.decoder.prefill(prefix, 0, 0, unchecked)
    assert error(state[0], states[len(prefix) - 1]) < EXACT
    for position, value in enumerate(forced, start=len(prefix)):
        state = halves.decoder.step(token(value), ExactPlace((0,), (position,)))
        assert error(state[0], states[position]) < EXACT


@pytest.mark.parametrize("cut", [1, 77, 129])
def test_a_prefill_may_be_continued(halves: Halves, prefix: list[int], cut: int) -> None:
    whole = halves.decoder.prefill(prefix, 0, 0, unchecked)
    halves.decoder.prefill(prefix[:cut], 1, 0, unchecked)
    parts = halves.decoder.prefill(prefix[cut:], 1, cut, unchecked)
    assert error(parts, whole) < EXACT
    for layer in range(3):
        for part, expected in zip(
            halves.cache.read(layer, 1, 130), halves.cache.read(layer, 0, 130), strict=True
        ):
            assert error(part, expected) < EXACT


def test_several_sequences_step_as_each_alone(halves: Halves, prefix: list[int]) -> None:
    decoder, lengths, values = halves.decoder, (130, 61, 7), (151_900, 160_000, 9)
    alone = []
    for slot, (length, value) in enumerate(zip(lengths, values, strict=True)):
        decoder.prefill(prefix[:length], slot, 0, unchecked)
        alone.append(decoder.step(token(value), ExactPlace((slot,), (length,))))
    tokens = torch.tensor(values)
    assert error(decoder.step(tokens, ExactPlace((0, 1, 2), lengths)), torch.cat(alone)) < EXACT
    chosen = decoder.step(tokens[[2, 0]], ExactPlace((2, 0), (lengths[2], lengths[0])))
    assert error(chosen, torch.cat((alone[2], alone[0]))) < EXACT
    bucket = decoder.step(tokens, BucketPlace(torch.tensor(lengths), 192))
    assert error(bucket, torch.cat(alone)) < EXACT


def test_a_bucket_follows_positions_that_are_written_in_place(
    halves: Halves, naive: NaiveModel, arrays: Arrays, prefix: list[int]
) -> None:
    forced = [int(value) for value in arrays["forced_tokens"]]
    states = naive.states(prefix + forced)
    halves.decoder.prefill(prefix, 0, 0, unchecked)
    place = BucketPlace(torch.tensor([len(prefix)]), 160)
    for position, value in enumerate(forced, start=len(prefix)):
        assert error(halves.decoder.step(token(value), place)[0], states[position]) < EXACT
        place.positions.add_(1)


def test_the_head_is_read_in_part_and_not_copied(halves: Halves, prefix: list[int]) -> None:
    state = halves.decoder.prefill(prefix[:9], 0, 0, unchecked)
    every = halves.decoder.logits(state, ALL_ROWS)
    for rows in (SCORE_ROWS, SEMANTIC_ROWS):
        part = halves.decoder.logits(state, rows)
        assert error(part, every[:, rows.first : rows.first + rows.count]) < 1e-6


def test_a_stop_at_any_check_leaves_nothing_broken(
    halves: Halves, prefix: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.yue2.network.tiles.PRODUCT_ROWS", 48)
    decoder = halves.decoder
    decoder.prefill(prefix[:20], 1, 0, unchecked)

    def read(check: Check) -> torch.Tensor:
        return decoder.prefill(prefix, 0, 0, check)

    def step_beside() -> torch.Tensor:
        return decoder.step(token(5), ExactPlace((1,), (20,)))

    expected, beside, checks = read(unchecked), step_beside(), checks_of(read)
    assert checks > 3 * 7
    for count in range(1, checks + 1, 5):
        with pytest.raises(InterruptedError):
            read(StopAt(count))
        assert torch.equal(step_beside(), beside)
        assert torch.equal(read(unchecked), expected)


def test_a_step_may_be_stopped_before_any_layer(halves: Halves, prefix: list[int]) -> None:
    decoder, place = halves.decoder, ExactPlace((0, 1), (20, 7))
    for slot, length in enumerate((20, 7)):
        decoder.prefill(prefix[:length], slot, 0, unchecked)

    def step(check: Check) -> torch.Tensor:
        return decoder.step(torch.tensor([5, 6]), place, check)

    expected = step(unchecked)
    assert checks_of(step) == 3
    for count in (1, 2, 3):
        with pytest.raises(InterruptedError):
            step(StopAt(count))
        assert torch.equal(step(unchecked), expected)


def test_tiles_change_nothing_but_low_bits(
    halves: Halves, prefix: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = halves.decoder.prefill(prefix, 0, 0, unchecked)
    monkeypatch.setattr("engine.yue2.network.tiles.PRODUCT_ROWS", 17)
    monkeypatch.setattr("engine.yue2.network.tiles.LEAST_ATTENTION_ROWS", 31)
    monkeypatch.setattr("engine.yue2.network.tiles.ATTENTION_OPERATIONS", 1)
    assert error(halves.decoder.prefill(prefix, 1, 0, unchecked), whole) < EXACT


@pytest.mark.parametrize("wish", ["fp16", "bf16"])
def test_half_precision_is_near(
    checkpoint: Checkpoint, model_config: ModelConfig, arrays: Arrays, prefix: list[int], wish: str
) -> None:
    decoder = open_halves(checkpoint, model_config, wish).decoder
    logits = decoder.logits(decoder.prefill(prefix, 0, 0, unchecked), ALL_ROWS)
    assert error(logits[0].float(), arrays["prefill_logits"]) < 0.2
    state = decoder.step(token(arrays["forced_tokens"][0]), ExactPlace((0,), (len(prefix),)))
    logits = decoder.logits(state, ALL_ROWS)[0, arrays["probe_ids"]]
    assert error(logits.float(), arrays["decode_logits_probe"][0]) < 0.2
    wanted = arrays["bf16_decode_logits_probe"][0] - arrays["decode_logits_probe"][0]
    assert error(logits.float(), arrays["decode_logits_probe"][0]) < 2 * np.abs(wanted).max()


def test_the_residual_stream_may_be_bfloat16(
    checkpoint: Checkpoint, model_config: ModelConfig, arrays: Arrays, prefix: list[int]
) -> None:
    half = torch.bfloat16
    halves = halves_of(checkpoint, model_config, Precision("bf16", half, half, half, half))
    state = halves.decoder.prefill(prefix, 0, 0, unchecked)
    assert state.dtype is half
    logits = halves.decoder.logits(state, ALL_ROWS)[0, arrays["probe_ids"]]
    assert error(logits.float(), arrays["bf16_prefill_logits_probe"]) < 0.25
    value, place = token(arrays["forced_tokens"][0]), BucketPlace(torch.tensor([len(prefix)]), 192)
    bucket = halves.decoder.step(value, place)
    exact = halves.decoder.step(value, ExactPlace((0,), (len(prefix),)))
    assert error(bucket.float(), exact.float()) < 0.1


def test_few_rows_are_read_in_float16_and_many_in_bfloat16(
    halved: Halves, prefix: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, read_in = halved.decoder, list[torch.dtype]()

    def seen(index: int, layer: Layer, *rest: Any) -> None:
        read_in.append(layer.down.dtype)
        Decoder.read_layer(decoder, index, layer, *rest)

    monkeypatch.setattr(decoder, "read_layer", seen)
    whole = decoder.prefill(prefix, 0, 0, unchecked)
    decoder.prefill(prefix[:-3], 1, 0, unchecked)
    parts = decoder.prefill(prefix[-3:], 1, len(prefix) - 3, unchecked)
    assert read_in == [torch.bfloat16] * 6 + [torch.float16] * 3
    assert whole.dtype is parts.dtype is torch.float16
    assert error(parts.float(), whole.float()) < 0.1
