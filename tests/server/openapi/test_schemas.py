"""The shapes that routes take and send, as they are described."""

from typing import Any

import pytest
from pydantic import BaseModel

from engine.request import SongRequest
from engine.speech_request import SpeechRequest
from engine.transcription_model import Segment, Transcript, transcript_as_json
from engine.transcription_request import TranscriptionRequest
from engine.words import Word
from server.openapi.schemas import schemas
from tests.server.openapi.test_document import jsonable

NUMBERS = (int, float)
KINDS: dict[str, type | tuple[type, ...]] = {"string": str, "number": NUMBERS, "integer": int, "array": list}


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(schemas())
    return described


def check(shapes: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """The value has exactly the described keys, all of them required, and each is of its type."""
    if "$ref" in schema:
        check(shapes, shapes[schema["$ref"].rsplit("/", 1)[1]], value)
    elif schema["type"] == "object":
        assert set(value) == set(schema["properties"]) == set(schema["required"])
        for name, inner in schema["properties"].items():
            check(shapes, inner, value[name])
    else:
        assert isinstance(value, KINDS[schema["type"]])
        if isinstance(value, list):
            for inner in value:
                check(shapes, schema["items"], inner)


def test_a_transcript_is_described_as_it_is_sent(shapes: dict[str, Any]) -> None:
    words = (Word("One.", 0.1, 0.9),)
    segment = Segment(0.0, 1.0, "One.", words, (7, 8), 0.0, -0.1, 1.0, 0.01)
    told = jsonable(transcript_as_json(Transcript("One.", "en", 0.9, 3.2, (segment,))))
    check(shapes, {"$ref": "#/components/schemas/Transcript"}, told)
    with pytest.raises(AssertionError):
        check(shapes, {"$ref": "#/components/schemas/Transcript"}, told | {"more": 1})
    del told["segments"][0]["tokens"]
    with pytest.raises(AssertionError):
        check(shapes, {"$ref": "#/components/schemas/Transcript"}, told)


@pytest.mark.parametrize("shape", [SongRequest, SpeechRequest, TranscriptionRequest])
def test_every_field_of_a_request_is_described(shapes: dict[str, Any], shape: type[BaseModel]) -> None:
    assert set(shapes[shape.__name__]["properties"]) == set(shape.model_fields)


def test_of_a_request_something_must_be_said(shapes: dict[str, Any]) -> None:
    assert [choice["required"] for choice in shapes["SpeechRequest"]["anyOf"]] == [["text"]]
    assert [choice["required"] for choice in shapes["SongRequest"]["anyOf"]] == [
        ["style"],
        ["lyrics"],
        ["abc"],
    ]
    assert "anyOf" not in shapes["TranscriptionRequest"]


def test_a_job_that_failed_also_tells_why(shapes: dict[str, Any]) -> None:
    job = shapes["Job"]
    assert set(job["properties"]) - set(job["required"]) == {"code", "error"}
    assert set(shapes["Error"]["required"]) == {"error", "code"}
