"""job_status's wait: as long as asked, no longer than the job, and its place is free when the client leaves."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.limits import WAITS
from tests.agents.agent import ERAS, agent, structured
from tests.agents.doubles import SAID, held
from tests.agents.wire import MODERN, VERSIONS, tool_call
from tests.clients.held import PATIENCE_SECONDS
from tests.clients.studio import Studio

pytestmark = pytest.mark.runtime
each_era = pytest.mark.parametrize("mode", ERAS)


def until_waiting(studio: Studio, number: int) -> None:
    """Return once so many wait; each look is a request, so no pause is needed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while studio.parts.limits.waits.held != number:
        assert time.monotonic() < deadline, f"{studio.parts.limits.waits.held} wait, not {number}"
        studio.native.get("/health")


@each_era
def test_a_wait_ends_with_the_job(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode) as (studio, caller, pause), ThreadPoolExecutor() as pool:
        job_id = caller.told("speak", text=SAID)["job_id"]
        pause.wait_until_reached()
        waited = pool.submit(caller.call, "job_status", job_id=job_id, wait_seconds=45)
        until_waiting(studio, 1)
        pause.release()
        assert structured(waited.result(PATIENCE_SECONDS))["state"] == "complete"
        until_waiting(studio, 0)


@each_era
def test_a_wait_ends_with_its_time(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode) as (_, caller, pause):
        job_id = caller.told("speak", text=SAID)["job_id"]
        pause.wait_until_reached()
        began = time.monotonic()
        assert caller.told("job_status", job_id=job_id, wait_seconds=1)["state"] == "generating"
        assert 0.9 < time.monotonic() - began < PATIENCE_SECONDS


@each_era
@pytest.mark.parametrize("wait", [-1, -3600])
def test_a_wait_beyond_its_bounds_is_refused(tmp_path: Path, mode: str, wait: int) -> None:
    with held(tmp_path, mode) as (_, caller, pause):
        job_id = caller.told("speak", text=SAID)["job_id"]
        told = caller.refused("job_status", job_id=job_id, wait_seconds=wait)
        assert (told["code"], told["field"]) == ("invalid_field", "wait_seconds")
        pause.release()


@pytest.mark.parametrize("version", VERSIONS)
def test_who_leaves_frees_the_place(tmp_path: Path, version: str) -> None:
    """The connection is closed within the wait."""
    with held(tmp_path) as (studio, caller, pause):
        job_id = caller.told("speak", text=SAID)["job_id"]
        pause.wait_until_reached()
        call = tool_call(version, "job_status", {"job_id": job_id, "wait_seconds": 45})
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", studio.port)) as connection:
                connection.sendall(call.raw())
                until_waiting(studio, 1)
            until_waiting(studio, 0)
        pause.release()
        assert structured(caller.ended(job_id))["state"] == "complete"


@each_era
def test_a_client_that_stops_waiting_frees_the_place(tmp_path: Path, mode: str) -> None:
    """The SDK's own way to leave: its time limit, which ends the request."""
    with held(tmp_path, mode) as (studio, caller, pause), ThreadPoolExecutor() as pool:
        job_id = caller.told("speak", text=SAID)["job_id"]
        pause.wait_until_reached()
        with agent(studio.url, mode) as leaving:
            waited = pool.submit(
                lambda: leaving.do(
                    leaving.client.call_tool,
                    "job_status",
                    {"job_id": job_id, "wait_seconds": 45},
                    read_timeout_seconds=0.5,
                )
            )
            until_waiting(studio, 1)
            assert waited.exception(PATIENCE_SECONDS) is not None
        until_waiting(studio, 0)
        pause.release()


def test_where_all_places_are_taken_the_answer_comes_at_once(tmp_path: Path) -> None:
    with held(tmp_path) as (studio, caller, pause):
        job_id = caller.told("speak", text=SAID)["job_id"]
        pause.wait_until_reached()
        with ExitStack() as taken:
            for _ in range(WAITS):
                taken.enter_context(studio.parts.limits.waits.slot())
            began = time.monotonic()
            told = caller.told("job_status", job_id=job_id, wait_seconds=45)
            assert time.monotonic() - began < PATIENCE_SECONDS
            assert told["state"] == "generating"
        pause.release()


def test_eight_wait_and_all_hear_of_it(tmp_path: Path) -> None:
    with held(tmp_path) as (studio, caller, pause), ThreadPoolExecutor(8) as pool:
        made = [caller.told("speak", text=f"{SAID} {number}")["job_id"] for number in range(8)]
        pause.wait_until_reached()

        def wait(job_id: str) -> str:
            with agent(studio.url, MODERN) as own:
                return str(structured(own.ended(job_id))["state"])

        waited = [pool.submit(wait, job_id) for job_id in made]
        until_waiting(studio, 8)
        pause.release()
        assert {one.result(PATIENCE_SECONDS) for one in waited} == {"complete"}
