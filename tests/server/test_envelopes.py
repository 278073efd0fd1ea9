"""Errors as the native API, OpenAI and ElevenLabs write them down."""

import asyncio
import inspect
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.types import Scope

from engine import errors as engine
from server import errors as edge
from server.envelopes import ending_with_error, error_body, error_event
from server.errors import ANSWERS, RESULTS_ADVICE, JobFailed, answer_for, job_outcome
from server.jobs import errors as jobs
from storage import errors as storage
from storage.budget import Budget

AGENTS = "/mcp"
SPEECH, MUSIC, PLAN = "/v1/audio/speech", "/v1/music", "/v1/music/plan"
RETRIED = {408, 409}  # by vendors' clients, whatever the error
# Codes that vendors' programs know, by ours.
VENDOR_CODES = {
    "unauthorized": "invalid_api_key",
    "unknown_model": "model_not_found",
    "unknown_route": "unknown_url",
    "method_not_allowed": "method_not_supported",
    "invalid_field": "invalid_value",
    "invalid_score": "invalid_value",
    "missing_input": "missing_required_parameter",
    "unknown_field": "unknown_parameter",
    "unsupported_media": "unsupported_format",
}


def sample(kind: type[BaseException]) -> BaseException:
    """An error of that class, whatever its constructor takes."""
    if not inspect.isfunction(kind.__init__):
        return kind("A sentence.")
    worth: dict[object, object] = {str: "word", int: 3, float: 1.5}
    takes = inspect.signature(kind).parameters.values()
    needed = [parameter for parameter in takes if parameter.default is parameter.empty]
    return kind(*[worth.get(parameter.annotation, ("word",)) for parameter in needed])


def openai(error: BaseException, path: str = SPEECH, job_id: str = "") -> tuple[int, dict[str, str], Any]:
    status, headers, body = error_body(error, "abc123", path, job_id)
    return status, headers, body["error"]


@pytest.mark.parametrize("path", ["/", "/synth", "/job", "/v1x", "/v10/audio", "/V1/audio"])
def test_elsewhere_an_error_is_a_sentence_and_a_code(path: str) -> None:
    status, headers, body = error_body(jobs.QueueFull(8), "abc123", path)
    assert (status, headers) == (429, {"Retry-After": "5"})
    assert body == {"error": str(jobs.QueueFull(8)), "code": "queue_full", "retry_after_seconds": 5}


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/audio/speech", "/v1/audio/speech"),
        ("/audio/translations/", "/v1/audio/translations"),
        ("/models", "/v1/models"),
        ("/models/tts-1", "/v1/models"),
        ("/api/v1/models/org/music", "/v1/models"),
        ("/v1/v1/audio/speech", "/v1/audio/speech"),
        ("/api/v1/audio/transcriptions", "/v1/audio/transcriptions"),
        ("/music", "/v1/music"),
        ("/v1/v1/music/detailed/stream", "/v1/music/detailed/stream"),
        ("/api/v1/music/plan/", "/v1/music/plan"),
    ],
)
def test_a_client_with_a_wrong_address_is_told_the_right_one_as_it_reads_errors(
    path: str, meant: str
) -> None:
    body: dict[str, Any] = error_body(edge.UnknownRoute(path), "abc123", path)[2]
    assert body["error"]["code"] == "unknown_url"
    for said in (f"this call is at {meant}: ", "OpenAI's clients a base_url that ends in /v1", "ElevenLabs'"):
        assert said in body["error"]["message"]
    assert ("detail" in body) is ("music" in meant)


