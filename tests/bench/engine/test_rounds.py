"""Turns, ratios and what memory can do."""

import torch

from bench.engine.rounds import Memory, in_turns, ratio_row, timed_row
from bench.report import Bar

CPU = torch.device("cpu")


def test_calls_take_turns_after_one_that_does_not_count() -> None:
    heard: list[str] = []
    calls = {name: lambda name=name: heard.append(name) for name in "ab"}
    taken = in_turns(calls, 2, CPU)
    assert heard == list("ababab")
    assert [len(values) for values in taken.values()] == [2, 2]
    assert all(value >= 0 for values in taken.values() for value in values)


def test_memory_has_rates() -> None:
    memory = Memory(1 << 16, CPU)
    assert memory.copy_rate() > 0
    assert memory.read_rate() > 0


def test_a_row_has_median_and_spread() -> None:
    row = timed_row("step", [3.0, 1.0, 2.0])
    assert (row.value, row.spread, row.unit) == (2.0, (1.0, 3.0), "ms")


def test_ratios_are_taken_round_by_round() -> None:
    row = ratio_row("above", [2.0, 9.0, 6.0], [1.0, 3.0, 3.0], Bar(1.5))
    assert (row.value, row.spread, row.missed) == (2.0, (2.0, 3.0), True)
