"""`POST /v1/audio/speech`, with doubles of the models: formats, events, refusals, retries."""

import base64
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from engine.catalogue import Catalogue
from engine.errors import CheckpointError
from server.calls.call import Call
from server.compatible.speaking import NOT_FOLLOWED
from server.errors import JobFailed
from storage.entry import Part
from tests.server.product import Product, product
from tests.server.sound_doubles import SpeechDouble
from tests.server.yue2_double import Yue2Double

URL = "/v1/audio/speech"
TEXT = "One two. Three four five."
CALL = {"model": "tts-1", "voice": "alloy", "input": TEXT}
SECONDS = 1.25
BEGINNINGS = {
    "mp3": ("audio/mpeg", b"\xff"),
    "opus": ("audio/ogg; codecs=opus", b"OggS"),
    "aac": ("audio/aac", b"\xff\xf1"),
    "flac": ("audio/flac", b"fLaC"),
    "wav": ("audio/wav", b"RIFF"),
    "pcm": ("audio/pcm", b""),
}


@pytest.fixture(scope="module")
def voice() -> SpeechDouble:
    return SpeechDouble()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, voice: SpeechDouble) -> Iterator[Product]:
    """The product with doubles that speak and sing; tests leave its queue empty."""
    models = Catalogue(yue2=Yue2Double(), speech=[voice])
    with product(tmp_path_factory.mktemp("openai"), catalogue=models) as running:
        yield running


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The events, each of which is one line of data."""
    *blocks, end = body.decode().split("\n\n")
    assert end == ""
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def audio_in(events: list[dict[str, Any]]) -> bytes:
    assert {event["type"] for event in events} == {"speech.audio.delta"}
    return b"".join(base64.b64decode(event["audio"]) for event in events)


def stored(server: Product, job_id: str) -> bytes:
    return server.client.get("/job", params={"id": job_id, "track": 0}).content


HEADS = {"mp3": 768, "wav": 44, "flac": 42}  # bytes that tell the length, which nobody knows who streams


def is_same(name: str, streamed: bytes, file: bytes) -> bool:
    """Whether the sound is the same to the last byte, and the head as well where it tells no length."""
    head = HEADS.get(name, 0)
    return len(streamed) == len(file) and streamed[head:] == file[head:]


def queue(server: Product) -> dict[str, Any]:
    """What the server tells of its jobs, those that have ended among it."""
    return dict(server.client.get("/status").json()["queue"])


@pytest.mark.parametrize("name", BEGINNINGS)
def test_each_format_is_sent_with_its_type_and_is_what_is_stored(server: Product, name: str) -> None:
    answer = server.client.post(URL, json=CALL | {"response_format": name})
    kind, beginning = BEGINNINGS[name]
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.content.startswith(beginning)
    job_id = answer.headers["x-yue2-job-id"]
    assert is_same(name, answer.content, stored(server, job_id))
    assert server.finish(job_id)["status"] == "done"
    if name == "pcm":
        assert len(answer.content) == round(SECONDS * 24_000) * 2


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_client_that_keeps_all_of_it_gets_the_finished_file(server: Product, name: str) -> None:
    headers = {"X-Stainless-Lang": "python"}
    answer = server.client.post(URL, json=CALL | {"response_format": name}, headers=headers)
    assert answer.headers["content-type"] == BEGINNINGS[name][0]
    assert answer.content == stored(server, answer.headers["x-yue2-job-id"])
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_speech_is_mp3_where_no_format_is_named(server: Product) -> None:
    answer = server.client.post(URL, json=CALL)
    assert answer.headers["content-type"] == "audio/mpeg"


@pytest.mark.parametrize("name", BEGINNINGS)
def test_events_carry_the_same_bytes_and_end_with_what_it_came_to(server: Product, name: str) -> None:
    answer = server.client.post(URL, json=CALL | {"response_format": name, "stream_format": "sse"})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    *deltas, last = events_of(answer.content)
    assert is_same(name, audio_in(deltas), stored(server, answer.headers["x-yue2-job-id"]))
    tokens = round(SECONDS * 25)
    assert last == {
        "type": "speech.audio.done",
        "usage": {
            "input_tokens": len(TEXT),
            "output_tokens": tokens,
            "total_tokens": len(TEXT) + tokens,
        },
    }


@pytest.mark.parametrize("model", ["yue2", "music_v1"])
def test_a_song_is_sent_when_it_is_finished(server: Product, model: str) -> None:
    song = {"model": model, "voice": "alloy", "input": "[Verse]\nLa la", "instructions": "folk"}
    answer = server.client.post(URL, json=song | {"response_format": "opus"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/ogg; codecs=opus")
    job_id = answer.headers["x-yue2-job-id"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.content == stored(server, job_id)
    job = server.finish(job_id)
    assert (job["operation"], job["model"], job["tracks"]["count"]) == ("synth", "yue2", 1)
    replay = server.client.get("/job", params={"id": job_id, "replay": 0}).json()
    assert (replay["lyrics"], replay["style"]) == (song["input"], song["instructions"])


def test_a_song_comes_in_events_too(server: Product) -> None:
    song = {"model": "yue2", "input": "[Verse]\nLa la", "response_format": "wav", "stream_format": "sse"}
    answer = server.client.post(URL, json=song)
    *deltas, last = events_of(answer.content)
    job_id = answer.headers["x-yue2-job-id"]
    assert audio_in(deltas) == stored(server, job_id)
    seconds = server.finish(job_id)["tracks"]["items"][0]["seconds"]
    assert last["usage"]["output_tokens"] == round(seconds * 25)


def test_what_is_not_followed_is_told_by_the_job(server: Product) -> None:
    answer = server.client.post(URL, json=CALL | {"instructions": "Whisper.", "speed": 1, "extra": None})
    assert server.finish(answer.headers["x-yue2-job-id"])["notes"] == [NOT_FOLLOWED]


@pytest.mark.parametrize(
    ("changes", "status", "code", "param"),
    [
        ({"input": None}, 400, "missing_required_parameter", "input"),
        ({"input": " \n"}, 400, "missing_required_parameter", "input"),
        ({"input": 3}, 400, "invalid_value", "input"),
        ({"input": "x" * 100_001}, 400, "invalid_value", "input"),
        ({"voice": "nobody"}, 400, "invalid_value", "voice"),
        ({"voice": {"id": "voice_1234"}}, 400, "invalid_value", "voice"),
        ({"voice": ["alloy"]}, 400, "invalid_value", "voice"),
        ({"response_format": "ogg"}, 400, "invalid_value", "response_format"),
        ({"stream_format": "websocket"}, 400, "invalid_value", "stream_format"),
        ({"speed": 5}, 400, "invalid_value", "speed"),
        ({"speed": 0}, 400, "invalid_value", "speed"),
        ({"instructions": 1}, 400, "invalid_value", "instructions"),
        ({"model": "loud"}, 404, "model_not_found", "model"),
        ({"model": "whisper-1"}, 400, "invalid_value", "model"),
        ({"model": "yue2", "speed": 1.5}, 400, "invalid_value", "speed"),
    ],
)
def test_a_wrong_call_is_refused_in_openais_words_and_makes_no_job(
    server: Product, changes: dict[str, object], status: int, code: str, param: str
) -> None:
    before = queue(server)
    answer = server.client.post(URL, json=CALL | changes)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert (error["type"], bool(error["message"])) == ("invalid_request_error", True)
    assert queue(server) == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods_are_refused_in_openais_words(server: Product, method: str) -> None:
    answer = server.client.request(method, URL)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["code"] == "method_not_supported"
    assert server.client.head(URL).status_code == 405


def test_another_body_than_json_is_refused(server: Product) -> None:
    answer = server.client.post(URL, files={"input": ("a", b"b", "text/plain")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_format")
    broken = server.client.post(URL, content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["type"]) == (400, "invalid_request_error")


def test_a_retry_finds_what_the_first_attempt_has_made(server: Product) -> None:
    call = CALL | {"input": f"{TEXT} Once.", "response_format": "pcm"}
    first = server.client.post(URL, json=call, headers={"X-Stainless-Retry-Count": "0"})
    before = queue(server)
    second = server.client.post(URL, json=call, headers={"X-Stainless-Retry-Count": "1"})
    assert second.content == first.content
    assert second.headers["x-yue2-job-id"] == first.headers["x-yue2-job-id"]
    assert queue(server) == before
    assert int(second.headers["content-length"]) == len(first.content)


def test_a_retry_finds_the_events_again(server: Product) -> None:
    call = CALL | {"input": f"{TEXT} Twice.", "stream_format": "sse"}
    answers = [
        server.client.post(URL, json=call, headers={"X-Stainless-Retry-Count": count}) for count in "01"
    ]
    assert len({answer.headers["x-yue2-job-id"] for answer in answers}) == 1
    *deltas, last = events_of(answers[1].content)
    assert audio_in(deltas) == stored(server, answers[0].headers["x-yue2-job-id"])
    assert last == events_of(answers[0].content)[-1]


def test_a_key_names_one_call(server: Product) -> None:
    call = CALL | {"response_format": "pcm"}
    answers = [
        server.client.post(URL, json=call | more, headers={"Idempotency-Key": "said-once"})
        for more in ({}, {"voice": "one"}, {"response_format": "aac"})
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 422]
    assert answers[0].content == answers[1].content
    assert answers[2].json()["error"]["code"] == "idempotency_mismatch"


def test_speech_that_fails_before_a_sentence_is_an_error(server: Product, voice: SpeechDouble) -> None:
    def fail(_: int) -> None:
        raise CheckpointError("The voice's file is damaged; fetch it again.")

    before, voice.between = voice.between, fail
    try:
        answers = [server.client.post(URL, json=CALL | {"stream_format": how}) for how in ("audio", "sse")]
    finally:
        voice.between = before
    for answer in answers:
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["code"]) == (500, "server_error", "engine_error")
        assert error["message"] == "The voice's file is damaged; fetch it again."
        assert answer.headers["x-should-retry"] == "false"
        assert answer.headers["x-yue2-job-id"] == error["job_id"]


def test_events_whose_job_fails_before_the_first_of_them_are_an_error(
    server: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(call: Call, part: Part | None = None) -> AsyncGenerator[bytes, None]:
        raise JobFailed("engine_error", "The voice's file is damaged; fetch it again.")
        yield b""

    monkeypatch.setattr(Call, "slices", failing)
    answer = server.client.post(URL, json=CALL | {"stream_format": "sse"})
    assert (answer.status_code, answer.headers["x-should-retry"]) == (500, "false")
    assert answer.json()["error"]["message"] == "The voice's file is damaged; fetch it again."
    server.finish(answer.headers["x-yue2-job-id"])
