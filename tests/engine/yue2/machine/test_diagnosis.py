"""What a machine would do with the models, and what is in the way."""

import sys
from pathlib import Path

import pytest

from engine.yue2.machine.diagnosis import SWAPPED, diagnose
from engine.yue2.machine.outlook import Wishes


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `nvidia-smi` would be."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "nvidia-smi"


def write(tool: Path, script: str) -> None:
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


@pytest.fixture
def wishes(tool: Path, model_folder: Path, vae_folder: Path) -> Wishes:
    return Wishes(model_folder, vae_folder)


def test_without_settings_the_band_plays(tool: Path) -> None:
    found = diagnose(Wishes(None, None), {})
    assert found.problems == ()
    assert found.conclusion == "the built-in band, since YUE2_MODEL is not set"


def test_whole_models_are_planned_for(wishes: Wishes) -> None:
    found = diagnose(wishes, {})
    assert found.problems == ()
    assert found.conclusion.startswith("YuE2 on cpu (")
    plan = found.plan
    assert plan is not None
    assert (plan.precision, plan.formats["decoder"], plan.staged) == ("fp16", "float16", False)
    weights = plan.decoder_bytes + plan.acoustic_bytes + plan.vae_bytes
    assert plan.needed_bytes == weights + plan.cache_bytes + max(plan.song_bytes, plan.tile_bytes)
    assert 0 < plan.free_bytes <= plan.total_bytes


def test_swapped_folders_are_recognised(wishes: Wishes) -> None:
    found = diagnose(Wishes(wishes.vae, wishes.model), {})
    assert found.problems == (SWAPPED,)
    assert all(state.fault for state in found.folders)


def test_one_folder_twice_is_not_swapped(wishes: Wishes) -> None:
    (problem,) = diagnose(Wishes(wishes.vae, wishes.vae), {}).problems
    assert "cannot be used" in problem


def test_stage_by_stage_the_largest_stage_counts(wishes: Wishes) -> None:
    staged = Wishes(wishes.model, wishes.vae, "cpu", "fp32", "stage")
    plan = diagnose(staged, {}).plan
    assert plan is not None
    drawing, solving = plan.decoder_bytes + plan.cache_bytes, plan.acoustic_bytes + plan.cache_bytes
    assert plan.needed_bytes == max(drawing, solving + plan.song_bytes, plan.vae_bytes + plan.tile_bytes)


def test_a_card_that_torch_cannot_use_is_a_problem(tool: Path, wishes: Wishes) -> None:
    write(tool, "echo 'NVIDIA GeForce RTX 4090, 24564, 550.54.14'")
    found = diagnose(wishes, {})
    (problem,) = found.problems
    assert problem.startswith("nvidia-smi works, but the installed torch")
    assert found.conclusion.startswith("nobody")


def test_the_processor_may_be_chosen_beside_a_card(tool: Path, wishes: Wishes) -> None:
    write(tool, "echo 'NVIDIA GeForce RTX 4090, 24564, 550.54.14'")
    assert diagnose(Wishes(wishes.model, wishes.vae, "cpu"), {}).problems == ()
    assert diagnose(wishes, {"CUDA_VISIBLE_DEVICES": "-1"}).problems == ()


def test_a_driver_that_does_not_answer_is_a_problem(tool: Path) -> None:
    write(tool, "echo broken; exit 9")
    (problem,) = diagnose(Wishes(None, None), {}).problems
    assert "does not answer (broken)" in problem


def test_every_broken_folder_is_told(tmp_path: Path, wishes: Wishes) -> None:
    found = diagnose(Wishes(wishes.vae, tmp_path / "nowhere"), {})
    assert [state.fault for state in found.folders] == list(found.problems)
    assert len(found.problems) == 2
    assert "it is no folder" in found.problems[1]


def test_weights_without_a_manifest_are_a_problem(tmp_path: Path, wishes: Wishes) -> None:
    for folder in (wishes.model, wishes.vae):
        assert folder is not None
        copy = tmp_path / folder.name
        copy.mkdir()
        for path in folder.iterdir():
            if path.name != "weights_manifest.json":
                (copy / path.name).symlink_to(path)
    found = diagnose(Wishes(tmp_path / "YuE2-3B-tiny", tmp_path / "YuE2-Vae-tiny"), {})
    assert len(found.problems) == 2
    assert all("weights_manifest.json is missing" in problem for problem in found.problems)


def test_a_device_that_is_not_there_is_a_problem(wishes: Wishes) -> None:
    found = diagnose(Wishes(wishes.model, wishes.vae, "cuda"), {})
    assert "No CUDA device can be used" in found.problems[0]
    assert found.plan is None


@pytest.mark.parametrize("module", ["torch", "tiktoken"])
def test_a_missing_library_is_a_problem_only_where_it_is_needed(
    wishes: Wishes, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "engine.yue2.machine.planning", raising=False)
    monkeypatch.delitem(sys.modules, "engine.yue2.text.tokenizer", raising=False)
    assert diagnose(Wishes(None, None), {}).problems == ()
    (problem,) = diagnose(wishes, {}).problems
    assert module in problem
