"""What the house rules count in Python source: lines, branches, names, assertions."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.documents import ROOT

PRODUCT = ("server", "engine", "storage", "projects", "bench")
VAGUE = re.compile("manager|helpers?|utils?|common|base|services?|handlers?|data|info|misc", re.IGNORECASE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """The path from the repository's root."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def tree(self) -> ast.Module:
        """The file, parsed anew: were the trees of all files kept, the collector would go through them at every turn.

        Raises SyntaxError.
        """
        return ast.parse(self.text)

    def functions(self) -> Iterator[Function]:
        """Every function, the nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def tests(self) -> Iterator[Function]:
        """The functions that pytest takes for tests."""
        return (function for function in self.functions() if function.name.startswith("test_"))


def sources(*folders: str) -> list[Source]:
    """Every Python file below the folders."""
    return [
        Source(path, path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def code_lines(function: Function, lines: list[str]) -> int:
    """Lines of a function without blanks, comments and its docstring; `lines` are the whole file's."""
    skipped = _docstring_lines(function)
    numbered = enumerate(lines[function.lineno - 1 : function.end_lineno], start=function.lineno)
    body = [line.strip() for number, line in numbered if number not in skipped]
    return sum(1 for line in body if line and not line.startswith("#"))


def _docstring_lines(function: Function) -> range:
    first = function.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return range(first.lineno, (first.end_lineno or 0) + 1)
    return range(0)


def complexity(function: Function) -> int:
    """One and one more for each branch (McCabe, 1976); conditions and comprehensions are not branches, as for ruff."""
    return 1 + sum(isinstance(node, BRANCHES) for node in ast.walk(function))


def is_vague(name: str) -> bool:
    """Whether a module's or class's name says nothing of what it does."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return any(VAGUE.fullmatch(word) for word in words)


def asserts(test: Function) -> bool:
    """Whether a test holds something that can fail: an assertion, an expected exception, a checking function."""
    return any(_can_fail(node) for node in ast.walk(test))


def _can_fail(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=condition):
            return not isinstance(condition, ast.Constant)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in {"raises", "warns", "fail"} or bool(
                re.match(r"(assert|expect|check|verify|exercise)(_|$)", name)
            )
    return False