@pytest.mark.parametrize("path", ["/v1/audio/speech/", "/v1/music//", "/v1/music/detailed/"])
def test_a_slash_at_the_end_is_told(path: str) -> None:
    message = openai(edge.UnknownRoute(path), path)[2]["message"]
    assert f"; this call is at {path.rstrip('/')}, without a slash at its end." in message
    assert "base_url" not in message


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/health", "/v1/music/upload", "/v1/musical", "/v1/audio/speeches"]
)
def test_what_is_no_call_of_theirs_is_said_not_to_be(path: str) -> None:
    message = openai(edge.UnknownRoute(path), path)[2]["message"]
    assert (
        "below /v1 are the calls of OpenAI's and ElevenLabs' clients alone: leave it out for all others"
        in message
    )


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("/v1/text-to-speech/voice/stream", "/v1/audio/speech"),
        ("/v1/text-to-speech", "/v1/audio/speech"),
        ("/v1/speech-to-text", "/v1/audio/transcriptions"),
    ],
)
def test_calls_of_elevenlabs_that_are_not_here_tell_the_one_that_is(path: str, instead: str) -> None:
    message = openai(edge.UnknownRoute(path), path)[2]["message"]
    assert message.endswith(f"this call of ElevenLabs' is not answered here, but OpenAI's at {instead} is.")


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_the_folder_of_their_calls_tells_where_to_go(path: str) -> None:
    told = str(error_body(edge.UnknownRoute(path), path=path)[2])
    assert all(way in told for way in ("/v1/audio/speech", "/v1/music", "/openapi.json"))


@pytest.mark.parametrize(
    "path",
    ["/supermodels", "/music/upload", "/models.txt", "/audio", "/mcp/songs", "/mcpx", "/a/b/mcp", "/ssed"],
)
def test_elsewhere_nothing_is_taken_for_a_call_of_theirs(path: str) -> None:
    status, _, body = error_body(edge.UnknownRoute(path), path=path)
    assert (status, body["code"]) == (404, "unknown_route")
    assert "/openapi.json lists what is." in str(body["error"])


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_an_agents_client_is_told_in_json_rpc(kind: type[Exception]) -> None:
    """Its reader takes nothing else, and hands the message on to the model."""
    status, headers, body = error_body(sample(kind), "abc123", AGENTS)
    assert (status, headers) == error_body(sample(kind), "abc123", "/synth")[:2]
    native = dict(error_body(sample(kind), "abc123", "/synth")[2])
    error: Any = body["error"]
    assert body == {"jsonrpc": "2.0", "id": None, "error": error}
    assert (error["message"], error["data"]) == (native.pop("error"), native)
    assert error["code"] == (-32603 if status >= 500 else -32700 if kind is edge.InvalidJson else -32600)


def test_a_recording_for_an_agent_is_refused_natively() -> None:
    assert error_body(jobs.QueueFull(8), path="/mcp/transcribe")[2]["code"] == "queue_full"


@pytest.mark.parametrize(
    "path",
    ["/mcp/", "/sse", "/sse/", "/mcp/sse", "/messages", "/messages/", "/mcp/message", "/v1/mcp", "/api/mcp"],
)
def test_an_agents_client_with_a_wrong_address_is_told_the_right_one(path: str) -> None:
    status, _, body = error_body(edge.UnknownRoute(path), path=path)
    error: Any = body["error"]
    assert (status, error["data"]) == (404, {"code": "unknown_route"})
    for said in (repr(path), "is spoken at /mcp,", "http://127.0.0.1:8000/mcp"):
        assert said in error["message"]


def test_whoever_opens_the_agents_address_is_told_what_it_is() -> None:
    refused = edge.MethodNotAllowed("GET", ["POST"], AGENTS)
    assert str(refused) == (
        "GET is not possible here; use one of: POST. The Model Context Protocol is spoken here: "
        "give this address to an agent's client."
    )
    assert "Model" not in str(edge.MethodNotAllowed("GET", ["POST"], "/synth"))
    assert error_body(refused, path=AGENTS)[1] == {"Allow": "POST"}


@pytest.mark.parametrize("path", ["/synth", SPEECH, MUSIC])
def test_a_full_store_says_how_to_make_room(path: str) -> None:
    full = Budget(1_000, 256, 1_000, RESULTS_ADVICE).store_full(256, 10)
    body: dict[str, Any] = error_body(full, path=path)[2]
    message = body["error"] if path == "/synth" else body["error"]["message"]
    for said in (str(full), "DELETE /job?id=ID", "YUE2_RESULT_MAX_FILES", "YUE2_RESULT_TTL_SECONDS"):
        assert said in message
    assert job_outcome(full)[2] == message


