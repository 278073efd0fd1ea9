"""Every promise has a row, and every row that claims a test names one that pytest collects."""

import ast
from functools import cache
from pathlib import Path

from tests.architecture.documents import ROOT, code, table_rows

ROWS = table_rows((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"), 4)
# Run by './task check:cpu' under its own name, so that the fast suite does not start a server process.
RUN_BY_NAME = "tests/server/check_runtime.py"


def names_in(statement: ast.stmt) -> list[str]:
    """The tests that one top-level statement of a test file gives rise to, parameters left out."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.ClassDef(name=name, body=body):
            return [
                f"{name}::{item.name}"
                for item in body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="TestCase")):
            return [f"{name}::runTest"]  # a state machine of hypothesis
    return []


@cache
def names_of(path: Path) -> frozenset[str]:
    """The tests that a file gives rise to."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(name for statement in parsed.body for name in names_in(statement))


def is_collected(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / file
    if not path.is_file() or not (path.name.startswith("test_") or file == RUN_BY_NAME):
        return False
    return name in names_of(path) and name.rsplit("::", 1)[-1].startswith(("test_", "runTest"))


def test_ids_count_up_from_one() -> None:
    numbers: dict[str, list[int]] = {}
    for row in ROWS:
        letter, _, number = row[0].partition("-")
        numbers.setdefault(letter, []).append(int(number))
    assert numbers
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


def test_every_row_has_a_known_status() -> None:
    assert {row[2] for row in ROWS} <= {"tested", "planned", "context"}


def test_exactly_the_tested_rows_name_tests() -> None:
    assert [row[0] for row in ROWS if (row[2] == "tested") != bool(code(row[3]))] == []


def test_every_named_test_is_collected() -> None:
    assert [f"{row[0]}: {test}" for row in ROWS for test in code(row[3]) if not is_collected(test)] == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    here = Path(__file__).relative_to(ROOT).as_posix()
    assert is_collected(f"{here}::test_every_row_has_a_known_status")
    assert not is_collected(f"{here}::test_of_nothing")
    assert not is_collected(f"{here}::names_in")
    assert not is_collected("tests/nowhere.py::test_of_nothing")
