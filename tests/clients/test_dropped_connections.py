"""Wherever the connection of a call breaks, its client tries again and finds the one job there is."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx2
import numpy as np
import openai
import pytest

from engine.catalogue import Catalogue
from tests.clients.cutting_proxy import Cut, CuttingProxy
from tests.clients.heard import Heard, as_wav, hear
from tests.clients.held import HeldSpeech, Pause
from tests.clients.speaking import (
    BLOCKER,
    CALLS,
    SECONDS,
    SPEECH,
    TWO,
    Call,
    speak,
    speak_asynchronously,
    speaking,
)
from tests.clients.studio import Studio, serving
from tests.server.sound_doubles import TranscriptionDouble

pytestmark = pytest.mark.runtime
each_client = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
# Where it is the server alone that differs, the clients take turns.
synchronous = pytest.mark.parametrize("call", [speak], ids=["synchronous"])
asynchronous = pytest.mark.parametrize("call", [speak_asynchronously], ids=["asynchronous"])
HEARD = "/v1/audio/transcriptions"
FILE = as_wav(Heard("", "", 48_000, np.zeros((500_000, 1)), 0))
WHOLE = 44 + 48_000  # bytes of TWO as a WAV file: its header, and a second of 24 kHz, 16 bits


def check(studio: Studio, audio: bytes, jobs: int, attempts: list[str]) -> None:
    """That the audio is whole and that so many jobs and attempts were made of the call."""
    assert hear(audio).seconds == pytest.approx(SECONDS, abs=0.01)
    assert [one.attempt for one in studio.witness.posts(SPEECH)] == attempts
    assert studio.jobs == jobs


@pytest.mark.parametrize(
    ("sent", "call"),
    [(0, speak), (40, speak_asynchronously)],
    ids=["before the request", "within its headers"],
)
def test_before_the_request_is_there(tmp_path: Path, sent: int, call: Call) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(sent=sent))
        check(studio, call(proxy.url), 1, ["1"])


@synchronous
def test_while_the_body_is_sent(tmp_path: Path, call: Call) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(sent=60_000))
        text = TWO + " " * 80_000
        audio = call(proxy.url, text)
        first = studio.witness.posts(SPEECH)[0]
        assert len(first.body) < 80_000
        check(studio, audio, 1, ["0", "1"])


@asynchronous
def test_while_the_request_is_checked(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech(checking=pause)) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        made = pool.submit(call, proxy.url)
        pause.wait_until_reached()
        proxy.cut()
        studio.witness.wait(SPEECH, lambda seen: len(seen) == 2)
        pause.release()
        check(studio, made.result(), 1, ["0", "1"])


@synchronous
def test_while_the_job_is_accepted(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech()) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        studio.gate.pause = pause
        made = pool.submit(call, proxy.url)
        pause.wait_until_reached()
        proxy.cut()
        studio.witness.wait(SPEECH, lambda seen: len(seen) == 2)
        pause.release()
        check(studio, made.result(), 1, ["0", "1"])


@asynchronous
def test_while_the_job_waits(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({0: pause})) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        studio.speak(BLOCKER)
        pause.wait_until_reached()
        made = pool.submit(call, proxy.url)
        waiting = studio.gate.wait_for(2)
        assert studio.job(waiting)["status"] == "queued"
        cut_and_come_back(studio, proxy, pause)
        check(studio, made.result(), 2, ["0", "1"])


@each_client
def test_while_the_job_runs(tmp_path: Path, call: Call) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({0: pause})) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        made = pool.submit(call, proxy.url)
        pause.wait_until_reached()
        cut_and_come_back(studio, proxy, pause)
        check(studio, made.result(), 1, ["0", "1"])


@each_client
def test_while_the_audio_is_made_and_sent(tmp_path: Path, call: Call) -> None:
    """The client for Python, as long as it says that it is, gets a file that is done soon only when it is done."""
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({1: pause})) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        made = pool.submit(call, proxy.url, headers={"x-stainless-lang": "another"})
        studio.witness.wait(SPEECH, lambda seen: bool(seen) and seen[0].status == 200)
        pause.wait_until_reached()
        cut_and_come_back(studio, proxy, pause)
        check(studio, made.result(), 1, ["0", "1"])


def cut_and_come_back(studio: Studio, proxy: CuttingProxy, pause: Pause) -> None:
    """Break the first attempt; only when the second is there does the job go on."""
    proxy.cut()
    studio.witness.wait(SPEECH, lambda seen: len(seen) == 2 and seen[0].ended)
    pause.release()


@pytest.mark.parametrize(
    ("received", "call"),
    [(1, speak), (700, speak_asynchronously), (5000, speak), (WHOLE - 10, speak_asynchronously)],
)
def test_while_the_answer_is_downloaded(tmp_path: Path, received: int, call: Call) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(received=received))
        check(studio, call(proxy.url), 1, ["0", "1"])


@asynchronous
def test_twice(tmp_path: Path, call: Call) -> None:
    with speaking(tmp_path, HeldSpeech()) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(received=10_000), Cut(received=20_000))
        check(studio, call(proxy.url), 1, ["0", "1", "2"])


def test_a_stream_that_breaks_is_told_and_its_job_is_had_by_its_handle(tmp_path: Path) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({1: pause})) as studio,
        CuttingProxy(studio.port) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="none") as client,
        client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="alloy", input=TWO, response_format="pcm"
        ) as made,
        pause,
    ):
        job_id = made.headers["x-yue2-job-id"]
        chunks = made.iter_bytes()
        received = bytearray(next(chunks))
        proxy.cut()
        with pytest.raises(httpx2.ReadError):
            received.extend(b"".join(chunks))
        pause.release()
        assert studio.finish(job_id)["status"] == "done"
        whole = studio.result(job_id)
        assert whole.startswith(received)
        assert len(received) < len(whole) == WHOLE - 44
        assert len(studio.witness.posts(SPEECH)) == 1
        assert studio.jobs == 1


@pytest.mark.parametrize("sent", [200, 300_000], ids=["within its headers", "within the file"])
def test_while_a_file_is_uploaded(tmp_path: Path, sent: int) -> None:
    with (
        serving(tmp_path, Catalogue(transcription=[TranscriptionDouble()])) as studio,
        CuttingProxy(studio.port) as proxy,
    ):
        proxy.plan(Cut(sent=sent))
        assert listen(proxy.url) == f"bytes: {len(FILE)}"
        assert studio.witness.posts(HEARD)[-1].attempt == "1"
        assert studio.jobs == 1


def test_while_a_file_is_listened_to(tmp_path: Path) -> None:
    """The form of the second attempt has another boundary, and is the same call all the same."""
    pause = Pause()
    with (
        serving(tmp_path, Catalogue(transcription=[TranscriptionDouble(pause)])) as studio,
        CuttingProxy(studio.port) as proxy,
        ThreadPoolExecutor() as pool,
        pause,
    ):
        heard: Future[str] = pool.submit(listen, proxy.url)
        pause.wait_until_reached()
        proxy.cut()
        first, second = studio.witness.wait(
            HEARD, lambda seen: len(seen) == 2 and len(seen[1].body) > len(FILE)
        )
        assert first.headers["content-type"] != second.headers["content-type"]
        pause.release()
        assert heard.result() == f"bytes: {len(FILE)}"
        assert studio.jobs == 1


def listen(url: str) -> str:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        return client.audio.transcriptions.create(model="whisper-1", file=("silence.wav", FILE)).text
