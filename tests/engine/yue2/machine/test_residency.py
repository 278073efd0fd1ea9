import weakref
from collections.abc import Callable

import pytest

from engine.control import Control, Uncontrolled
from engine.yue2.machine.residency import Residency


class Weights:
    """Stands for a loaded part."""


class Shelf:
    """Loads parts, remembers which are alive, and can be told to fail."""

    def __init__(self) -> None:
        self.loads: list[str] = []
        self.alive: weakref.WeakValueDictionary[str, Weights] = weakref.WeakValueDictionary()
        self.given_back = 0
        self.in_use: list[str] = []
        self.failing = False
        self.residency = Residency(
            self.loader("decoder"),
            self.loader("acoustic"),
            self.loader("vae"),
            self.loader("encoder"),
            settle=self.settle,
            give_back=self.give_back,
        )

    def loader(self, name: str) -> Callable[[Control], Weights]:
        def load(control: Control) -> Weights:
            control.check_cancelled()
            if self.failing:
                raise MemoryError
            self.loads.append(name)
            self.alive[name] = weights = Weights()
            return weights

        return load

    def settle(self) -> None:
        self.in_use = self.names()

    def give_back(self) -> None:
        assert self.in_use, "nobody waited while the parts were there"
        self.given_back += 1

    def names(self) -> list[str]:
        return sorted(self.alive)


def everything(shelf: Shelf, *, alone: bool) -> list[list[str]]:
    control, seen = Uncontrolled(), []
    for ask in (
        shelf.residency.decoder,
        shelf.residency.acoustic,
        shelf.residency.vae,
        shelf.residency.encoder,
        shelf.residency.acoustic,
    ):
        ask(control, alone=alone)
        seen.append(shelf.names())
    return seen


def test_parts_that_are_kept_are_loaded_once() -> None:
    shelf = Shelf()
    assert everything(shelf, alone=False)[-1] == ["acoustic", "decoder", "encoder", "vae"]
    assert shelf.loads == ["decoder", "acoustic", "vae", "encoder"]
    assert shelf.residency.is_loaded == (True, True, True, True)


def test_a_part_alone_has_the_others_released_first() -> None:
    shelf = Shelf()
    assert everything(shelf, alone=True) == [["decoder"], ["acoustic"], ["vae"], ["encoder"], ["acoustic"]]
    assert shelf.given_back == 4
    assert shelf.residency.is_loaded == (False, True, False, False)


def test_the_same_part_alone_again_is_not_loaded_again() -> None:
    shelf = Shelf()
    first = shelf.residency.decoder(Uncontrolled(), alone=True)
    assert shelf.residency.decoder(Uncontrolled(), alone=True) is first
    assert shelf.given_back == 0


def test_a_loader_that_fails_leaves_the_part_unloaded_and_can_try_again() -> None:
    shelf = Shelf()
    shelf.failing = True
    with pytest.raises(MemoryError):
        shelf.residency.vae(Uncontrolled(), alone=False)
    assert shelf.residency.is_loaded == (False, False, False, False)
    shelf.failing = False
    assert shelf.residency.vae(Uncontrolled(), alone=False) is shelf.alive["vae"]


def test_releasing_gives_everything_back() -> None:
    shelf = Shelf()
    everything(shelf, alone=False)
    shelf.residency.release()
    assert shelf.names() == []
    assert shelf.given_back == 1
    shelf.residency.release()
    assert shelf.given_back == 1
