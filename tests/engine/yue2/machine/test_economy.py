import weakref

import pytest
import torch

from engine.errors import OutOfMemory
from engine.yue2.machine.economy import NOTE, Economy, ran_out
from engine.yue2.machine.memory import Allowance

FULL = Allowance(False, 16, 24_576, 9, 1024)
LEAST = FULL.reduced(900)

SIGNS = [
    MemoryError(),
    OutOfMemory("no room"),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("DefaultCPUAllocator: not enough memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
]


class Stage:
    """Fails with the given errors, one a call, and then gives what it was allowed."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.seen: list[Allowance] = []

    def __call__(self, allowed: Allowance) -> Allowance:
        self.seen.append(allowed)
        if self.errors:
            raise self.errors.pop(0)
        return allowed


class Counter:
    """Counts how often memory was given back."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def test_a_stage_with_memory_runs_once_with_everything() -> None:
    release, stage = Counter(), Stage()
    economy = Economy(FULL, 900, release)
    assert economy.run(stage) == FULL
    assert (economy.notes, release.count, stage.seen) == ((), 0, [FULL])


@pytest.mark.parametrize("error", SIGNS, ids=lambda error: type(error).__name__)
def test_a_stage_without_memory_runs_again_with_less(error: Exception) -> None:
    release, stage = Counter(), Stage(error)
    economy = Economy(FULL, 900, release)
    assert economy.run(stage) == LEAST
    assert (economy.notes, release.count, stage.seen) == ((NOTE,), 1, [FULL, LEAST])


def test_later_stages_have_the_smaller_allowance_and_no_second_chance() -> None:
    release = Counter()
    economy = Economy(FULL, 900, release)
    economy.run(Stage(MemoryError()))
    assert economy.run(Stage()) == LEAST
    with pytest.raises(OutOfMemory, match="ask for a shorter one"):
        economy.run(Stage(MemoryError()))
    assert release.count == 2


@pytest.mark.parametrize("error", SIGNS, ids=lambda error: type(error).__name__)
def test_a_second_failure_is_the_end(error: Exception) -> None:
    release = Counter()
    with pytest.raises(OutOfMemory, match="Even one song"):
        Economy(FULL, 900, release).run(Stage(MemoryError(), error))
    assert release.count == 2


def test_what_a_failed_stage_held_is_gone_when_memory_is_given_back() -> None:
    class Tensor:
        """Something that takes memory."""

    alive = weakref.WeakSet[Tensor]()

    def stage(_: Allowance) -> None:
        held = Tensor()
        alive.add(held)
        raise MemoryError

    counts: list[int] = []
    economy = Economy(FULL, 900, lambda: counts.append(len(alive)))
    with pytest.raises(OutOfMemory) as ended:
        economy.run(stage)
    assert counts == [0, 0]
    assert (ended.value.__cause__, ended.value.__context__) == (None, None)


@pytest.mark.parametrize("failures", [0, 1])
def test_other_errors_pass(failures: int) -> None:
    release = Counter()
    stage = Stage(*[MemoryError()] * failures, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        Economy(FULL, 900, release).run(stage)
    assert release.count == failures


def test_what_is_no_lack_of_memory() -> None:
    assert not ran_out(RuntimeError("size mismatch"))
    assert not ran_out(ValueError("odd"))
