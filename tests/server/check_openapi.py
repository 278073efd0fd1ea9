"""schemathesis over `/openapi.json` of a real server: no 500, and every answer as described."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
# A full queue is a proper answer to a proper request, so "valid requests are accepted" cannot be checked here.
LEFT_OUT = "positive_data_acceptance"


def test_the_server_answers_as_it_describes_itself(tmp_path: Path) -> None:
    limits = {"YUE2_QUEUE_LIMIT": "128", "YUE2_RESULT_MAX_FILES": "10000"}
    with ServerProcess(tmp_path / "output", "--silent", environ=limits) as server:
        run = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                "run",
                f"{server.url}/openapi.json",
                "--exclude-path=/logs",  # a stream without an end
                "--phases=coverage,fuzzing",
                "--max-examples=10",
                "--request-timeout=60",
                "--generation-deterministic",
                f"--exclude-checks={LEFT_OUT}",
                "--no-color",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert run.returncode == 0, run.stdout[-6000:]
        assert "No issues found" in run.stdout or " passed" in run.stdout
        assert server.status()["worker"]["state"] in ("idle", "running")
