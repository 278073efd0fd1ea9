"""What agents are told of a job from its beginning to its end, in both eras."""

from pathlib import Path

import pytest

from tests.agents.agent import ERAS, agent, link, links, sentence, structured
from tests.agents.doubles import SAID, held, quick
from tests.clients.held import HeldSpeech

pytestmark = pytest.mark.runtime
each_era = pytest.mark.parametrize("mode", ERAS)


@each_era
def test_jobs_move_up_until_each_is_complete(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode) as (_, caller, pause):
        made = [caller.told("speak", text=f"{SAID} {number}") for number in range(3)]
        pause.wait_until_reached()
        now = [caller.told("job_status", job_id=one["job_id"]) for one in made]
        assert [one["state"] for one in now] == ["generating", "queued", "queued"]
        assert [one["queue_position"] for one in now[1:]] == [1, 2]
        assert {one["operation"] for one in now} == {"speech"}
        pause.release()
        for one in made:
            told = structured(caller.ended(one["job_id"]))
            assert told["state"] == "complete"
            assert told["job_id"] == one["job_id"]


@each_era
def test_what_is_queued_tells_what_to_do_next(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode) as (_, caller, pause):
        caller.told("speak", text=SAID)
        pause.wait_until_reached()
        answer = caller.call("speak", text=SAID, title="Second")
        told = structured(answer)
        assert told["state"] == "queued"
        assert told["queue_position"] == 1
        assert {"job_id", "eta_seconds", "notes"} <= told.keys()
        assert "job_status" in sentence(answer)
        assert told["job_id"] in sentence(answer)
        assert not links(answer)
        waiting = caller.call("job_status", job_id=told["job_id"])
        assert not links(waiting)
        assert "job_status" in sentence(waiting)


@each_era
def test_a_complete_job_has_one_link(tmp_path: Path, mode: str) -> None:
    with quick(tmp_path) as studio, agent(studio.url, mode) as caller:
        answer = caller.made("speak", text=SAID, title="Counting up!", output_format="wav16")
        told, given = structured(answer), link(answer)
        assert given.uri == told["url"]
        assert given.uri.startswith(f"{studio.url}/artifacts/")
        assert given.name == told["file_name"] == given.uri.rpartition("/")[2]
        assert given.name.endswith(".wav")
        assert given.mime_type == told["mime_type"] == "audio/wav"
        assert given.size == told["size_bytes"] == len(studio.native.get(given.uri).content)
        assert told["seconds"] == pytest.approx(1.0, abs=0.01)
        assert told["expires_at"].endswith(("Z", "+00:00"))
        assert told["job_id"] not in given.uri


@each_era
def test_a_queued_and_a_running_job_are_cancelled(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode) as (studio, caller, pause):
        running, queued = (caller.told("speak", text=SAID)["job_id"] for _ in range(2))
        pause.wait_until_reached()
        told = caller.told("cancel_job", job_id=queued)
        assert (told["job_id"], told["state"]) == (queued, "cancelled")
        caller.told("cancel_job", job_id=running)
        pause.release()
        for job_id in (running, queued):
            answer = caller.ended(job_id)
            assert structured(answer)["state"] == "cancelled"
            assert not links(answer)
            assert studio.job(job_id)["status"] == "cancelled"


@each_era
def test_a_job_that_ended_stays_as_it_is(tmp_path: Path, mode: str) -> None:
    with quick(tmp_path) as studio, agent(studio.url, mode) as caller:
        job_id = structured(caller.made("speak", text=SAID))["job_id"]
        assert caller.told("cancel_job", job_id=job_id)["state"] == "complete"
        assert link(caller.ended(job_id)).uri


class Breaking(HeldSpeech):
    """A speaker that cannot."""

    def _stop_before(self, number: int) -> None:
        raise RuntimeError("the voice broke")


@each_era
def test_a_failed_job_is_no_refused_call(tmp_path: Path, mode: str) -> None:
    with quick(tmp_path, Breaking()) as studio, agent(studio.url, mode) as caller:
        answer = caller.ended(caller.told("speak", text=SAID)["job_id"])
        told = structured(answer)
        assert told["state"] == "failed"
        assert told["code"] == "engine_error"
        assert "RuntimeError" in told["error"]
        assert not links(answer)


@each_era
def test_an_agents_job_and_a_native_one_know_each_other(tmp_path: Path, mode: str) -> None:
    """One queue: positions count both, and each interface tells of the other's jobs."""
    with held(tmp_path, mode) as (studio, caller, pause):
        native = studio.speak(SAID)
        pause.wait_until_reached()
        own = caller.told("speak", text=SAID)["job_id"]
        later = studio.speak(SAID)
        assert caller.told("job_status", job_id=own)["queue_position"] == 1
        assert studio.job(later)["queue_position"] == 2
        assert caller.told("job_status", job_id=native)["state"] == "generating"
        assert studio.job(own)["status"] == "queued"
        pause.release()
        assert studio.finish(own)["status"] == "done"
        answer = caller.ended(native)
        assert structured(answer)["state"] == "complete"
        assert not links(answer)
        assert f"/job?id={native}" in sentence(answer)
