"""The packages import each other only as the contracts in pyproject.toml say, and torch only where it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.application.use_cases import lint_imports
from importlinter.configuration import configure

from tests.architecture.documents import ROOT

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
import server, engine, storage, projects
for package in (server, engine, storage, projects):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.startswith("engine.yue2"):
            importlib.import_module(module.name)
print(sorted(name for name in ("torch", "tiktoken", "safetensors") if name in sys.modules))
"""


def kept(configuration: Path) -> bool:
    configure()
    return lint_imports(config_filename=str(configuration), cache_dir=None, no_logo=True)


def test_every_contract_is_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert kept(ROOT / "pyproject.toml"), capsys.readouterr().out


def test_a_broken_contract_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "pyproject.toml").write_text(BACKWARDS)
    assert not kept(tmp_path / "pyproject.toml")


def test_nothing_but_the_models_of_yue2_loads_torch() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert printed.stdout.strip() == "[]", printed.stderr