def test_the_field_at_fault_is_named() -> None:
    assert error_body(engine.InvalidRequest("steps", "steps must be between 1 and 100."))[2] == {
        "error": "steps must be between 1 and 100.",
        "code": "invalid_field",
        "field": "steps",
    }
    assert error_body(engine.UnknownField("stepz", "?"))[2]["code"] == "unknown_field"
    assert "field" not in error_body(engine.MissingInput("", "Send a style."))[2]
    assert error_body(engine.UnknownModel("x", ("sketch",)))[2]["field"] == "model"
    assert openai(engine.InvalidRequest("speed", "speed must be a number."))[2]["param"] == "speed"
    assert openai(engine.MissingInput("", "Send an input."))[2]["param"] is None
    assert openai(engine.UnknownModel("x", ("sketch",)))[2]["param"] == "model"


def test_a_score_is_blamed_at_line_and_column() -> None:
    error = engine.ScoreError("A bar is too long", 7, 12)
    assert error_body(error)[2] == {
        "error": "A bar is too long (line 7, column 12).",
        "code": "invalid_score",
        "field": "abc",
        "line": 7,
        "column": 12,
    }
    told = openai(error, MUSIC)[2]
    assert (told["param"], told["line"], told["column"]) == ("abc", 7, 12)


def test_json_is_blamed_where_it_breaks_if_that_is_known() -> None:
    told = openai(edge.InvalidJson("a comma is missing", 2, 9))[2]
    assert (told["code"], told["param"], told["line"], told["column"]) == ("invalid_json", None, 2, 9)
    assert "line" not in openai(edge.InvalidJson("it is not an object"))[2]


@pytest.mark.parametrize("path", ["/synth", SPEECH, MUSIC, AGENTS])
def test_headers_that_http_asks_for(path: str) -> None:
    def headers(error: BaseException) -> dict[str, str]:
        return error_body(error, path=path)[1]

    assert headers(edge.Unauthorized()) == {"WWW-Authenticate": "Bearer"}
    assert headers(edge.MethodNotAllowed("PUT", ["POST", "GET"])) == {"Allow": "GET, POST"}
    assert headers(edge.RangeNotSatisfiable(10)) == {"Content-Range": "bytes */10"}
    assert headers(edge.BodyTooLarge(10)) == {"Connection": "close"}
    assert headers(jobs.QueueFull(8)) == {"Retry-After": "5"}


@pytest.mark.parametrize("path", ["/synth", SPEECH, MUSIC])
@pytest.mark.parametrize(
    "error", [ValueError("secret lyrics"), edge.ClientStalled(15), storage.StorageError("/a/path")]
)
def test_the_words_of_an_unexpected_error_stay_inside(error: Exception, path: str) -> None:
    status, headers, body = error_body(error, "abc123", path)
    assert (status, headers) == (500, {})
    assert str(error) not in str(body)
    assert "abc123" in str(body["error"])
    assert "internal_error" in str(body)


def test_memory_that_does_not_suffice_is_told_as_such() -> None:
    sentence = "There was not enough memory to answer this; send less, or try again later."
    assert error_body(MemoryError(), "abc123") == (500, {}, {"error": sentence, "code": "out_of_memory"})
    assert openai(MemoryError())[2]["message"] == sentence


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("path", [SPEECH, MUSIC])
def test_every_error_of_the_table_has_openais_four_keys(kind: type[Exception], path: str) -> None:
    error = sample(kind)
    native = answer_for(error)
    status, _, told = openai(error, path)
    assert status == (400 if kind is jobs.JobCancelled else native.status)
    assert status not in RETRIED
    assert set(told) - {"line", "column"} == {"message", "type", "param", "code"}
    assert told["message"]
    assert told["code"] == VENDOR_CODES.get(native.code, native.code)
    assert told["type"] == (
        "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    )
    assert told["param"] is None or isinstance(told["param"], str)


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_error_of_the_table_has_elevenlabs_detail_below_music_alone(kind: type[Exception]) -> None:
    for path in (MUSIC, PLAN):
        status, _, body = error_body(sample(kind), "abc123", path)
        told, detail = body["error"], body["detail"]
        assert isinstance(told, dict)
        assert isinstance(detail, dict)
        assert set(detail) == {"type", "code", "status", "message", "request_id", "param"}
        assert (detail["code"], detail["status"]) == (told["code"], told["code"])
        assert (detail["message"], detail["param"]) == (told["message"], told["param"])
        assert detail["request_id"] == "abc123"
        assert str(detail["type"]).endswith("_error") or status in (404, 503)
    for path in (SPEECH, "/v1/musical", "/v1"):
        assert "detail" not in error_body(sample(kind), "abc123", path)[2]


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (edge.Unauthorized(), "authentication_error"),
        (edge.ForbiddenOrigin("http://x"), "authorization_error"),
        (engine.InvalidRequest("prompt", "No."), "validation_error"),
        (engine.UnknownModel("x", ("sketch",)), "not_found"),
        (jobs.QueueFull(8), "rate_limit_error"),
        (jobs.QueueClosed(), "service_unavailable"),
        (ValueError("x"), "internal_error"),
    ],
)
def test_elevenlabs_names_the_kinds_of_errors_otherwise(error: Exception, word: str) -> None:
    detail: Any = error_body(error, "abc123", MUSIC)[2]["detail"]
    assert detail["type"] == word


