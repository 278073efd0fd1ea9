"""The routes that take work, as they are described."""

from typing import Any

import pytest

from engine.transcription_request import TranscriptionRequest
from engine.vae_request import DecodeRequest
from server.openapi.submissions import submission_paths
from server.uploads import RECORDING_PART
from tests.server.openapi.test_document import jsonable


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(submission_paths())
    return described


def test_each_can_be_refused_for_its_body_its_key_and_want_of_room(paths: dict[str, Any]) -> None:
    assert set(paths) == {"/synth", "/plan", "/sketch", "/speech", "/transcribe", "/vae"}
    for path in paths.values():
        assert {"200", "202", "413", "415", "422", "429", "503", "507"} <= set(path["post"]["responses"])
        assert path["post"]["parameters"][-1]["name"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("/transcribe", [*TranscriptionRequest.model_fields]),
        ("/vae", ["op", *DecodeRequest.model_fields]),
        ("/speech", []),
    ],
)
def test_options_that_stand_in_the_query_are_described(
    paths: dict[str, Any], path: str, options: list[str]
) -> None:
    described = [parameter["name"] for parameter in paths[path]["post"]["parameters"]]
    assert described == [*options, "Idempotency-Key"]


def test_a_recording_may_be_of_every_described_type_and_come_in_a_form(paths: dict[str, Any]) -> None:
    content = paths["/transcribe"]["post"]["requestBody"]["content"]
    form = content.pop("multipart/form-data")["schema"]
    assert (set(form["properties"]), form["required"]) == ({"audio", "request"}, ["audio"])
    assert form["additionalProperties"] is False
    for kind in content:
        RECORDING_PART.check_type(kind.replace("*", "x-any"))


def test_latents_need_both_parts_of_their_form(paths: dict[str, Any]) -> None:
    form = paths["/synth"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["request", "latents"]
