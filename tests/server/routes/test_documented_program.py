"""The program that docs/api.md shows, run as it stands against a real server."""

import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from tests.architecture.documents import ROOT
from tests.server.server_process import ServerProcess

ADDRESS = "http://127.0.0.1:8000"


@pytest.mark.runtime
def test_the_documented_program_makes_a_song(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    program = text.partition("```python\n")[2].partition("```\n")[0]
    assert program.count(ADDRESS) == 1
    (tmp_path / "program").mkdir()
    with ServerProcess(tmp_path / "output", "--sound") as server:
        ran = subprocess.run(
            [sys.executable, "-c", program.replace(ADDRESS, server.url)],
            cwd=tmp_path / "program",
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert soundfile.info(tmp_path / "program" / "song.mp3").duration > 5
