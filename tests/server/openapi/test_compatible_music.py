"""The routes of ElevenLabs' music calls, as they are described."""

from typing import Any

import pytest
from jsonschema_rs import is_valid

from server.compatible.music import drafted
from server.compatible.music_formats import FORMS
from server.envelopes import error_body
from server.errors import ANSWERS, Answer, JobFailed
from server.openapi.compatible import openai_schemas
from server.openapi.compatible_music import music_paths, music_schemas
from tests.server.openapi.test_document import jsonable

ERROR = {"$ref": "#/components/schemas/MusicError"}


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(music_paths())
    return described


@pytest.fixture(scope="module")
def shapes() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(openai_schemas() | music_schemas())
    return described


@pytest.mark.parametrize("kind", ANSWERS.values())
def test_errors_are_described_as_they_are_sent(shapes: dict[str, Any], kind: Answer) -> None:
    def told(path: str) -> Any:
        return jsonable(error_body(JobFailed(kind.code, "No."), "abc123", path, "0123456789abcdef")[2])

    described = {"components": {"schemas": shapes}, **ERROR}
    assert is_valid(described, told("/v1/music/detailed"))
    assert not is_valid(described, told("/v1/audio/speech"))


def test_every_failure_has_that_shape(paths: dict[str, Any]) -> None:
    for path in paths.values():
        for status, told in path["post"]["responses"].items():
            if status != "200":
                assert told["content"] == {"application/json": {"schema": ERROR}}


@pytest.mark.parametrize("path", ["", "/stream", "/detailed", "/detailed/stream"])
def test_a_song_is_waited_for_and_names_itself(paths: dict[str, Any], path: str) -> None:
    call = paths[f"/v1/music{path}"]["post"]
    assert {"200", "400", "401", "422", "429", "504", "507"} <= set(call["responses"])
    assert {"song-id", "X-Yue2-Job-Id"} == set(call["responses"]["200"]["headers"])
    assert [parameter["name"] for parameter in call["parameters"]] == ["output_format", "Idempotency-Key"]
    assert call["parameters"][0]["schema"]["enum"] == ["auto", *FORMS]


def test_a_song_comes_in_every_form_that_its_codes_name(paths: dict[str, Any]) -> None:
    kinds = {form.content_type.partition(";")[0] for form in FORMS.values()}
    assert set(paths["/v1/music"]["post"]["responses"]["200"]["content"]) == kinds


def test_a_plan_needs_no_job(paths: dict[str, Any]) -> None:
    call = paths["/v1/music/plan"]["post"]
    assert "parameters" not in call
    assert not {"504", "507"} & set(call["responses"])


def test_bounds_are_told_in_the_words_of_json_schema(shapes: dict[str, Any]) -> None:
    length = shapes["ComposeCall"]["properties"]["music_length_ms"]["anyOf"][0]
    assert length == {"type": "integer", "minimum": 3000, "maximum": 600_000}


@pytest.mark.parametrize("model", ["music_v1", "music_v2"])
def test_a_song_is_of_a_prompt_or_of_a_plan_as_it_is_made_here(shapes: dict[str, Any], model: str) -> None:
    described = {"components": {"schemas": shapes}, "$ref": "#/components/schemas/ComposeCall"}
    plan = jsonable(drafted({"prompt": "folk, guitar", "music_length_ms": 30_000, "model_id": model}).answer)
    assert is_valid(described, {"prompt": "folk", "composition_plan": None})
    assert is_valid(described, {"composition_plan": plan, "model_id": model})
    assert not is_valid(described, {"model_id": model})
    assert not is_valid(described, {"prompt": " "})
    assert not is_valid(described, {"composition_plan": {}})
