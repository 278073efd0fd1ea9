"""The routes of OpenAI's calls, as they are described."""

from typing import Any

import pytest
from jsonschema_rs import is_valid

from engine.transcription_model import Segment, Transcript, TranscriptAnswer, transcript_as_json
from engine.words import Word
from server.compatible.speech import SpeechCall
from server.compatible.transcript_answers import as_json, as_verbose_json
from server.compatible.transcription import TranscriptionCall
from server.envelopes import error_body
from server.errors import ANSWERS, Answer, JobFailed
from server.openapi.compatible import openai_paths, openai_schemas
from tests.server.openapi.test_document import jsonable

ERROR = {"$ref": "#/components/schemas/OpenAiError"}
WAITING = ("/v1/audio/speech", "/v1/audio/transcriptions", "/v1/audio/translations")


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(openai_paths())
    return described


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(openai_schemas())
    return described


def form(paths: dict[str, Any], path: str) -> Any:
    return paths[path]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]


@pytest.mark.parametrize("path", WAITING)
def test_a_call_that_waits_names_its_job_and_can_take_too_long(paths: dict[str, Any], path: str) -> None:
    call = paths[path]["post"]
    assert {"200", "400", "401", "415", "422", "429", "500", "503", "504", "507"} <= set(call["responses"])
    assert "409" not in call["responses"]
    assert "X-Yue2-Job-Id" in call["responses"]["200"]["headers"]
    assert call["parameters"][-1]["name"] == "Idempotency-Key"


@pytest.mark.parametrize("kind", ANSWERS.values())
def test_errors_are_described_as_they_are_sent(shapes: dict[str, Any], kind: Answer) -> None:
    told = error_body(JobFailed(kind.code, "It failed."), "abc123", "/v1/models", "0123456789abcdef")[2]
    assert is_valid({"components": {"schemas": shapes}, **ERROR}, told)
    assert not is_valid(
        {"components": {"schemas": shapes}, **ERROR}, {"error": "It failed.", "code": kind.code}
    )


def test_every_failure_has_that_shape(paths: dict[str, Any]) -> None:
    for path in paths.values():
        for method in path.values():
            failures = {status: told for status, told in method["responses"].items() if status != "200"}
            assert failures
            for told in failures.values():
                assert told["content"] == {"application/json": {"schema": ERROR}}


def test_an_id_of_a_model_may_be_any_text(paths: dict[str, Any]) -> None:
    (parameter,) = paths["/v1/models/{id}"]["get"]["parameters"]
    assert (parameter["in"], parameter["required"], parameter["schema"]["type"]) == ("path", True, "string")


def test_speech_takes_every_field_and_null_for_what_is_left_out(shapes: dict[str, Any]) -> None:
    shape = shapes["SpeechCall"]
    assert set(shape["properties"]) == set(SpeechCall.model_fields)
    assert shape["required"] == ["input"]
    assert {"type": "null"} in shape["properties"]["model"]["anyOf"]
    assert {"type": "null"} in shape["properties"]["speed"]["anyOf"]
    assert "additionalProperties" not in shape


def test_speech_may_be_of_every_format_or_events(paths: dict[str, Any]) -> None:
    kinds = set(paths["/v1/audio/speech"]["post"]["responses"]["200"]["content"])
    assert kinds == {
        "audio/mpeg",
        "audio/ogg",
        "audio/aac",
        "audio/flac",
        "audio/wav",
        "audio/pcm",
        "text/event-stream",
    }


def test_a_transcription_is_a_form_with_a_file(paths: dict[str, Any]) -> None:
    told = form(paths, "/v1/audio/transcriptions")
    assert told["required"] == ["file"]
    names = {name.removesuffix("[]") for name in told["properties"]}
    assert names == {"file", *TranscriptionCall.model_fields} - {"task", "include"}
    translation = form(paths, "/v1/audio/translations")
    assert not any(name.endswith("[]") for name in translation["properties"])


def test_transcripts_are_described_as_they_are_sent(shapes: dict[str, Any]) -> None:
    words = (Word("One.", 0.1, 0.9),)
    segment = Segment(0.0, 1.0, "One.", words, (7, 8), 0.0, -0.1, 1.0, 0.01)
    told = jsonable(transcript_as_json(Transcript("One.", "en", 0.9, 3.2, (segment,))))
    transcript = TranscriptAnswer.model_validate(told)
    assert "languages" in as_json(transcript, TranscriptionCall(language="en"))
    assert "languages" in shapes["TranscriptionJson"]["properties"]
    for task in ("transcribe", "translate"):
        call = TranscriptionCall.model_validate(
            {"task": task, "response_format": "verbose_json", "timestamp_granularities": ("word", "segment")}
        )
        for name, answer in (
            ("TranscriptionJson", as_json(transcript, call)),
            ("TranscriptionVerbose", as_verbose_json(transcript, call)),
        ):
            reference = {"$ref": f"#/components/schemas/{name}"}
            assert is_valid({"components": {"schemas": shapes}, **reference}, jsonable(answer)), name
