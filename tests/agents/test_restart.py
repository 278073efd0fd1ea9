"""A server that is killed and started again over the same folder: what its agents find then."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from tests.agents.agent import ERAS, Agent, agent, link, links, structured
from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
SHORT: Final = {"style": "folk", "lyrics": "[Verse]\nThe river runs", "duration": 5}
LONG: Final[dict[str, Any]] = {
    "style": "folk, 60 BPM",
    "lyrics": "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n" * 40,
    "duration": 480,
}
HOUR: Final = 3600
STOPPED_SECONDS: Final = 15.0
ENVIRON: Final = {"YUE2_API_KEYS": "one=the-key-of-one-0001"}
KEY: Final = {"Authorization": "Bearer the-key-of-one-0001"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where both servers keep what they have."""
    return tmp_path / "output"


def running(caller: Agent, server: ServerProcess, job_id: str) -> None:
    """Return once the job runs."""
    server.until(lambda: caller.told("job_status", job_id=job_id)["state"] == "generating")


@pytest.mark.parametrize("mode", ERAS)
def test_a_kill_interrupts_what_ran_and_keeps_what_was_done(folder: Path, mode: str) -> None:
    with ServerProcess(folder) as server, agent(server.url, mode) as caller:
        done = caller.made("create_song", **SHORT, idempotency_key="done")
        before = server.client.get(link(done).uri).content
        active = caller.told("create_song", **LONG, idempotency_key="active")["job_id"]
        waiting = caller.told("create_song", **SHORT)["job_id"]
        running(caller, server, active)
        server.stop(signal.SIGKILL)
    path = link(done).uri.removeprefix(server.url)
    with ServerProcess(folder) as server, agent(server.url, mode) as caller:
        for job_id in (active, waiting):
            told = caller.call("job_status", job_id=job_id)
            assert (structured(told)["state"], structured(told)["code"]) == (
                "failed",
                "interrupted_by_restart",
            )
            assert not links(told)
        again = caller.ended(structured(done)["job_id"])
        assert link(again).uri == f"{server.url}{path}"
        assert structured(again)["expires_at"] == structured(done)["expires_at"]
        assert server.client.get(path).content == before
        assert caller.told("create_song", **SHORT, idempotency_key="done")["replayed"] is True
        assert caller.made("create_song", **SHORT)
        assert server.status()["agents"]["pending"] == 0
        _expire(server, path)


def _expire(server: ServerProcess, path: str) -> None:
    """Let the hour pass, and another."""
    server.advance(HOUR + 1)
    gone = server.client.get(path)
    assert (gone.status_code, gone.json()["code"]) == (410, "expired")
    server.advance(HOUR + 1)
    assert server.client.get(path).status_code == 404


def test_the_hour_passes_while_the_server_is_down(folder: Path) -> None:
    """By a clock that went on: expiry is what the record says, not a timer."""
    with ServerProcess(folder, "--silent") as server, agent(server.url) as caller:
        path = link(caller.made("create_song", **SHORT)).uri.removeprefix(server.url)
        server.stop(signal.SIGKILL)
    with ServerProcess(folder, "--silent") as server:
        assert server.client.get(path).status_code == 200
        server.advance(HOUR + 1)
        assert server.client.get(path).status_code == 410
        server.stop(signal.SIGKILL)
    with ServerProcess(folder, "--silent", "--ahead", str(HOUR + 1)) as server:
        assert server.client.get(path).status_code == 410


def test_another_folders_secret_opens_nothing(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "one", "--silent") as server, agent(server.url) as caller:
        path = link(caller.made("create_song", **SHORT)).uri.removeprefix(server.url)
    with ServerProcess(tmp_path / "two", "--silent") as server:
        assert server.client.get(path).status_code == 404


def test_an_agent_goes_on_after_a_restart_at_the_same_place(folder: Path) -> None:
    """Nothing of the conversation is kept by the server, so nothing of it is lost."""
    with ServerProcess(folder, "--silent", environ=ENVIRON) as server:
        port = server.address[1]
        with agent(server.url, "legacy", KEY) as legacy, agent(server.url, headers=KEY) as modern:
            job_id = structured(legacy.made("create_song", **SHORT))["job_id"]
            server.stop(signal.SIGKILL)
            with ServerProcess(folder, "--silent", "--port", str(port), environ=ENVIRON):
                for caller in (legacy, modern):
                    assert link(caller.ended(job_id))
                    assert caller.made("create_song", **SHORT)


@pytest.mark.parametrize("mode", ERAS)
def test_a_server_that_is_told_to_stop_waits_for_no_agent(folder: Path, mode: str) -> None:
    """What ran is interrupted or cancelled, whoever waits is let go, and the end is soon and orderly."""
    with (
        ServerProcess(folder) as server,
        agent(server.url, mode) as caller,
        ThreadPoolExecutor(1) as pool,
    ):
        job_id = caller.told("create_song", **LONG)["job_id"]
        running(caller, server, job_id)
        waited = pool.submit(caller.call, "job_status", job_id=job_id, wait_seconds=45)
        assert caller.told("server_status")["agents"]["pending"] == 1
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < STOPPED_SECONDS
        assert waited.exception(STOPPED_SECONDS) or structured(waited.result())["state"] != "complete"
    with ServerProcess(folder) as server, agent(server.url, mode) as caller:
        assert caller.told("job_status", job_id=job_id)["state"] in ("failed", "cancelled")
