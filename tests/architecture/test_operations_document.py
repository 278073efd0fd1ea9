"""docs/operations.md names only metrics that the server gives and settings files that fit the script."""

import re
from pathlib import Path

from server.commands.endings import WRONG
from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.architecture.documents import ROOT

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_every_metric_named_is_given(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    given = parts.metrics.exposition().decode()
    named = set(re.findall(r"`(yue2_[a-z_]+)`", TEXT))
    assert named
    assert [name for name in sorted(named) if not re.search(rf"^{name} ", given, re.MULTILINE)] == []


def test_the_unit_runs_the_script_and_outwaits_the_server() -> None:
    assert "ExecStart=/opt/yue2-studio/task start\n" in TEXT
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", TEXT, re.MULTILINE)
    assert seconds is not None
    assert int(seconds[1]) > 10  # the server is gone within ten


def test_the_unit_does_not_try_wrong_settings_again() -> None:
    assert f"RestartPreventExitStatus={WRONG}\n" in TEXT


def test_the_proxy_passes_the_host_on_as_it_came_and_has_a_certificate() -> None:
    block = TEXT.partition("```nginx\n")[2].partition("```")[0]
    assert "proxy_set_header Host $http_host;" in block
    assert "ssl_certificate " in block
    assert "ssl_certificate_key " in block
