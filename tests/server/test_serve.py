"""A server that cannot start says why in one sentence and is gone."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.runtime
def test_a_start_that_fails_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environ = {"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_PORT": str(port)}
        ended = subprocess.run(
            [sys.executable, "-m", "server", "serve"],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == f"127.0.0.1:{port} is taken; stop what listens there or set YUE2_PORT.\n"
    assert ended.stdout == ""
