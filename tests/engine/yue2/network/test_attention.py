import math

import pytest
import torch

from engine.yue2.network.attention import attend_all, attend_causal, attend_last, attend_masked

HEADS, KV_HEADS, WIDTH, LENGTH = 6, 2, 8, 23


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(math.prod(shape)))


def naive(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, visible: torch.Tensor
) -> torch.Tensor:
    """Head by head and row by row: query head h reads key head h // group, of row r what `visible[r]` says."""
    attended = torch.empty_like(queries)
    for row in range(len(queries)):
        for head in range(HEADS):
            key_head = head // (HEADS // KV_HEADS)
            scores = keys[key_head, visible[row]] @ queries[row, head] / math.sqrt(WIDTH)
            attended[row, head] = torch.softmax(scores, dim=0) @ values[key_head, visible[row]]
    return attended.flatten(1)


KEYS, VALUES = random(KV_HEADS, LENGTH, WIDTH), random(KV_HEADS, LENGTH, WIDTH) + 1


def test_every_row_over_all_positions() -> None:
    queries = random(5, HEADS, WIDTH)
    expected = naive(queries, KEYS, VALUES, torch.ones(5, LENGTH, dtype=torch.bool))
    assert torch.allclose(attend_all(queries, KEYS, VALUES), expected, atol=1e-6)


def test_one_row_over_all_positions() -> None:
    queries = random(1, HEADS, WIDTH)
    expected = naive(queries, KEYS, VALUES, torch.ones(1, LENGTH, dtype=torch.bool))
    assert torch.allclose(attend_last(queries[0], KEYS, VALUES), expected, atol=1e-6)


@pytest.mark.parametrize("first", [0, 1, 18, 22])
def test_rows_up_to_their_own_position(first: int) -> None:
    rows = LENGTH - first
    queries = random(rows, HEADS, WIDTH)
    visible = torch.arange(LENGTH) <= torch.arange(first, LENGTH).unsqueeze(1)
    expected = naive(queries, KEYS, VALUES, visible)
    assert torch.allclose(attend_causal(queries, KEYS, VALUES, first), expected, atol=1e-6)


def test_sequences_with_hidden_positions() -> None:
    queries, positions = random(2, HEADS, WIDTH), torch.tensor([4, 17])
    hidden = torch.arange(LENGTH) > positions.unsqueeze(1)  # (2, LENGTH)
    bias = torch.zeros(2, LENGTH).masked_fill(hidden, -torch.inf)[:, None, None]
    keys, values = torch.stack((KEYS, VALUES)), torch.stack((VALUES, KEYS))
    found = attend_masked(queries, keys, values, bias)
    for index in range(2):
        expected = naive(queries[index : index + 1], keys[index], values[index], ~hidden[index : index + 1])
        assert torch.allclose(found[index], expected[0], atol=1e-6)
