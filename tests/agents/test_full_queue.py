"""Eight places for agents inside those for all: who is refused, and how a refusal looks on the wire."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests.agents.agent import ERAS, Agent
from tests.agents.doubles import SAID, SONG, empty, held
from tests.agents.wire import MODERN, VERSIONS, post, result_of, tool_call
from tests.clients.held import Pause

pytestmark = pytest.mark.runtime
each_era = pytest.mark.parametrize("mode", ERAS)
CREATING: Final[Mapping[str, Mapping[str, Any]]] = {
    "create_song": SONG,
    "plan_score": {"style": "folk", "lyrics": "[Verse]\nThe river runs"},
    "preview_score": {"abc": "X:1\nM:4/4\nL:1/4\nK:C\nCDEF|GABc|"},
    "speak": {"text": SAID},
}


def fill(caller: Agent, pause: Pause, number: int) -> list[str]:
    """So many jobs of agents, the first of which is held."""
    made = [caller.told("speak", text=SAID)["job_id"] for _ in range(number)]
    pause.wait_until_reached()
    return made


@each_era
def test_the_ninth_job_of_agents_is_refused_where_the_queue_has_room(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode, queue_limit="12") as (studio, caller, pause):
        made = fill(caller, pause, 8)
        told = caller.refused("speak", text=SAID)
        assert (told["code"], told["retry_after_seconds"], told["limit"]) == ("queue_full", 5, 8)
        assert studio.job(studio.speak(SAID))["queue_position"] == 8
        caller.told("cancel_job", job_id=made[-1])
        assert caller.told("speak", text=SAID)["queue_position"] == 8
        pause.release()
        empty(studio)


@each_era
def test_native_jobs_take_agents_places(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode, queue_limit="3") as (studio, caller, pause):
        native = [studio.speak(SAID) for _ in range(3)]
        pause.wait_until_reached()
        told = caller.refused("create_song", **SONG)
        assert (told["code"], told["retry_after_seconds"], told["limit"]) == ("queue_full", 5, 3)
        assert caller.told("job_status", job_id=native[2])["queue_position"] == 2
        pause.release()
        empty(studio)
        assert caller.told("create_song", **SONG)["job_id"]


@each_era
def test_agents_jobs_take_native_places(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode, queue_limit="8") as (studio, caller, pause):
        fill(caller, pause, 8)
        answer = studio.native.post("/speech", json={"text": SAID})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
        assert answer.json()["code"] == "queue_full"
        pause.release()
        empty(studio)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_creating_tool_is_refused_with_the_header_and_whole_framing(
    tmp_path: Path, version: str
) -> None:
    with held(tmp_path, queue_limit="12") as (studio, caller, pause):
        made = fill(caller, pause, 8)
        for tool, arguments in CREATING.items():
            answer = post(studio.native, tool_call(version, tool, arguments))
            result = result_of(answer)
            assert answer.headers["retry-after"] == "5"
            assert result["isError"] is True
            told = result["structuredContent"]
            assert (told["code"], told["retry_after_seconds"]) == ("queue_full", 5)
            assert result["content"][0]["type"] == "text"
            assert ("resultType" in result) == (version == MODERN)
        quiet = post(studio.native, tool_call(version, "job_status", {"job_id": made[0]}))
        assert result_of(quiet)["isError"] is False
        assert "retry-after" not in quiet.headers
        pause.release()
        empty(studio)


def test_a_refusal_is_counted_once_and_leaves_nothing(tmp_path: Path) -> None:
    with held(tmp_path, queue_limit="12") as (studio, caller, pause):
        fill(caller, pause, 8)
        before = studio.parts.artifacts.usage()
        caller.refused("speak", text=SAID, idempotency_key="again")
        assert studio.parts.queue.snapshot().rejected == 1
        assert studio.parts.artifacts.usage() == before
        pause.release()
        empty(studio)
        assert caller.told("speak", text=SAID, idempotency_key="again").get("replayed") is not True


def test_forty_at_one_moment_take_the_eight_places(tmp_path: Path) -> None:
    """Whoever comes first; every other is refused as one is."""
    with held(tmp_path, queue_limit="12") as (studio, _, pause), ThreadPoolExecutor(40) as pool:
        call = tool_call(MODERN, "speak", {"text": SAID})

        def ask(_: int) -> httpx2.Response:
            with httpx2.Client(base_url=studio.url, timeout=60, trust_env=False, verify=False) as http:
                return post(http, call)

        answers = list(pool.map(ask, range(40)))
        refused = [one for one in answers if result_of(one)["isError"]]
        assert len(refused) == 32
        assert {one.headers["retry-after"] for one in refused} == {"5"}
        assert len(studio.agent_gate.accepted) == 8
        pause.release()
        empty(studio)


def test_forty_with_one_key_are_one_job(tmp_path: Path) -> None:
    with held(tmp_path, queue_limit="12") as (studio, _, pause), ThreadPoolExecutor(40) as pool:
        call = tool_call(MODERN, "speak", {"text": SAID, "idempotency_key": "the-same"})

        def ask(_: int) -> httpx2.Response:
            with httpx2.Client(base_url=studio.url, timeout=60, trust_env=False, verify=False) as http:
                return post(http, call)

        told = [result_of(one)["structuredContent"] for one in pool.map(ask, range(40))]
        accepted = [one for one in told if "job_id" in one]
        assert {one["job_id"] for one in accepted} == set(studio.agent_gate.accepted)
        assert len(studio.agent_gate.accepted) == 1
        assert sum(one.get("replayed") is not True for one in accepted) == 1
        assert {one["code"] for one in told if "job_id" not in one} <= {"too_many_streams"}
        pause.release()
        empty(studio)
