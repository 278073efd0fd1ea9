"""What the status snapshot is put together of."""

from pathlib import Path

from server.limits import Slots
from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.server.agents.work import written


def test_places_of_every_kind_are_counted(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    kinds = {name: slots for name, slots in vars(parts.limits).items() if isinstance(slots, Slots)}
    assert set(parts.board.held()) == set(kinds)
    for name, slots in kinds.items():
        with slots.slot():
            assert parts.board.held() == {kind: int(kind == name) for kind in kinds}


def test_agents_jobs_and_files_are_told(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    parts.gate.admit(written(), "", "")
    id = parts.agent_gate.admit(written(), "", "").job_id
    staged = parts.artifacts.stage(id)
    staged.write(b"sound")
    told = {"limit": 8, "pending": 1, "files": 1, "bytes": 5, "limit_bytes": 2147483648, "limit_files": 128}
    assert parts.board.snapshot()["agents"] == told | {"ttl_seconds": 3600, "full": False}
    assert parts.board.results()["files"] == 0
    staged.close()


def test_the_backlog_is_that_of_all_jobs(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    assert parts.board.backlog_seconds() == 0.0
    parts.gate.admit(written(), "", "")
    assert parts.board.backlog_seconds() == round(parts.queue.backlog().seconds, 1) > 0


def test_followers_are_told_beside_the_snapshot_whose_keys_are_fixed(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    http = parts.board.http()
    assert http["download_limit"] == parts.limits.downloads.total
    assert "followers" not in http
    with parts.limits.followers.slot():
        assert b'yue2_http_held{kind="followers"} 1.0' in parts.metrics.exposition()