@pytest.mark.parametrize("code", sorted({answer.code for answer in ANSWERS.values()}))
def test_no_failure_of_a_job_is_one_that_clients_try_again_unasked(code: str) -> None:
    assert openai(JobFailed(code, "It failed."))[0] not in RETRIED


def test_a_cancelled_job_is_no_conflict_that_passes() -> None:
    assert error_body(jobs.JobCancelled())[0] == 409
    status, _, told = openai(jobs.JobCancelled())
    assert (status, told["code"], told["type"]) == (400, "cancelled", "invalid_request_error")


@pytest.mark.parametrize("kind", ANSWERS)
def test_where_another_try_is_in_vain_clients_are_told_so(kind: type[Exception]) -> None:
    status, headers, _ = openai(sample(kind))
    assert ("X-Should-Retry" in headers) == (status in (504, 507))
    assert "X-Should-Retry" not in error_body(sample(kind), path="/synth")[1]


def test_a_request_with_a_job_names_it_inside_and_outside() -> None:
    for path in (SPEECH, MUSIC):
        body = error_body(JobFailed("engine_error", "It failed."), "abc123", path, "0123456789abcdef")[2]
        told: Any = body["error"]
        assert body["job_id"] == told["job_id"] == "0123456789abcdef"
    assert "job_id" not in error_body(JobFailed("engine_error", "It failed."), "abc123", SPEECH)[2]


def test_a_running_stream_ends_with_the_same_object() -> None:
    scope: Scope = {"path": SPEECH, "state": {"request_id": "abc123", "accepted_job": "0123456789abcdef"}}
    error = JobFailed("out_of_memory", "Too long.")
    told = openai(error, job_id="0123456789abcdef")[2]
    assert error_event(error, scope) == {"type": "error", "error": told}
    assert "abc123" in str(
        error_event(ValueError("secret"), {"path": SPEECH, "state": {"request_id": "abc123"}})
    )


@pytest.mark.parametrize("error", [JobFailed("engine_error", "It failed."), jobs.JobCancelled()])
@pytest.mark.parametrize("sent", [0, 2])
def test_events_end_with_an_error_only_where_one_was_sent(error: Exception, sent: int) -> None:
    scope: Scope = {"path": SPEECH, "state": {"request_id": "abc123"}}
    closed: list[bool] = []

    async def events() -> AsyncGenerator[bytes, None]:
        try:
            for _ in range(sent):
                yield b"event"
            raise error
        finally:
            closed.append(True)

    async def heard() -> list[bytes]:
        return [event async for event in ending_with_error(events(), scope, lambda told: repr(told).encode())]

    if sent:
        assert asyncio.run(heard()) == [b"event", b"event", repr(error_event(error, scope)).encode()]
    else:
        with pytest.raises(type(error)):
            asyncio.run(heard())
    assert closed == [True]


def test_what_is_no_failure_of_the_job_is_no_event() -> None:
    async def heard() -> list[bytes]:
        async def events() -> AsyncGenerator[bytes, None]:
            yield b"event"
            raise edge.ClientStalled(15)

        return [event async for event in ending_with_error(events(), {}, lambda told: b"")]

    with pytest.raises(edge.ClientStalled):
        asyncio.run(heard())
