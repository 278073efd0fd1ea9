"""What the doctor says, and how it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from server.__main__ import app

TINY = Path(__file__).parents[2] / "data" / "yue2"
WHOLE = {"YUE2_MODEL": str(TINY / "YuE2-3B-tiny"), "YUE2_VAE": str(TINY / "YuE2-Vae-tiny")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder it is run in, which is all of PATH as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def doctor(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments], env={"COLUMNS": "200", **environ})


def has_card(folder: Path) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA GeForce RTX 4090, 24564, 550.54.14'\n")
    tool.chmod(0o755)


def test_without_models_the_band_plays_and_all_is_well(folder: Path) -> None:
    answer = doctor()
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "the built-in band, since YUE2_MODEL is not set" in answer.stdout
    assert "no NVIDIA driver found" in answer.stdout


def test_with_models_it_tells_what_would_be_used_and_why(folder: Path) -> None:
    answer = doctor(**WHOLE)
    assert (answer.exit_code, answer.stderr) == (0, "")
    words = " ".join(answer.stdout.split())
    assert "YuE2 on cpu" in words
    assert "torch sees no card" in words
    assert "fp16, the fastest for this device: decoder float16, acoustic bfloat16" in words
    assert "keep: all parts stay loaded; they fit together" in words
    assert "complete, 12.7 MB; digests not read; --verify reads them" in words
    assert "RAM" in words
    assert f"{torch.get_num_threads()} that compute; OMP_NUM_THREADS sets another number" in words
    assert list(folder.iterdir()) == []


def test_a_setting_is_given_as_the_reason(folder: Path) -> None:
    chosen = {"YUE2_DEVICE": "cpu", "YUE2_PRECISION": "fp32", "YUE2_RESIDENCY": "stage"}
    words = " ".join(doctor(**WHOLE, **chosen).stdout.split())
    for setting in chosen:
        assert f"as {setting} says" in words


def test_a_card_that_torch_cannot_use_fails_loudly(folder: Path) -> None:
    has_card(folder)
    answer = doctor(**WHOLE)
    assert answer.exit_code == 1
    assert answer.stderr.startswith("nvidia-smi works, but the installed torch")
    assert "NVIDIA GeForce RTX 4090, 25.8 GB, driver 550.54.14" in answer.stdout


def test_a_program_gets_json(folder: Path) -> None:
    has_card(folder)
    answer = doctor("--json", **WHOLE)
    told = json.loads(answer.stdout)
    assert answer.exit_code == 1
    assert told["driver"]["cards"][0]["name"] == "NVIDIA GeForce RTX 4090"
    assert told["plan"]["device"] == "cpu"
    assert told["plan"]["wishes"]["model"] == WHOLE["YUE2_MODEL"]
    assert len(told["problems"]) == 1


def test_a_broken_folder_fails(folder: Path) -> None:
    answer = doctor(YUE2_MODEL=str(folder), YUE2_VAE=WHOLE["YUE2_VAE"])
    assert answer.exit_code == 1
    assert "cannot be used" in answer.stderr
    assert "nobody, before the problems below are solved" in answer.stdout


def test_what_is_wrong_stands_in_the_report_too(folder: Path) -> None:
    answer = doctor(YUE2_MODEL=WHOLE["YUE2_VAE"], YUE2_VAE=WHOLE["YUE2_MODEL"])
    assert answer.exit_code == 1
    assert answer.stderr.startswith("YUE2_MODEL and YUE2_VAE seem to be swapped: ")
    assert "Problem" in answer.stdout
    assert answer.stderr.strip() in " ".join(answer.stdout.split())


def test_at_a_terminal_it_stands_there_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.commands.doctor._at_terminal", lambda: True)
    answer = doctor(YUE2_MODEL=str(folder), YUE2_VAE=WHOLE["YUE2_VAE"])
    assert (answer.exit_code, answer.stderr) == (1, "")
    assert answer.stdout.count("cannot be used:") == 1


def test_a_variable_that_nothing_reads_is_a_warning(folder: Path) -> None:
    answer = doctor(YUE2_MODLE="/models")
    assert answer.exit_code == 0
    assert "did you mean YUE2_MODEL?" in answer.stderr
    assert "did you mean YUE2_MODEL?" in " ".join(answer.stdout.split())
    (warning,) = json.loads(doctor("--json", YUE2_MODLE="/models").stdout)["warnings"]
    assert warning.startswith("YUE2_MODLE is set")


def test_a_folder_that_depends_on_where_one_is_is_a_warning(folder: Path) -> None:
    (folder / "vae").symlink_to(WHOLE["YUE2_VAE"])
    answer = doctor(YUE2_MODEL=WHOLE["YUE2_MODEL"], YUE2_VAE="vae")
    assert answer.exit_code == 0
    assert answer.stderr.startswith(f"YUE2_VAE is vae, which means {folder / 'vae'} here")
    assert answer.stderr.count("write the whole path") == 1


def test_the_disk_is_that_of_the_results_only_where_a_setting_says_so(folder: Path) -> None:
    assert "free on the disk of this folder" in doctor().stdout
    assert json.loads(doctor("--json").stdout)["results"] is None
    told = doctor(YUE2_RESULT_DIR=str(folder / "a" / "jobs")).stdout
    assert f"free where results go ({folder}/a/jobs)" in " ".join(told.split())


def test_a_wrong_setting_is_status_two(folder: Path) -> None:
    assert doctor(YUE2_MODEL=WHOLE["YUE2_MODEL"]).exit_code == 2
    assert doctor(YUE2_PRECISION="int4").exit_code == 2


def test_digests_are_read_when_asked_for(folder: Path) -> None:
    answer = doctor("--verify", **WHOLE)
    assert (answer.exit_code, answer.stdout.count("digests right")) == (0, 2)
    assert list(folder.iterdir()) == []


def test_a_changed_weight_is_found(folder: Path) -> None:
    shutil.copytree(WHOLE["YUE2_VAE"], folder / "vae")
    weights = folder / "vae" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    answer = doctor("--verify", YUE2_MODEL=WHOLE["YUE2_MODEL"], YUE2_VAE=str(folder / "vae"))
    assert answer.exit_code == 1
    assert "digests wrong" in answer.stdout
    assert "nobody, before" in answer.stdout
    assert "sha256" in answer.stderr


def test_sigterm_ends_it_as_ctrl_c_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(*_: object) -> None:
        handler = signal.getsignal(signal.SIGTERM)
        assert callable(handler)
        handler(signal.SIGTERM, None)

    monkeypatch.setattr("server.commands.checkup.check_up", terminated)
    answer = doctor("--verify")
    assert (answer.exit_code, answer.stderr) == (143, "Ended by SIGTERM.\n")


@pytest.mark.runtime
@pytest.mark.parametrize("models", [True, False])
def test_it_works_where_no_library_of_the_models_is_installed(models: bool, tmp_path: Path) -> None:
    absent = "('torch', 'safetensors', 'tiktoken', 'huggingface_hub')"
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({absent})); import server.__main__ as m; m.main()"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YUE2_")}
    ended = subprocess.run(
        [sys.executable, "-c", program, "doctor"],
        env=kept | (WHOLE if models else {}) | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == (1 if models else 0)
    assert ("need the Python module 'torch'" in ended.stderr) is models
    assert "Traceback" not in ended.stderr
