"""The house rules hold in the source: small functions and files, plain names, no rule switched off."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.source import (
    PRODUCT,
    Function,
    Source,
    asserts,
    code_lines,
    complexity,
    is_vague,
    sources,
)

PRODUCT_SOURCES = sources(*PRODUCT)
TEST_SOURCES = sources("tests")
# Spelled apart, so that this file does not hold what it forbids.
SWITCHED_OFF = re.compile("no" + "qa|type: " + "ignore|pragma: no cover")
# The mark of three crosses only in comments: a drummer's pattern may have it.
LEFT_BEHIND = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|HA" + r"CK)\b|#.*\bXX" + r"X\b")
SLEEPS = re.compile(r"\bsle" + r"ep\(")


@dataclass(frozen=True, slots=True)
class Measured:
    """What the rules ask of the product's files, each of which is parsed once."""

    sizes: dict[str, int]
    branches: dict[str, int]
    classes: list[tuple[str, str]]


@pytest.fixture(scope="module")
def product() -> Measured:
    """Code lines and branches of every function of the product by its place, and the classes of every file."""
    measured = Measured({}, {}, [])
    for source in PRODUCT_SOURCES:
        tree, lines = source.tree, source.text.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, Function):
                place = f"{source.name}:{node.lineno} {node.name}"
                measured.sizes[place] = code_lines(node, lines)
                measured.branches[place] = complexity(node)
            elif isinstance(node, ast.ClassDef):
                measured.classes.append((source.name, node.name))
    return measured


def function_in(text: str) -> Function:
    function = ast.parse(text).body[0]
    assert isinstance(function, Function)
    return function


def places(pattern: re.Pattern[str], found_in: list[Source]) -> list[str]:
    return [
        f"{source.name}:{number}"
        for source in found_in
        for number, line in enumerate(source.text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_function_is_over_sixty_lines(product: Measured) -> None:
    assert [place for place, size in product.sizes.items() if size > 60] == []


def test_all_but_one_function_in_twenty_are_within_thirty_lines(product: Measured) -> None:
    assert product.sizes
    assert sorted(product.sizes.values())[int(len(product.sizes) * 0.95)] <= 30


def test_no_function_has_more_than_ten_branches(product: Measured) -> None:
    assert [f"{place}: {branches}" for place, branches in product.branches.items() if branches > 10] == []


def test_no_file_is_over_four_hundred_lines() -> None:
    assert [source.name for source in PRODUCT_SOURCES if source.text.count("\n") > 400] == []


def test_modules_and_classes_are_named_for_what_they_do(product: Measured) -> None:
    assert [source.name for source in PRODUCT_SOURCES if is_vague(source.path.stem)] == []
    assert product.classes
    assert [f"{file}: {name}" for file, name in product.classes if is_vague(name)] == []


def test_no_rule_is_switched_off_and_nothing_left_behind() -> None:
    assert places(SWITCHED_OFF, PRODUCT_SOURCES) == []
    assert places(LEFT_BEHIND, PRODUCT_SOURCES) == []


def test_every_test_asserts_something() -> None:
    assert [
        f"{source.name}:{test.lineno} {test.name}"
        for source in TEST_SOURCES
        for test in source.tests()
        if not asserts(test)
    ] == []


def test_no_test_sleeps() -> None:
    assert places(SLEEPS, TEST_SOURCES) == []


def test_test_folders_are_packages() -> None:
    folders = {source.path.parent for source in TEST_SOURCES}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_lines_are_counted_without_prose() -> None:
    text = 'def f(x):\n    """Two\n    lines."""\n    # why\n\n    return x\n'
    assert code_lines(function_in(text), text.splitlines()) == 2


def test_branches_are_counted() -> None:
    assert complexity(function_in("def f(x): return x")) == 1
    assert complexity(function_in("def f(x):\n    for y in x:\n        if y:\n            pass\n")) == 3
    assert (
        complexity(function_in("def f(x):\n    match x:\n        case 1: pass\n        case _: pass\n")) == 3
    )


def test_vague_names_are_noticed() -> None:
    assert [name for name in ("job_utils", "BaseStore", "UserInfo", "data") if not is_vague(name)] == []
    assert [name for name in ("database", "Baseline", "Metadata", "information") if is_vague(name)] == []


def test_a_hollow_test_is_noticed() -> None:
    hollow = ("def test_a(): f()", "def test_a(): assert True", "def test_a(): print(1)")
    real = (
        "def test_a(): assert f()",
        "def test_a():\n    with pytest.raises(E): f()",
        "def test_a(): check_all(1)",
    )
    assert [text for text in hollow if asserts(function_in(text))] == []
    assert [text for text in real if not asserts(function_in(text))] == []


def test_a_switched_off_rule_is_noticed(tmp_path: Path) -> None:
    planted = Source(tmp_path / "x.py", "a = 1  # no" + "qa\nb = 2\n")
    assert SWITCHED_OFF.search(planted.text)
