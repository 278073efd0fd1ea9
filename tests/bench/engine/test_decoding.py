"""Turns within a decoding, and the traffic of a step."""

import torch

from bench.engine.decoding import WARMING, Turns

CPU = torch.device("cpu")


def test_others_have_their_turn_after_so_many_steps_and_the_next_does_not_count() -> None:
    heard: list[int] = []
    turns = Turns(3, 2, lambda: heard.append(len(turns.taken)), CPU)
    assert turns.tokens == WARMING + 9
    for count in range(1, turns.tokens + 1):
        turns.drawn(count)
    assert heard == [1, 2]
    assert len(turns.taken) == 2
    assert all(taken >= 0 for taken in turns.taken)


def test_several_tokens_told_at_once_count_each() -> None:
    turns = Turns(2, 1, lambda: None, CPU)
    for count in (WARMING, WARMING + 1, WARMING + 5):
        turns.drawn(count)
    assert len(turns.taken) == 1
