"""All benchmarks in turn."""

import subprocess

import pytest

import bench.__main__
from bench.__main__ import OF_YUE2, in_a_process


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was run, instead of running it."""
    names: list[str] = []

    def in_process(name: str) -> int:
        names.append(name)
        return 0

    monkeypatch.setattr(bench.__main__, "BENCHMARKS", ("floors", "sketch"))
    monkeypatch.setattr(bench.__main__, "in_a_process", in_process)
    monkeypatch.setattr("bench.floors.main", lambda: in_process("floors"))
    monkeypatch.setattr("bench.sketch.main", lambda: in_process("sketch"))
    return names


def test_all_run_and_those_of_yue2_last(ran: list[str]) -> None:
    assert bench.__main__.main() == 0
    assert ran == ["floors", "sketch", *OF_YUE2]


@pytest.mark.parametrize("name", ["floors", "sketch"])
def test_a_missed_bar_in_any_counts(monkeypatch: pytest.MonkeyPatch, ran: list[str], name: str) -> None:
    monkeypatch.setattr(f"bench.{name}.main", lambda: 1)
    assert bench.__main__.main() == 1


def test_without_torch_yue2_is_left_out(
    monkeypatch: pytest.MonkeyPatch, ran: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench.__main__, "find_spec", lambda name: None)
    assert bench.__main__.main() == 0
    assert ran == ["floors", "sketch"]
    assert "torch is not installed" in capsys.readouterr().out


def test_a_process_gives_its_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[bytes]:
        asked.append(command[1:])
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr("subprocess.run", run)
    assert in_a_process("engine.health") == 1
    assert asked == [["-m", "bench.engine.health"]]
