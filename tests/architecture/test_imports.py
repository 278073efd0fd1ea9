"""The packages import each other only as the contracts in pyproject.toml say, and torch only where it is needed."""

import ast
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.application.use_cases import lint_imports
from importlinter.configuration import configure

import server
from tests.architecture.documents import ROOT
from tests.architecture.source import sources

BACKWARDS = """
[tool.importlinter]
root_packages = ["server", "engine"]

[[tool.importlinter.contracts]]
name = "the wrong way round"
type = "layers"
layers = ["engine", "server"]
"""
IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
import engine.catalogue
print(sorted({"torch", "scipy", "pyloudnorm"} & set(sys.modules)))
import server, engine, storage, projects
for package in (server, engine, storage, projects):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.startswith("engine.yue2"):
            importlib.import_module(module.name)
print(sorted(name for name in ("torch", "tiktoken", "safetensors") if name in sys.modules))
"""


def imported(tree: ast.Module) -> Iterator[str]:
    """Names of the modules that a file imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def kept(configuration: Path) -> bool:
    configure()
    return lint_imports(config_filename=str(configuration), cache_dir=None, no_logo=True)


def test_every_contract_is_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert kept(ROOT / "pyproject.toml"), capsys.readouterr().out


def contract(name: str) -> dict[str, list[str]]:
    """One contract of pyproject.toml by its name."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = read["tool"]["importlinter"]["contracts"]
    found: dict[str, list[str]] = next(each for each in contracts if each["name"] == name)
    return found


def test_the_client_may_share_no_module_of_the_server() -> None:
    modules = {module.name for module in pkgutil.iter_modules(server.__path__, "server.")}
    forbidden = contract("the client speaks HTTP and shares no code with the server")["forbidden_modules"]
    assert set(forbidden) == (modules - {"server.client"}) | {"engine", "storage", "projects"}


def test_storage_and_the_queue_import_the_standard_library_only() -> None:
    foreign = [
        f"{source.name}: {name}"
        for source in sources("storage", "server/jobs")
        for name in imported(source.tree)
        # `_typeshed` is there for the type checker only.
        if name.partition(".")[0] not in sys.stdlib_module_names | {"_typeshed"}
        and not name.startswith(("storage.", "server.jobs."))
    ]
    assert foreign == []


def test_a_broken_contract_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "pyproject.toml").write_text(BACKWARDS)
    assert not kept(tmp_path / "pyproject.toml")


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """Two lines: what the catalogue has loaded of what is heavy, and what all modules have."""
    printed = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert printed.returncode == 0, printed.stderr
    return printed.stdout.splitlines()


def test_the_catalogue_loads_neither_torch_nor_scipy(loaded: list[str]) -> None:
    assert loaded[0] == "[]"


def test_nothing_but_the_models_of_yue2_loads_torch(loaded: list[str]) -> None:
    assert loaded[1] == "[]"
