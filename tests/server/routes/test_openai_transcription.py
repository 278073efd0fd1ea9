"""`POST /v1/audio/transcriptions` and `/v1/audio/translations`, with a double of the listener."""

import io
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import httpx2
import numpy as np
import pytest
from starlette.types import Message

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from engine.control import Control
from engine.errors import CheckpointError, InvalidRequest
from engine.transcription_model import Heard, Segment, Transcript, unheard
from engine.transcription_request import TranscriptionRequest
from engine.words import Word
from server.calls.call import Call
from server.limits import MAX_BODY_BYTES
from server.routes import openai_transcription
from storage.errors import NotStored
from tests.server.product import Product, product
from tests.server.recorded import Recorded
from tests.server.sound_doubles import TranscriptionDouble

URL = "/v1/audio/transcriptions"
TRANSLATIONS = "/v1/audio/translations"
PATIENCE_SECONDS = 20.0
TEXT = "One. Two."
ONE = Segment(0.0, 1.0, "One.", (Word("One.", 0.0, 1.0),), (5, 6), 0.0, -0.25, 1.0, 0.0)
TWO = Segment(31.0, 32.0, "Two.", (Word("Two.", 31.0, 32.0),), (7,), 0.0, -0.25, 1.0, 0.0, " ")


def nothing() -> None:
    """What happens where a test does not say."""


class Ear(TranscriptionDouble):
    """Hears two segments; `between` is called before the second."""

    def __init__(self) -> None:
        super().__init__()
        self.between: Callable[[], None] = nothing
        self.asked: TranscriptionRequest | None = None

    def transcribe(
        self, audio: BinaryIO, request: TranscriptionRequest, control: Control, heard: Heard = unheard
    ) -> Transcript:
        self.asked = request
        self.before()
        heard(ONE)
        self.between()
        heard(TWO)
        return Transcript(TEXT, request.language or "de", 0.75, 33.0, (ONE, TWO))


@pytest.fixture(scope="module")
def ear() -> Ear:
    return Ear()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, ear: Ear) -> Iterator[Product]:
    """The product with a double that listens; tests leave its queue empty."""
    models = Catalogue(transcription=[ear])
    with product(tmp_path_factory.mktemp("openai"), catalogue=models) as running:
        yield running


def flac(seconds: float = 0.2) -> bytes:
    sink = io.BytesIO()
    encode(np.full((round(seconds * 16_000), 1), 0.1, np.float32), 16_000, AudioForm("flac"), sink)
    return sink.getvalue()


SOUND = flac()
Fields = Mapping[str, str | list[str]]


def post(server: Product, **fields: str | list[str]) -> httpx2.Response:
    return sent(server, fields)


