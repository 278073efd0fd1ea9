"""ElevenLabs' client sends each song's request once, and is told what it needs to come back for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from elevenlabs.client import ElevenLabs
from elevenlabs.core import ApiError

from engine.catalogue import Catalogue
from engine.control import Control
from engine.request import SongRequest
from engine.song_model import Latents, Track
from tests.clients.cutting_proxy import Cut, CuttingProxy
from tests.clients.heard import hear
from tests.clients.held import PATIENCE_SECONDS, Pause
from tests.clients.studio import Studio, Timers, serving
from tests.server.server_check import SilentModel

pytestmark = pytest.mark.runtime
MUSIC = "/v1/music"


class HeldBand(SilentModel):
    """A band that plays a second of silence, once it is let go on."""

    def __init__(self, pause: Pause) -> None:
        super().__init__()
        self._pause = pause

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """As the silent one does, after the pause."""
        self._pause()
        control.check_cancelled()
        return super().generate(request, control, latents)


@contextmanager
def playing(folder: Path, timers: Timers | None = None, **settings: str) -> Iterator[tuple[Studio, Pause]]:
    """A server with that band, held."""
    environ = {f"YUE2_{name.upper()}": value for name, value in settings.items()}
    pause, kept = Pause(), timers or Timers()
    with serving(folder, Catalogue(HeldBand(pause)), environ, kept.later) as studio, pause:
        yield studio, pause


def compose(url: str) -> bytes:
    """A song of three seconds or more."""
    with httpx.Client(timeout=20) as http:
        client = ElevenLabs(base_url=url, api_key="none", httpx_client=http)
        return b"".join(client.music.compose(prompt="calm piano", music_length_ms=3000))


def refusal_of(url: str) -> ApiError:
    """What a call is refused with."""
    with pytest.raises(ApiError) as refused:
        compose(url)
    return refused.value


def check_told(error: ApiError, status: int, code: str) -> None:
    """That the refusal is in their form."""
    assert isinstance(error.body, dict)
    assert (error.status_code, error.body["detail"]["code"]) == (status, code)
    assert error.body["detail"].keys() >= {"type", "status", "message", "request_id", "param"}


def test_a_full_queue_makes_no_job(tmp_path: Path) -> None:
    with playing(tmp_path, queue_limit="1") as (studio, pause), ThreadPoolExecutor() as pool:
        made = pool.submit(compose, studio.url)
        pause.wait_until_reached()
        check_told(refusal_of(studio.url), 429, "queue_full")
        assert studio.jobs == 1
        pause.release()
        assert hear(made.result()).seconds == pytest.approx(1, abs=0.1)
        assert [one.status for one in studio.witness.posts(MUSIC)] == [200, 429]


def test_a_full_store_makes_no_job(tmp_path: Path) -> None:
    with playing(tmp_path, result_max_files="1") as (studio, pause):
        pause.release()
        compose(studio.url)
        check_told(refusal_of(studio.url), 507, "result_store_full")
        assert studio.jobs == 1
        assert len(studio.witness.posts(MUSIC)) == 2


def test_a_passed_deadline_tells_the_job(tmp_path: Path) -> None:
    with playing(tmp_path, sync_deadline_seconds="1") as (studio, pause):
        late = refusal_of(studio.url)
        check_told(late, 504, "deadline_exceeded")
        job_id = studio.gate.wait_for(1)
        assert (late.headers or {})["x-yue2-job-id"] == late.body["job_id"] == job_id
        pause.release()
        assert studio.finish(job_id)["status"] == "done"
        assert hear(studio.track(job_id)).seconds == pytest.approx(1, abs=0.1)
        assert studio.jobs == len(studio.witness.posts(MUSIC)) == 1


def test_a_client_that_has_gone_gives_its_song_up(tmp_path: Path) -> None:
    timers = Timers()
    with (
        playing(tmp_path, timers) as (studio, pause),
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
    ):
        made = pool.submit(compose, proxy.url)
        pause.wait_until_reached()
        proxy.cut()
        with pytest.raises(httpx.TransportError):
            made.result()
        timer = timers.set.get(timeout=PATIENCE_SECONDS)
        assert timer.seconds == 20
        timer.elapse()
        pause.release()
        assert studio.finish(studio.gate.wait_for(1))["status"] == "cancelled"
        assert studio.jobs == len(studio.witness.posts(MUSIC)) == 1


def test_a_broken_download_leaves_the_song_to_be_fetched(tmp_path: Path) -> None:
    with playing(tmp_path) as (studio, pause), CuttingProxy(studio.port) as proxy:
        pause.release()
        proxy.plan(Cut(received=3000))
        with pytest.raises(httpx.TransportError):
            compose(proxy.url)
        job_id = studio.gate.wait_for(1)
        assert studio.finish(job_id)["status"] == "done"
        assert hear(studio.track(job_id)).seconds == pytest.approx(1, abs=0.1)
        assert studio.jobs == len(studio.witness.posts(MUSIC)) == 1


def test_a_key_is_asked_for_and_taken(tmp_path: Path) -> None:
    key = "0123456789abcdef"
    with playing(tmp_path, api_keys=f"me={key}") as (studio, pause), httpx.Client(timeout=20) as http:
        pause.release()
        check_told(refusal_of(studio.url), 401, "invalid_api_key")
        client = ElevenLabs(base_url=studio.url, api_key=key, httpx_client=http)
        assert hear(b"".join(client.music.compose(prompt="calm piano", music_length_ms=3000))).seconds > 0.9
        assert client.music.composition_plan.create(prompt="calm piano", music_length_ms=6000)
        assert studio.jobs == 1
