"""Timing in turns, and how fast memory can be copied and read."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import torch

from bench.report import Bar, Row, percentile

Call = Callable[[], object]
GIGABYTE = 1e9


def synchronise(device: torch.device) -> None:
    """Wait until the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def milliseconds(call: Call, device: torch.device) -> float:
    """How long a call takes until the device has done its part too."""
    synchronise(device)
    started = time.perf_counter()
    call()
    synchronise(device)
    return (time.perf_counter() - started) * 1e3


def in_turns(calls: Mapping[str, Call], rounds: int, device: torch.device) -> dict[str, list[float]]:
    """Milliseconds of each call in each round, after one that does not count."""
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(milliseconds(call, device))
    return taken


class Memory:
    """Two buffers larger than any cache; owner of both."""

    def __init__(self, size_bytes: int, device: torch.device) -> None:
        self._device = device
        self._source = torch.ones(size_bytes // 4, dtype=torch.float32, device=device)
        self._target = torch.zeros_like(self._source)

    def copy_rate(self) -> float:
        """GB/s of copying as STREAM counts it: bytes read and bytes written (McCalpin, 1995)."""
        taken = milliseconds(lambda: self._target.copy_(self._source), self._device)
        return 2 * self._source.nbytes / GIGABYTE / taken * 1e3

    def read_rate(self) -> float:
        """GB/s of reading alone: a sum."""
        taken = milliseconds(lambda: self._source.sum(), self._device)
        return self._source.nbytes / GIGABYTE / taken * 1e3


def timed_row(name: str, values: Sequence[float], unit: str = "ms", bar: Bar | None = None) -> Row:
    """The median, and between what nine tenths of the values lie."""
    return Row(name, median(values), unit, bar, (percentile(values, 0.05), percentile(values, 0.95)))


def ratio_row(name: str, above: Sequence[float], below: Sequence[float], bar: Bar | None = None) -> Row:
    """How often the one contains the other, round by round."""
    return timed_row(name, [one / other for one, other in zip(above, below, strict=True)], "x", bar)
