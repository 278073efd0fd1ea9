"""What the driver's own tool says of cards; a small script stands for it."""

from pathlib import Path

import pytest

from engine.yue2.machine.driver import Card, ask_driver


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `nvidia-smi` would be; nothing else is on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "nvidia-smi"


def write(tool: Path, script: str) -> None:
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


def test_no_tool_means_no_driver(tool: Path) -> None:
    assert not tool.exists()
    assert not ask_driver().present


def test_every_card_is_told(tool: Path) -> None:
    write(tool, "echo 'NVIDIA GeForce RTX 4090, 24564, 550.54.14'; echo 'Tesla T4, [N/A], 550.54.14'")
    found = ask_driver()
    assert found.cards == (
        Card("NVIDIA GeForce RTX 4090", 24564 * 2**20, "550.54.14"),
        Card("Tesla T4", 0, "550.54.14"),
    )
    assert found.fault == ""


def test_it_is_asked_for_just_that(tool: Path) -> None:
    write(tool, f'echo "$*" > {tool.parent}/asked; echo "a, 1, 2"')
    ask_driver()
    asked = (tool.parent / "asked").read_text().split()
    assert asked == ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (
            "echo; echo 'NVIDIA-SMI has failed because it could not talk to the driver.'; exit 9",
            "NVIDIA-SMI has failed",
        ),
        ("echo 'no such device' >&2; exit 6", "no such device"),
        ("exit 1", "nvidia-smi fails"),
        ("exit 0", "nvidia-smi lists no card"),
        ("echo nonsense", "nvidia-smi lists no card"),
    ],
)
def test_a_driver_that_does_not_answer_is_a_fault(tool: Path, script: str, fault: str) -> None:
    write(tool, script)
    found = ask_driver()
    assert (found.present, found.cards) == (True, ())
    assert found.fault.startswith(fault)


def test_a_tool_that_cannot_be_run_is_a_fault(tool: Path) -> None:
    tool.write_text("#!/nowhere/at/all\n")
    tool.chmod(0o755)
    assert "cannot be run" in ask_driver().fault
