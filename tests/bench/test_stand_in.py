"""A stand-in is anything, in a process of its own."""

import subprocess
import sys

from bench.processes import ROOT
from bench.stand_in import ANYTHING

PROGRAM = """
import sys
from bench.stand_in import stand_in_for
stand_in_for("nothing_like_it")
import nothing_like_it.deeply.nested
from nothing_like_it.other import Name, CONSTANT

class Own(Name[int]):
    def method(self, it: Name | None) -> CONSTANT[str]: ...

@Name(option=CONSTANT)
def call(): ...

print(Own.__mro__[1].__name__, sys.modules["nothing_like_it"].__name__)
"""


def test_a_program_imports_and_uses_what_is_not_there() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert ran.stdout.split() == ["object", "nothing_like_it"]


def test_it_gives_itself() -> None:
    assert ANYTHING.some.name(1, by=2)[3] is ANYTHING
    assert not hasattr(ANYTHING, "__len__")