def sent(server: Product, fields: Fields, url: str = URL, sound: bytes = SOUND) -> httpx2.Response:
    files = {"file": ("talk.flac", sound, "audio/flac")}
    return server.client.post(url, data={"model": "whisper-1", **fields}, files=files)


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The events, each of which is one line of data."""
    *blocks, end = body.decode().split("\n\n")
    assert end == ""
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def queue(server: Product) -> dict[str, Any]:
    """What the server tells of its jobs, those that have ended among it."""
    return dict(server.client.get("/status").json()["queue"])


def stored(server: Product, answer: httpx2.Response, **query: str | int) -> httpx2.Response:
    job_id = answer.headers["x-yue2-job-id"]
    assert server.finish(job_id)["status"] == "done"
    return server.client.get("/job", params={"id": job_id, **query})


def test_json_is_the_text_and_how_long_it_took(server: Product) -> None:
    answer = post(server)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {"text": TEXT, "usage": {"type": "duration", "seconds": 33.0}}
    assert post(server, response_format="json", language="en").json()["languages"] == [{"code": "en"}]
    assert stored(server, answer, result=1).json()["text"] == TEXT


def test_text_is_text(server: Product) -> None:
    answer = post(server, response_format="text")
    assert (answer.headers["content-type"], answer.text) == ("text/plain; charset=utf-8", f"{TEXT}\n")


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_subtitles_are_those_that_are_stored(server: Product, name: str) -> None:
    answer = post(server, response_format=name)
    file = stored(server, answer, subtitles=name)
    assert answer.content == file.content
    for header in ("content-type", "etag", "content-disposition", "content-length"):
        assert answer.headers[header] == file.headers[header]


def test_verbose_json_tells_segments_or_words(server: Product) -> None:
    told = post(server, response_format="verbose_json").json()
    assert set(told) == {"task", "language", "duration", "text", "segments", "usage"}
    assert (told["task"], told["language"], told["duration"]) == ("transcribe", "german", 33.0)
    assert [segment["text"] for segment in told["segments"]] == ["One.", " Two."]
    for name in ("timestamp_granularities[]", "timestamp_granularities"):
        words = sent(server, {"response_format": "verbose_json", name: ["word"]}).json()
        assert (len(words["words"]), "segments" in words) == (2, False)


def test_a_translation_is_english(server: Product, ear: Ear) -> None:
    assert sent(server, {}, TRANSLATIONS).json() == {"text": TEXT}
    told = sent(server, {"response_format": "verbose_json"}, TRANSLATIONS).json()
    assert (told["task"], told["language"]) == ("translate", "english")
    assert ear.asked is not None
    assert ear.asked.task == "translate"


def test_what_is_asked_for_reaches_the_model(server: Product, ear: Ear) -> None:
    fields: Fields = {
        "languages[]": ["de"],
        "prompt": "A talk.",
        "keywords[]": ["Łódź"],
        "temperature": "0.5",
        "chunking_strategy": "auto",
        "chunking_strategy[type]": "server_vad",
        "unknown": "x",
    }
    answer = sent(server, fields)
    assert answer.status_code == 200
    assert ear.asked == TranscriptionRequest(language="de", prompt="A talk. Łódź", temperature=0.5)


@pytest.mark.parametrize("response_format", ["json", "text"])
def test_a_stream_is_the_text_segment_by_segment(server: Product, response_format: str) -> None:
    answer = post(server, response_format=response_format, stream="true", model="gpt-4o-transcribe")
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    one, two, last = events_of(answer.content)
    assert one == {"type": "transcript.text.delta", "delta": "One."}
    assert two == {"type": "transcript.text.delta", "delta": " Two."}
    assert (last["type"], last["text"]) == ("transcript.text.done", TEXT)
    assert (last["usage"]["input_tokens"], last["usage"]["output_tokens"]) == (1650, 3)
    lines = stored(server, answer, follow=1)
    assert lines.headers["content-type"] == "application/x-ndjson"
    told = [json.loads(line) for line in lines.text.splitlines()]
    assert told == stored(server, answer, result=1).json()["segments"]


def listened(server: Product, heard: threading.Event) -> Recorded:
    """A streaming call, which says when it has got the first segment."""
    got, over = Recorded(), threading.Event()
    form = httpx2.Request("POST", "http://127.0.0.1", data={"stream": "true"}, files={"file": SOUND})
    body = iter([{"type": "http.request", "body": form.read()}])

    async def receive() -> Message:
        message = next(body, None)
        if message is None:
            await server.parts.limits.run(lambda: over.wait(PATIENCE_SECONDS))
        return message or {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        got.sent.append(message)
        if b"One." in message.get("body", b""):
            heard.set()
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()

    headers = {"host": "127.0.0.1", "content-type": form.headers["content-type"]}
    scope = {
        "type": "http",
        "method": "POST",
        "path": URL,
        "raw_path": URL.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
    }

    async def exchange() -> None:
        await server.client.app(scope, receive, send)

    assert server.client.portal is not None
    server.client.portal.call(exchange)
    return got


def test_a_segment_is_sent_before_the_next_is_found(
    server: Product, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = threading.Event()
    in_time: list[bool] = []
    monkeypatch.setattr(ear, "between", lambda: in_time.append(heard.wait(PATIENCE_SECONDS)))
    events = events_of(listened(server, heard).body)
    assert in_time == [True]
    assert [event["type"].rpartition(".")[2] for event in events] == ["delta", "delta", "done"]


def damaged() -> None:
    raise InvalidRequest("audio", "The audio is damaged or cut short; send the whole file again.")


def broken() -> None:
    raise CheckpointError("The model's file is damaged; fetch it again.")


@pytest.mark.parametrize(
    ("fail", "code", "param"),
    [(damaged, "invalid_value", "file"), (broken, "engine_error", None)],
)
def test_what_goes_wrong_on_the_way_is_the_last_event(
    server: Product,
    ear: Ear,
    monkeypatch: pytest.MonkeyPatch,
    fail: Callable[[], None],
    code: str,
    param: str | None,
) -> None:
    heard = threading.Event()

    def between() -> None:
        assert heard.wait(PATIENCE_SECONDS)
        fail()

    monkeypatch.setattr(ear, "between", between)
    got = listened(server, heard)
    assert (got.status, got.sent[-1].get("more_body", False)) == (200, False)
    one, last = events_of(got.body)
    assert one["delta"] == "One."
    assert (last["type"], last["error"]["code"], last["error"]["param"]) == ("error", code, param)
    assert last["error"]["message"].endswith("again.")


@pytest.mark.parametrize("stream", ["true", "false"])
@pytest.mark.parametrize(
    ("fail", "status", "code", "param"),
    [(damaged, 400, "invalid_value", "file"), (broken, 500, "engine_error", None)],
)
def test_what_goes_wrong_before_is_told_by_its_status(
    server: Product,
    ear: Ear,
    monkeypatch: pytest.MonkeyPatch,
    stream: str,
    fail: Callable[[], None],
    status: int,
    code: str,
    param: str | None,
) -> None:
    monkeypatch.setattr(ear, "before", fail)
    answer = post(server, stream=stream)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert answer.headers["x-should-retry"] == "false"
    assert answer.headers["x-yue2-job-id"] == error["job_id"]


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({"model": "other"}, 404, "model_not_found", "model"),
        ({"model": "tts-1"}, 400, "invalid_value", "model"),
        ({"language": "xx"}, 400, "invalid_value", "language"),
        ({"temperature": "2"}, 400, "invalid_value", "temperature"),
        ({"response_format": "diarized_json"}, 400, "invalid_value", "response_format"),
        ({"include[]": ["logprobs"]}, 400, "invalid_value", "include"),
        ({"stream": "true", "response_format": "vtt"}, 400, "invalid_value", "stream"),
        ({"known_speaker_names[]": ["a"]}, 400, "invalid_value", "known_speaker_names"),
    ],
)
def test_a_wrong_call_is_refused_in_openais_words_and_makes_no_job(
    server: Product, fields: Fields, status: int, code: str, param: str
) -> None:
    before = queue(server)
    answer = sent(server, fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert (error["type"], bool(error["message"])) == ("invalid_request_error", True)
    assert queue(server) == before
    assert server.parts.limits.uploads.held == 0


@pytest.mark.parametrize(
    ("sound", "code"),
    [
        (b"", "missing_required_parameter"),
        (b"no audio at all", "invalid_value"),
        (SOUND[:40], "invalid_value"),
        (flac(0.05), "invalid_value"),
    ],
)
def test_what_is_no_recording_is_refused(server: Product, sound: bytes, code: str) -> None:
    answer = sent(server, {}, sound=sound)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, code, "file")


def test_a_body_is_a_form_with_a_file(server: Product) -> None:
    as_json = server.client.post(URL, json={"model": "whisper-1"})
    assert (as_json.status_code, as_json.json()["error"]["code"]) == (415, "unsupported_format")
    without = server.client.post(URL, files={"model": (None, "whisper-1")})
    assert (without.status_code, without.json()["error"]["param"]) == (400, "file")
    large = server.client.post(URL, content=b"", headers={"Content-Length": str(MAX_BODY_BYTES + 1)})
    assert large.status_code == 413
    assert server.client.get(URL).json()["error"]["code"] == "method_not_supported"


def test_a_call_holds_a_place_for_uploads_while_it_is_read(
    server: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unread(*_: object) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr(openai_transcription, "read_loose_form", unread)
    monkeypatch.setattr(server.parts.limits.uploads, "total", 0)
    answer = post(server)
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_uploads")
    assert answer.headers["retry-after"] == "5"


@pytest.mark.parametrize("stream", ["true", "false"])
def test_a_retry_finds_what_the_first_attempt_has_made(server: Product, stream: str) -> None:
    sound = flac(0.3 if stream == "true" else 0.4)
    answers = []
    for attempt in range(2):
        server.client.headers["x-stainless-retry-count"] = str(attempt)
        answers.append(sent(server, {"stream": stream}, sound=sound))
    del server.client.headers["x-stainless-retry-count"]
    first, second = answers
    assert second.headers["x-yue2-job-id"] == first.headers["x-yue2-job-id"]
    assert second.content == first.content
    assert sent(server, {}, sound=sound).headers["x-yue2-job-id"] != first.headers["x-yue2-job-id"]


def test_a_recording_in_which_nobody_speaks_streams_its_end_alone(
    server: Product, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = Transcript("", "en", 0.0, 33.0, ())
    monkeypatch.setattr(ear, "transcribe", lambda audio, request, control, heard: silent)
    (last,) = events_of(sent(server, {"stream": "true", "languages[]": ["en", "de"]}).content)
    assert (last["type"], last["text"], last["languages"]) == ("transcript.text.done", "", [])
    assert post(server, response_format="text").text == "\n"


def test_a_stream_without_its_first_event_is_told_by_its_status(
    server: Product, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(call: Call) -> bytes:
        raise NotStored(call.job_id, "This result was deleted; send the recording again.")

    silent = Transcript("", "en", 0.0, 33.0, ())
    monkeypatch.setattr(ear, "transcribe", lambda audio, request, control, heard: silent)
    monkeypatch.setattr(openai_transcription, "_raw", gone)
    answer = post(server, stream="true")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_ready")
