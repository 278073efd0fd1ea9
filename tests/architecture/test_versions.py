"""constraints.txt pins everything that pyproject.toml asks for, and within its bounds."""

import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.documents import ROOT


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(text) for texts in (project["dependencies"], *extras) for text in texts]


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    pinned = pins()
    wrong = [
        str(requirement)
        for requirement in requirements()
        if not requirement.specifier.contains(pinned.get(canonicalize_name(requirement.name), "0"))
    ]
    assert wrong == []


def test_the_task_runner_is_pinned() -> None:
    assert "go-task-bin" in pins()


def test_the_base_has_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {Requirement(text).name for text in project["dependencies"]} & {
        "torch",
        "safetensors",
        "tiktoken",
    } == set()
