"""Connections that break around a tool's answer: the job goes on, and its key finds it again."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.agents.agent import ERAS, agent
from tests.agents.doubles import SAID, SONG, held, quick
from tests.agents.wire import MODERN, PATH, VERSIONS, Message, post, result_of, tool_call
from tests.clients.cutting_proxy import Cut, CuttingProxy
from tests.clients.held import Pause
from tests.clients.studio import Studio

pytestmark = pytest.mark.runtime
each_version = pytest.mark.parametrize("version", VERSIONS)
KEY = "one-song"


def asked(url: str, call: Message) -> httpx2.Response:
    """A call on a connection of its own."""
    with httpx2.Client(base_url=url, timeout=60, trust_env=False, verify=False) as http:
        return post(http, call)


def song(version: str) -> Message:
    """The call whose connection breaks."""
    return tool_call(version, "create_song", {**SONG, "idempotency_key": KEY})


def found_again(studio: Studio, version: str) -> str:
    """The id of the one job, as the same call finds it."""
    result = result_of(asked(studio.url, song(version)))
    assert result["isError"] is False
    told = result["structuredContent"]
    assert told["replayed"] is True
    assert studio.jobs == 1
    return str(told["job_id"])


@each_version
def test_before_the_job_is_accepted(tmp_path: Path, version: str) -> None:
    """What was received whole is done, whether or not its sender waits; its key says which it is."""
    before = Pause()
    with (
        quick(tmp_path) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        before,
    ):
        studio.agent_gate.pause = before
        made = pool.submit(asked, proxy.url, song(version))
        before.wait_until_reached()
        proxy.cut()
        assert isinstance(made.exception(), httpx2.TransportError)
        before.release()
        job_id = studio.agent_gate.wait_for(1)
        assert studio.finish(job_id)["status"] == "done"
        assert found_again(studio, version) == job_id


@each_version
def test_between_the_job_and_its_answer(tmp_path: Path, version: str) -> None:
    after = Pause()
    with quick(tmp_path) as studio, CuttingProxy(studio.port) as proxy, ThreadPoolExecutor() as pool, after:
        studio.agent_gate.pause_after = after
        made = pool.submit(asked, proxy.url, song(version))
        after.wait_until_reached()
        proxy.cut()
        assert isinstance(made.exception(), httpx2.TransportError)
        after.release()
        job_id = studio.agent_gate.wait_for(1)
        assert studio.finish(job_id)["status"] == "done"
        assert found_again(studio, version) == job_id


@pytest.mark.parametrize("received", [1, 40, 200])
def test_within_its_answer(tmp_path: Path, received: int) -> None:
    with quick(tmp_path) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(received=received))
        with pytest.raises(httpx2.TransportError):
            asked(proxy.url, song(MODERN))
        job_id = studio.agent_gate.wait_for(1)
        assert studio.finish(job_id)["status"] == "done"
        assert found_again(studio, MODERN) == job_id


@pytest.mark.parametrize("sent", [40, 400])
def test_within_the_request(tmp_path: Path, sent: int) -> None:
    """What did not arrive whole is nothing."""
    with quick(tmp_path) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(sent=sent))
        with pytest.raises(httpx2.TransportError):
            asked(proxy.url, song(MODERN))
        result = result_of(asked(studio.url, song(MODERN)))
        assert result["structuredContent"].get("replayed") is not True
        assert studio.jobs == 1


@pytest.mark.parametrize("mode", ERAS)
def test_the_clients_own_cancelling_of_a_request_leaves_the_job(tmp_path: Path, mode: str) -> None:
    """A legacy client says so in a notification, a modern one by closing its connection."""
    with held(tmp_path) as (studio, _, pause), ThreadPoolExecutor() as pool:
        job_id = studio.speak(SAID)
        pause.wait_until_reached()
        before = Pause()
        with before, agent(studio.url, mode) as leaving:
            studio.agent_gate.pause = before
            made = pool.submit(
                lambda: leaving.do(
                    leaving.client.call_tool,
                    "create_song",
                    {**SONG, "idempotency_key": KEY},
                    read_timeout_seconds=1,
                )
            )
            before.wait_until_reached()
            assert made.exception() is not None
            before.release()
            own = studio.agent_gate.wait_for(1)
            # A client that is closed just when the late answer comes stumbles over it, so it is let come first.
            studio.witness.wait(PATH, lambda seen: all(one.ended for one in seen))
            assert leaving.do(leaving.client.list_tools).tools
        pause.release()
        assert studio.finish(job_id)["status"] == "done"
        assert studio.finish(own)["status"] == "done"
        again = result_of(asked(studio.url, song(MODERN)))["structuredContent"]
        assert (again["job_id"], again["replayed"], again["state"]) == (own, True, "complete")


@pytest.mark.parametrize("mode", ERAS)
def test_a_key_with_another_request_is_told(tmp_path: Path, mode: str) -> None:
    with quick(tmp_path) as studio, agent(studio.url, mode) as caller:
        first = caller.told("create_song", **SONG, idempotency_key=KEY)
        again = caller.told("create_song", **SONG, idempotency_key=KEY)
        assert again["job_id"] == first["job_id"]
        told = caller.refused("create_song", **{**SONG, "style": "jazz"}, idempotency_key=KEY)
        assert told["code"] == "idempotency_mismatch"
