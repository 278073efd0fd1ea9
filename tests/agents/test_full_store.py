"""A hundred and twenty-eight files, then no more: what an agent is told, and how room comes again."""

from pathlib import Path

import pytest

from server.agents.artifacts import ARTIFACT_SECONDS, MAX_ARTIFACTS
from storage.entry import Entry, EntryState, Part
from storage.store import ResultStore
from tests.agents.agent import ERAS, agent, link
from tests.agents.doubles import SAID, quick
from tests.server.server_check import MovableClock

pytestmark = pytest.mark.runtime


def publish(store: ResultStore, number: int, created_at: float) -> None:
    """One small file, as a job would leave it."""
    entry = store.accept(Entry(f"{number:016x}", EntryState.ACCEPTED, "", created_at))
    with store.stage(entry.id) as staged:
        staged.write(b"file")
        store.publish(
            staged,
            content_type="text/plain",
            parts=[Part("abc", 0, "text/plain", 0, 4, 0.0, "score.abc")],
            detail={},
        )


@pytest.mark.parametrize("mode", ERAS)
def test_a_full_store_refuses_until_something_expires(tmp_path: Path, mode: str) -> None:
    clock = MovableClock()
    with quick(tmp_path, clock=clock) as studio, agent(studio.url, mode) as caller:
        for number in range(MAX_ARTIFACTS - 1):
            publish(studio.parts.artifacts, number, clock())
        last = caller.made("speak", text=SAID)
        told = caller.refused("speak", text=SAID)
        assert told["code"] == "result_store_full"
        assert "YUE2_RESULT" not in told["message"]
        assert "hour" in told["message"]
        assert studio.finish(studio.speak(SAID))["status"] == "done"
        assert studio.native.get(link(last).uri).status_code == 200
        clock.ahead += ARTIFACT_SECONDS + 1
        studio.parts.artifacts.sweep()
        assert link(caller.made("speak", text=SAID)).uri != link(last).uri


def test_there_are_a_hundred_and_twenty_eight_files_of_two_gibibytes(tmp_path: Path) -> None:
    with quick(tmp_path) as studio:
        told = studio.native.get("/status").json()["agents"]
        assert (told["limit_files"], told["limit_bytes"], told["ttl_seconds"]) == (128, 2 << 30, 3600)
