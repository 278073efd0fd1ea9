"""Modules that are anything to anybody: what a program takes without a package is measured with them in its place."""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final


class Anything:
    """Can be called, indexed, inherited from and asked for any attribute; gives itself."""

    def __call__(self, *_: object, **__: object) -> "Anything":
        return self

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _: object) -> "Anything":
        return self

    def __or__(self, _: object) -> "Anything":
        return self

    __ror__ = __or__

    def __mro_entries__(self, _: tuple[object, ...]) -> tuple[type, ...]:
        return (object,)


ANYTHING: Final = Anything()


class StandIn(ModuleType):
    """A module with every name."""

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return ANYTHING


class StandIns(MetaPathFinder, Loader):
    """Finds and loads stand-ins for the packages of these names, and for all that lies in them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A stand-in, where the name is one of theirs."""
        ours = fullname.partition(".")[0] in self._names
        return ModuleSpec(fullname, self, is_package=True) if ours else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module."""
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to do."""


def stand_in_for(*names: str) -> None:
    """From here on these packages are stand-ins in this process."""
    sys.meta_path.insert(0, StandIns(names))
