"""docs/operations.md names only metrics that the server gives and settings files that fit the script."""

import re
from pathlib import Path

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
