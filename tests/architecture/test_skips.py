"""A run with a skipped test fails unless the list allows it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.documents import ROOT
from tests.architecture.test_requirements import is_collected
from tests.conftest import ALLOWED, allowed_skips

SKIPPED = """
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_skipped(number):
    pytest.skip("no reason at all")

def test_run():
    assert True
"""


def run(folder: Path, allowed: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest over one skipped and one sound test, with a copy of our guard."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    (folder / "skips.txt").write_text(allowed)
    (folder / "test_it.py").write_text(SKIPPED)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        str(folder),
    ]
    environment = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"
    }  # loading hypothesis would take seconds
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_skipped_test_fails_the_run(tmp_path: Path) -> None:
    ended = run(tmp_path, "# none\n")
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "SKIPPED without leave: test_it.py::test_skipped[1]" in ended.stdout


def test_an_allowed_one_does_not(tmp_path: Path) -> None:
    ended = run(tmp_path, "test_it.py::test_skipped needs something that is not here\n")
    assert ended.returncode == pytest.ExitCode.OK, ended.stdout


def test_a_skip_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="without a reason"):
        allowed_skips("tests/test_x.py::test_y\n")


def test_the_list_names_real_tests_only() -> None:
    assert [
        test for test in allowed_skips(ALLOWED.read_text(encoding="utf-8")) if not is_collected(test)
    ] == []
