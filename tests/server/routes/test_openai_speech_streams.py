"""`POST /v1/audio/speech` on the wire, while the speech is being made: first sounds, failures, clients that keep all."""

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from engine.catalogue import Catalogue
from engine.errors import CheckpointError
from server.app import build_app
from server.calls.call import Call
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.protocol import protocol_class
from server.serve import product_routes
from server.settings import load
from tests.server.live import PATIENCE_SECONDS, LiveServer
from tests.server.sound_doubles import SpeechDouble

URL = "/v1/audio/speech"
CALL = {"model": "tts-1", "voice": "alloy", "input": "One two. Three four five.", "response_format": "pcm"}
FIRST, ALL = 2 * 6_000 * 2, 5 * 6_000 * 2  # bytes of the first sentence, and of both
FAILURE = "The voice's file is damaged; fetch it again."
PYTHON = {"X-Stainless-Lang": "python"}


class Between:
    """Holds the second sentence until it is let through, or fails in its place."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.fails = False

    def __call__(self, number: int) -> None:
        if number == 1:
            assert self.opened.wait(PATIENCE_SECONDS)
            if self.fails:
                raise CheckpointError(FAILURE)

    def open(self, *, fails: bool = False) -> None:
        """Let the second sentence be said, or fail."""
        self.fails = fails
        self.opened.set()


@contextmanager
def served(folder: Path, between: Between) -> Iterator[tuple[httpx2.Client, Parts]]:
    """The product behind a real socket, with a voice that waits for the test."""
    parts = assemble(load({"YUE2_RESULT_DIR": str(folder / "jobs")}), LogRing())
    app = build_app(parts, product_routes(parts, Catalogue(speech=[SpeechDouble(between)])))
    bound = threading.Event()

    async def binding(scope: Scope, receive: Receive, send: Send) -> None:
        if not bound.is_set():
            parts.watch.bind(asyncio.get_running_loop())
            bound.set()
        await app(scope, receive, send)

    parts.worker.start()
    with LiveServer(binding, protocol_class()) as live:
        address = f"http://127.0.0.1:{live.port}"
        with httpx2.Client(base_url=address, timeout=PATIENCE_SECONDS, trust_env=False) as client:
            yield client, parts
    parts.watch.unbind()
    parts.book.close()
    assert parts.worker.stop(PATIENCE_SECONDS)


@pytest.fixture
def between() -> Iterator[Between]:
    between = Between()
    yield between
    between.open()


@pytest.fixture
def server(tmp_path: Path, between: Between) -> Iterator[httpx2.Client]:
    with served(tmp_path, between) as (client, parts):
        yield client
        between.open()
        assert parts.limits.downloads.held == parts.limits.followers.held == 0


def test_the_first_sentence_is_heard_while_the_second_is_made(
    server: httpx2.Client, between: Between
) -> None:
    with server.stream("POST", URL, json=CALL) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/pcm")
        assert "content-length" not in answer.headers
        pieces, heard = answer.iter_raw(), b""
        while len(heard) < FIRST:
            heard += next(pieces)
        job = server.get("/job", params={"id": answer.headers["x-yue2-job-id"]}).json()
        assert (len(heard), job["status"]) == (FIRST, "running")
        between.open()
        assert len(heard + b"".join(pieces)) == ALL


def test_events_come_as_the_speech_is_made_and_the_last_once_it_is_stored(
    server: httpx2.Client, between: Between
) -> None:
    with server.stream("POST", URL, json=CALL | {"stream_format": "sse"}) as answer:
        lines, heard = (line for line in answer.iter_lines() if line), b""
        while len(heard) < FIRST:
            event = json.loads(next(lines).removeprefix("data: "))
            heard += base64.b64decode(event["audio"])
        between.open()
        for line in lines:
            event = json.loads(line.removeprefix("data: "))
            if event["type"] == "speech.audio.done":
                break
            heard += base64.b64decode(event["audio"])
        job = server.get("/job", params={"id": answer.headers["x-yue2-job-id"]}).json()
        assert (len(heard), event["type"], job["status"]) == (ALL, "speech.audio.done", "done")
        assert list(lines) == []


def test_speech_that_fails_on_the_way_breaks_off(server: httpx2.Client, between: Between) -> None:
    with server.stream("POST", URL, json=CALL) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        between.open(fails=True)
        with pytest.raises(httpx2.RemoteProtocolError):
            list(pieces)


def test_events_end_with_what_failed_on_the_way(server: httpx2.Client, between: Between) -> None:
    with server.stream("POST", URL, json=CALL | {"stream_format": "sse"}) as answer:
        lines = (line for line in answer.iter_lines() if line)
        assert json.loads(next(lines).removeprefix("data: "))["type"] == "speech.audio.delta"
        between.open(fails=True)
        *_, last = lines
    job_id = answer.headers["x-yue2-job-id"]
    assert json.loads(last.removeprefix("data: ")) == {
        "type": "error",
        "error": {
            "message": FAILURE,
            "type": "server_error",
            "param": None,
            "code": "engine_error",
            "job_id": job_id,
        },
    }


def test_a_client_that_keeps_all_of_it_is_told_of_a_failure(server: httpx2.Client, between: Between) -> None:
    between.open(fails=True)
    answer = server.post(URL, json=CALL, headers=PYTHON)
    assert (answer.status_code, answer.json()["error"]["message"]) == (500, FAILURE)
    assert answer.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("more", [{"X-Stainless-Raw-Response": "stream"}, {}])
def test_a_client_for_python_waits_no_longer_than_a_moment_for_the_whole(
    server: httpx2.Client, between: Between, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    # One that streams does not wait at all.
    monkeypatch.setattr("server.routes.openai_speech.WHOLE_SECONDS", PATIENCE_SECONDS if more else 0.01)
    with server.stream("POST", URL, json=CALL, headers=PYTHON | more) as answer:
        pieces = answer.iter_raw()
        heard = next(pieces)
        between.open()
        assert len(heard + b"".join(pieces)) == ALL
    assert "content-length" not in answer.headers


def test_the_whole_is_waited_for_two_seconds_and_sent_as_it_is_made_where_that_does_not_do(
    server: httpx2.Client, between: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def never(call: Call, seconds: float) -> bool:
        waited.append(seconds)
        return False

    monkeypatch.setattr(Call, "ends_within", never)
    with server.stream("POST", URL, json=CALL, headers=PYTHON) as answer:
        pieces = answer.iter_raw()
        heard = next(pieces)
        between.open()
        assert len(heard + b"".join(pieces)) == ALL
    assert (answer.status_code, waited) == (200, [2.0])


def test_a_client_that_goes_leaves_its_place_at_once(tmp_path: Path, between: Between) -> None:
    with served(tmp_path, between) as (client, parts):
        with client.stream("POST", URL, json=CALL) as answer:
            pieces = answer.iter_raw()  # an iterator that nobody keeps closes the connection
            next(pieces)
            assert parts.limits.synchronous.held == 1
        job_id = answer.headers["x-yue2-job-id"]
        for _ in range(1_000):
            job = client.get("/job", params={"id": job_id}).json()
            if not parts.limits.synchronous.held:
                break
        between.open()
    assert (job["status"], parts.limits.synchronous.held) == ("running", 0)
