"""The life of the parts around the routes."""

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from server import app as app_module
from server.app import (
    admittance,
    begin_stop,
    build_app,
    draw_request_id,
    stop,
    sweep_for_ever,
    tell_of_an_early_end,
)
from server.calls.attendance import Attendance
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.settings import load
from storage.entry import Entry, EntryState
from tests.server.product import product


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())


def test_the_sweep_runs_every_thirty_seconds_and_outlives_a_failure(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    swept: list[int] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            raise asyncio.CancelledError

    def sweep() -> int:
        swept.append(1)
        if len(swept) == 1:
            raise OSError("a disk that stutters")
        return 0

    monkeypatch.setattr(parts.store, "sweep", sweep)
    with caplog.at_level(logging.ERROR), pytest.raises(asyncio.CancelledError):
        asyncio.run(sweep_for_ever(parts, pause))
    assert waits == [30.0] * 4
    assert len(swept) == 3
    assert "tried again" in caplog.text


def test_the_sweep_covers_what_agents_made_as_well(tmp_path: Path) -> None:
    now = [1000.0]
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing(), lambda: now[0])
    id = "0123456789abcdef"
    parts.artifacts.accept(Entry(id, EntryState.ACCEPTED, "", 1000.0))
    with parts.artifacts.stage(id) as staged:
        staged.write(b"sound")
        parts.artifacts.publish(staged, content_type="audio/mpeg", parts=(), detail={})
    body = tmp_path / "agent-artifacts" / f"{id}.body"
    assert body.read_bytes() == b"sound"
    now[0] += 3600
    asyncio.run(stop(parts))
    assert not body.exists()


def test_a_running_server_switches_threads_often_and_freezes_what_it_has_loaded(tmp_path: Path) -> None:
    with product(tmp_path) as running:
        assert running.client.get("/health").status_code == 200
        assert sys.getswitchinterval() == pytest.approx(0.001)
        assert gc.get_freeze_count() > 10_000


def test_stopping_twice_is_stopping_once_and_wakes_whoever_waits(parts: Parts) -> None:
    async def scene() -> bool:
        parts.watch.bind(asyncio.get_running_loop())
        with parts.watch.subscribe("some job") as woken:
            begin_stop(parts)
            begin_stop(parts)
            await asyncio.wait_for(woken.wait(), 5)
            return woken.is_set()

    assert asyncio.run(scene())
    assert parts.queue.snapshot().accepting is False


def test_a_task_that_ends_early_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise RuntimeError("unforeseen")

    async def scene() -> None:
        task = asyncio.create_task(fail())
        task.add_done_callback(tell_of_an_early_end)
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scene())
    assert "unforeseen" in caplog.text


def test_a_stop_writes_what_the_disk_refused_before(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []
    monkeypatch.setattr(parts.store, "sweep", lambda: swept.append(1))
    asyncio.run(stop(parts))
    assert swept == [1]


def test_after_a_stop_no_job_is_given_up_for_want_of_a_client(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up: list[str] = []
    due: list[Callable[[], None]] = []

    class Timer:
        def cancel(self) -> None:
            due.clear()

    def later(seconds: float, call: Callable[[], None]) -> Timer:
        due.append(call)
        return Timer()

    async def abandon(job_id: str, owner: str) -> None:
        given_up.append(job_id)

    async def scene() -> None:
        attendance = Attendance(abandon, later)
        attendance.expect("left alone", "")
        with attendance.attend("left alone"):
            pass
        assert len(due) == 1
        await stop(replace(parts, attendance=attendance))

    asyncio.run(scene())
    assert (due, given_up) == ([], [])


def test_a_full_disk_does_not_hold_up_the_stop(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(rates: object, folder: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(app_module, "save_rates", full)
    asyncio.run(stop(parts))
    assert "could not be kept" in caplog.text


def test_the_worker_is_gone_and_the_rates_are_kept_after_the_server(tmp_path: Path) -> None:
    with product(tmp_path) as running:
        running.made("/plan", style="folk")
        worker = running.parts.worker
        assert worker.alive
    assert not worker.alive
    assert (tmp_path / "state" / "rates.json").exists()


def test_request_ids_differ() -> None:
    assert draw_request_id() != draw_request_id()


def test_only_health_and_the_page_are_open_to_all(parts: Parts) -> None:
    public = admittance(parts.settings, parts.keys).public
    assert "/health" in public
    assert "/artifacts/some-token/song.mp3" in public
    assert not any(path in public for path in ("/artifacts", "/artifactsx/y", "/agent-artifacts/y"))
    assert not any(path in public for path in ("/synth", "/job", "/logs", "/props", "/metrics", "/status"))


def test_there_is_no_other_way_to_sign_in_than_a_key(tmp_path: Path) -> None:
    with product(tmp_path, {"YUE2_API_KEYS": "ann=annannannannannann"}) as closed:
        assert closed.client.post("/mcp", json={}).status_code == 401
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/openid-configuration"):
            assert closed.client.get(path).status_code == 404
        assert closed.client.post("/register", json={}).status_code == 404


def test_an_application_is_made_without_touching_the_interpreter(parts: Parts) -> None:
    before = sys.getswitchinterval()
    assert callable(build_app(parts, []))
    assert sys.getswitchinterval() == before
    assert app_module.SWEEP_SECONDS == 30.0
