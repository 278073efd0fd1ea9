"""A job whose client has gone for good is given up after 20 s, unless somebody comes for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import openai
import pytest

from tests.clients.cutting_proxy import CuttingProxy
from tests.clients.heard import hear
from tests.clients.held import PATIENCE_SECONDS, HeldSpeech, Pause
from tests.clients.speaking import BLOCKER, SECONDS, SPEECH, again, speak, speaking
from tests.clients.studio import SetTimer, Studio, Timers

pytestmark = pytest.mark.runtime


@dataclass(frozen=True, slots=True)
class Left:
    """A server after the only client of a call has gone, the job of that call, and the time that runs for it."""

    studio: Studio
    pause: Pause
    job_id: str
    timer: SetTimer


@contextmanager
def left_alone(folder: Path, *, waiting: bool = False) -> Iterator[Left]:
    """Have a client call and go, while its job runs, or waits behind another."""
    timers, pause = Timers(), Pause()
    with (
        speaking(folder, HeldSpeech({0: pause}), timers.later) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        if waiting:
            studio.speak(BLOCKER)
        call = pool.submit(speak, proxy.url, max_retries=0)
        job_id = studio.gate.wait_for(2 if waiting else 1)
        pause.wait_until_reached()
        proxy.cut()
        with pytest.raises(openai.APIConnectionError):
            call.result()
        timer = timers.set.get(timeout=PATIENCE_SECONDS)
        assert timer.seconds == 20
        yield Left(studio, pause, job_id, timer)


@pytest.mark.parametrize("waiting", [False, True], ids=["running", "waiting"])
def test_a_job_that_nobody_comes_for_is_cancelled(tmp_path: Path, *, waiting: bool) -> None:
    with left_alone(tmp_path, waiting=waiting) as left:
        left.timer.elapse()
        if not waiting:
            left.pause.release()
        assert left.studio.finish(left.job_id)["status"] == "cancelled"
        left.pause.release()
        jobs = left.studio.jobs
        retried = again(left.studio)
        assert hear(retried.content).seconds == pytest.approx(SECONDS, abs=0.01)
        assert retried.headers["x-yue2-job-id"] != left.job_id
        assert left.studio.jobs == jobs + 1


def test_a_job_whose_handle_is_used_goes_on(tmp_path: Path) -> None:
    with left_alone(tmp_path) as left:
        assert left.studio.job(left.job_id)["status"] == "running"
        assert left.timer.taken_back.wait(PATIENCE_SECONDS)
        left.pause.release()
        assert left.studio.finish(left.job_id)["status"] == "done"
        assert hear(left.studio.result(left.job_id)).seconds == pytest.approx(SECONDS, abs=0.01)


def test_a_job_whose_client_comes_back_goes_on(tmp_path: Path) -> None:
    with left_alone(tmp_path) as left, ThreadPoolExecutor() as pool:
        retried = pool.submit(again, left.studio)
        assert left.timer.taken_back.wait(PATIENCE_SECONDS)
        left.pause.release()
        assert hear(retried.result().content).seconds == pytest.approx(SECONDS, abs=0.01)
        assert retried.result().headers["x-yue2-job-id"] == left.job_id
        assert [one.attempt for one in left.studio.witness.posts(SPEECH)] == ["0", "1"]
        assert left.studio.jobs == 1


def test_a_job_whose_client_was_told_of_it_goes_on(tmp_path: Path) -> None:
    timers, pause = Timers(), Pause()
    with speaking(tmp_path, HeldSpeech({0: pause}), timers.later, sync_deadline_seconds="1") as studio, pause:
        with pytest.raises(openai.InternalServerError) as late:
            speak(studio.url)
        studio.witness.wait(SPEECH, lambda seen: seen[0].ended)
        assert timers.set.empty()
        pause.release()
        assert studio.finish(late.value.response.headers["x-yue2-job-id"])["status"] == "done"
