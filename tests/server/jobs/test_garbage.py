"""What outlives a long collection is passed over, until models are unloaded."""

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from server.jobs.garbage import Garbage


class Knot:
    """Refers to itself."""

    def __init__(self) -> None:
        self.end = self


@pytest.fixture(autouse=True)
def frozen_heap() -> Iterator[None]:
    """What is there already is passed over, as after the start of a server; afterwards too, for the tests that follow."""
    gc.freeze()
    yield
    gc.freeze()


def lasting(seconds: float) -> Callable[[], float]:
    """A clock by which every collection takes so long."""
    instants = iter(step * seconds for step in range(100))
    return lambda: next(instants)


@pytest.mark.parametrize(("seconds", "kept"), [(0.004, False), (0.006, True)])
def test_what_outlives_a_long_collection_is_passed_over_until_models_are_unloaded(
    seconds: float, kept: bool
) -> None:
    garbage = Garbage(lasting(seconds))
    knot = Knot()
    reference = weakref.ref(knot)
    garbage.collect()
    del knot
    garbage.collect()
    assert (reference() is not None) == kept
    garbage.collect_all()
    assert reference() is None


def test_garbage_goes_at_once() -> None:
    reference = weakref.ref(Knot())
    Garbage(lasting(1.0)).collect()
    assert reference() is None
