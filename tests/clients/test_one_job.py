"""However an answer goes, the clients make exactly one job of a call."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import openai
import pytest

from tests.clients.heard import hear
from tests.clients.held import HeldSpeech, Pause
from tests.clients.speaking import BLOCKER, CALLS, SECONDS, SPEECH, TWO, Call, again, speak, speaking

pytestmark = pytest.mark.runtime
IMPATIENT = httpx2.Timeout(10.0, read=0.4)
each_client = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


def test_the_ninth_synchronous_call_is_refused_and_makes_no_job(tmp_path: Path) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({0: pause}), queue_limit="16") as studio,
        ThreadPoolExecutor(8) as pool,
        pause,
    ):
        calls = [pool.submit(speak, studio.url, f"Call {number}.") for number in range(8)]
        studio.gate.wait_for(8)
        with pytest.raises(openai.RateLimitError) as refused:
            speak(studio.url, "One more.", max_retries=0)
        assert refused.value.response.headers["retry-after"] == "5"
        assert refused.value.type == "rate_limit_error"
        assert studio.native.get("/health").status_code == 200
        assert studio.jobs == 8
        pause.release()
        assert all(hear(made.result()).seconds == pytest.approx(0.5, abs=0.01) for made in calls)
        assert studio.jobs == 8


@each_client
def test_a_passed_deadline_is_not_tried_again_and_tells_the_job(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({0: pause}), sync_deadline_seconds="1") as studio,
        pause,
    ):
        with pytest.raises(openai.InternalServerError) as late:
            call(studio.url)
        error = late.value
        assert (error.status_code, error.code, error.type) == (504, "deadline_exceeded", "server_error")
        job_id = error.response.headers["x-yue2-job-id"]
        assert error.response.json()["job_id"] == job_id == studio.gate.accepted[0]
        assert error.response.headers["x-should-retry"] == "false"
        assert len(studio.witness.posts(SPEECH)) == 1
        assert studio.job(job_id)["status"] == "running"
        pause.release()
        assert studio.finish(job_id)["status"] == "done"
        assert hear(studio.result(job_id)).seconds == pytest.approx(SECONDS, abs=0.01)
        assert studio.jobs == 1


@each_client
def test_the_clients_own_patience_ends_before_the_client_does(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with speaking(tmp_path, HeldSpeech({0: pause})) as studio, pause:
        with pytest.raises(openai.InternalServerError) as late:
            call(studio.url, timeout=2.0)
        assert late.value.code == "deadline_exceeded"
        assert [one.attempt for one in studio.witness.posts(SPEECH)] == ["0"]
        pause.release()
        assert studio.finish(studio.gate.wait_for(1))["status"] == "done"
        assert studio.jobs == 1


@each_client
def test_a_full_store_is_not_tried_again(tmp_path: Path, call: Call) -> None:
    with speaking(tmp_path, HeldSpeech(), result_max_files="1") as studio:
        assert studio.finish(studio.speak(BLOCKER))["status"] == "done"
        with pytest.raises(openai.InternalServerError) as full:
            call(studio.url)
        assert (full.value.status_code, full.value.code) == (507, "result_store_full")
        assert full.value.response.headers["x-should-retry"] == "false"
        assert len(studio.witness.posts(SPEECH)) == 1
        assert studio.jobs == 1


@each_client
def test_a_client_that_loses_patience_finds_its_job_again(tmp_path: Path, call: Call) -> None:
    """It announces a longer time than it takes, as one behind an impatient proxy does."""
    pause = Pause()
    with speaking(tmp_path, HeldSpeech({0: pause})) as studio, ThreadPoolExecutor() as pool, pause:
        made = pool.submit(call, studio.url, headers={"x-stainless-read-timeout": "600"}, timeout=IMPATIENT)
        studio.witness.wait(SPEECH, lambda seen: len(seen) == 2 and seen[0].ended)
        pause.release()
        assert hear(made.result()).seconds == pytest.approx(SECONDS, abs=0.01)
        assert [one.attempt for one in studio.witness.posts(SPEECH)][:2] == ["0", "1"]
        assert studio.jobs == 1


def test_a_known_key_is_answered_with_its_job(tmp_path: Path) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio:
        key = {"Idempotency-Key": "one-and-the-same"}
        first, again = speak(studio.url, headers=key), speak(studio.url, headers=key)
        assert first == again
        assert studio.jobs == 1
        with pytest.raises(openai.UnprocessableEntityError) as other:
            speak(studio.url, "Another text.", headers=key, max_retries=0)
        assert other.value.code == "idempotency_mismatch"
        assert studio.jobs == 1


def test_a_call_that_is_made_anew_makes_a_job_of_its_own(tmp_path: Path) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio:
        assert hear(speak(studio.url)).seconds == hear(speak(studio.url)).seconds
        assert studio.jobs == 2


def test_the_same_call_with_another_key_is_another_call(tmp_path: Path) -> None:
    one, other = "0123456789abcdef", "fedcba9876543210"
    with speaking(tmp_path, HeldSpeech(), api_keys=f"one={one},other={other}") as studio:
        for key in (one, other):
            with openai.OpenAI(base_url=f"{studio.url}/v1", api_key=key) as client:
                made = client.audio.speech.with_raw_response.create(
                    model="tts-1",
                    voice="alloy",
                    input=TWO,
                    extra_headers={"x-stainless-retry-count": "1"},
                )
                assert made.headers["x-yue2-job-id"] == studio.gate.accepted[-1]
        assert studio.jobs == 2


@each_client
def test_a_failed_job_is_not_tried_again(tmp_path: Path, call: Call) -> None:
    class Breaking(HeldSpeech):
        def _stop_before(self, number: int) -> None:
            raise MemoryError

    with speaking(tmp_path, Breaking()) as studio:
        with pytest.raises(openai.APIStatusError) as failed:
            call(studio.url)
        job_id = studio.gate.wait_for(1)
        job = studio.finish(job_id)
        assert (job["status"], job["code"]) == ("failed", failed.value.code)
        assert failed.value.response.headers["x-yue2-job-id"] == job_id
        assert failed.value.response.headers["x-should-retry"] == "false"
        assert len(studio.witness.posts(SPEECH)) == 1
        retried = again(studio)
        assert (retried.status_code, retried.json()["error"]["code"]) == (
            failed.value.status_code,
            job["code"],
        )
        assert retried.headers["x-yue2-job-id"] == job_id
        assert studio.jobs == 1


@each_client
def test_a_job_that_somebody_cancels_is_not_tried_again(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with speaking(tmp_path, HeldSpeech({0: pause})) as studio, ThreadPoolExecutor() as pool, pause:
        made = pool.submit(call, studio.url)
        job_id = studio.gate.wait_for(1)
        pause.wait_until_reached()
        assert studio.native.post("/job", params={"id": job_id, "cancel": 1}).status_code == 200
        pause.release()
        with pytest.raises(openai.APIStatusError) as cancelled:
            made.result()
        assert cancelled.value.code == "cancelled"
        assert len(studio.witness.posts(SPEECH)) == 1
        assert studio.jobs == 1
