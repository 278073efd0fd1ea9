"""The parts of one server, put together."""

import gc
from pathlib import Path

import pytest

from server import parts as parts_module
from server.jobs.errors import GroupFull, InputsFull
from server.jobs.worker import Rest
from server.log_ring import LogRing
from server.parts import assemble, draw_job_id
from server.settings import load
from storage.entry import ID_PATTERN, Entry, EntryState
from tests.server.agents.work import written


def test_a_handle_is_sixteen_digits_that_differ() -> None:
    ids = {draw_job_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(ID_PATTERN.fullmatch(id) for id in ids)


def test_settings_reach_the_parts_and_folders_are_made(tmp_path: Path) -> None:
    environ = {"YUE2_RESULT_DIR": str(tmp_path / "out" / "results"), "YUE2_QUEUE_LIMIT": "3"}
    parts = assemble(load(environ | {"YUE2_RESULT_MAX_FILES": "7"}), LogRing())
    assert parts.queue.snapshot().limit == 3
    assert parts.store.usage().limit_files == 7
    parts.queue.check_admitting(512 * 1024 * 1024)
    with pytest.raises(InputsFull):
        parts.queue.check_admitting(512 * 1024 * 1024 + 1)
    assert (tmp_path / "out" / "results").is_dir()
    assert (tmp_path / "out" / "state" / "cookie-secret").stat().st_mode & 0o077 == 0


def test_what_was_accepted_before_is_interrupted_with_a_fixed_expiry(tmp_path: Path) -> None:
    settings = load({"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_RESULT_TTL_SECONDS": "100"})
    first = assemble(settings, LogRing(), lambda: 1000.0)
    first.store.accept(Entry("0123456789abcdef", EntryState.ACCEPTED, "", 1000.0))
    second = assemble(settings, LogRing(), lambda: 1050.0)
    third = assemble(settings, LogRing(), lambda: 1090.0)
    told = [parts.book.describe("0123456789abcdef", "") for parts in (second, third)]
    assert [(one["code"], one["expires_at"]) for one in told] == [("interrupted_by_restart", 1150.0)] * 2


def test_what_agents_had_accepted_before_is_interrupted_too(tmp_path: Path) -> None:
    settings = load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")})
    ids = [f"{n:016x}" for n in range(2)]
    first = assemble(settings, LogRing(), lambda: 1000.0)
    for store, id in zip((first.store, first.artifacts), ids, strict=True):
        store.accept(Entry(id, EntryState.ACCEPTED, "", 1000.0))
    again = assemble(settings, LogRing(), lambda: 1050.0)
    told = [again.book.describe(id, "") for id in ids]
    assert [(one["status"], one["code"]) for one in told] == [("failed", "interrupted_by_restart")] * 2
    assert [one["expires_at"] for one in told] == [1050.0 + 86400, 1050.0 + 3600]


def test_agents_have_a_store_and_eight_places_whatever_the_settings_say(tmp_path: Path) -> None:
    environ = {"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_QUEUE_LIMIT": "20"}
    tight = {"YUE2_RESULT_MAX_FILES": "1", "YUE2_RESULT_MAX_BYTES": "1", "YUE2_RESULT_TTL_SECONDS": "1"}
    parts = assemble(load(environ | tight), LogRing())
    usage = parts.artifacts.usage()
    assert (usage.limit_files, usage.limit_bytes, usage.max_file_bytes) == (128, 2 * 1024**3, 1024**3)
    assert usage.ttl_seconds == 3600
    ids = [parts.agent_gate.admit(written(), "", "").job_id for _ in range(8)]
    with pytest.raises(GroupFull):
        parts.agent_gate.check("", "")
    with pytest.raises(GroupFull):
        parts.agent_gate.admit(written(), "", "")
    assert parts.gate.admit(written(), "", "").queued is not None
    assert [parts.artifacts.holds(id) for id in ids] == [True] * 8
    parts.queue.cancel(ids[3])
    assert parts.agent_gate.admit(written(), "", "").queued is not None


@pytest.mark.parametrize(("seconds", "rest"), [("0", None), ("60", 60)])
def test_models_are_let_go_when_idle_and_at_the_end(
    tmp_path: Path, seconds: str, rest: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[Rest] = []
    unloaded: list[str] = []

    def worker(*given: object, rest: Rest, **more: object) -> None:
        rests.append(rest)

    monkeypatch.setattr(parts_module, "Worker", worker)
    environ = {"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_IDLE_UNLOAD_SECONDS": seconds}
    assemble(load(environ), LogRing(), unload=lambda: unloaded.append("models"))
    assert rests[0].after_seconds == rest
    rests[0].unload()
    assert unloaded == ["models"]
    knot: list[object] = []
    knot.append(knot)
    gc.freeze()
    knots = gc.get_freeze_count()
    del knot
    rests[0].tidy()
    assert gc.get_freeze_count() < knots
    gc.freeze()  # the tests that follow need not look at all that there is
