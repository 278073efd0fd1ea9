"""The parts of one server, put together."""

import gc
from pathlib import Path

import pytest

from server import parts as parts_module
from server.jobs.errors import InputsFull
from server.jobs.worker import Rest
from server.log_ring import LogRing
from server.parts import assemble, draw_job_id
from server.settings import load
from storage.entry import ID_PATTERN, Entry, EntryState


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
