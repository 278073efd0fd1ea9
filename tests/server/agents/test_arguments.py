"""What tools are called with: schemas that any client reads, and refusals that say what to change."""

import json
from collections.abc import Mapping

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidRequest, MissingInput, UnknownField
from engine.request import SongRequest
from server.agents.arguments import (
    INPUTS,
    RECORDING,
    Creating,
    Transcribing,
    Watching,
    input_schema,
    read_arguments,
    read_as,
)
from storage.entry import JSON

CREATING = ("create_song", "plan_score", "preview_score", "speak", "transcribe")


def words_in(schema: object) -> set[str]:
    """Every name of an object in a schema, however deep."""
    if isinstance(schema, dict):
        return set(schema).union(*map(words_in, schema.values()))
    return set().union(*map(words_in, schema)) if isinstance(schema, list) else set()


@pytest.mark.parametrize("tool", INPUTS)
def test_schemas_are_plain_and_closed(tool: str) -> None:
    schema = input_schema(tool)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not words_in(schema) & {"$ref", "$defs", "anyOf", "oneOf", "ge", "le", "gt", "lt"}
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == list(INPUTS[tool].names)
    for name, argument in properties.items():
        assert isinstance(argument, dict)
        assert len(str(argument["description"])) > 10, name
        assert {"type", "enum"} & argument.keys(), name


def test_only_what_a_tool_cannot_do_without_is_required() -> None:
    required = {tool: input_schema(tool).get("required") for tool in INPUTS}
    assert {tool: names for tool, names in required.items() if names} == {
        "transcribe": ["job_id"],
        "job_status": ["job_id"],
        "cancel_job": ["job_id"],
        "writing_guide": ["topic"],
    }


def test_bounds_and_defaults_are_those_of_the_native_requests() -> None:
    song, preview = input_schema("create_song")["properties"], input_schema("preview_score")["properties"]
    assert isinstance(song, dict)
    assert isinstance(preview, dict)
    native = SongRequest.model_json_schema()["properties"]
    for name in ("lyrics", "steps", "output_format", "mp3_bitrate", "cot"):
        shown = song[name]
        assert isinstance(shown, dict)
        rest = {word: value for word, value in native[name].items() if word not in ("title", "description")}
        for word, value in rest.items():
            assert shown.get(word, "") == value, (name, word)
    bars = preview["bars"]
    assert isinstance(bars, dict)
    assert (bars["type"], bars["minimum"]) == ("integer", 1)


def test_arguments_are_told_apart_and_null_is_nothing() -> None:
    sent: Mapping[str, JSON] = {"style": "folk", "lyrics": None, "title": "Harbour", "idempotency_key": "k-1"}
    read = read_arguments("create_song", sent)
    assert read.payload == {"style": "folk"}
    assert read.own == Creating(title="Harbour", idempotency_key="k-1")
    assert read_arguments("job_status", {"job_id": "j"}).own == Watching(job_id="j", wait_seconds=0)
    assert read_arguments("transcribe", {"job_id": "j"}).own == Transcribing(job_id="j", format="text")


@pytest.mark.parametrize(
    ("tool", "sent", "kind", "field", "said"),
    [
        ("create_song", {"titel": "x"}, UnknownField, "titel", "did you mean title?"),
        ("list_models", {"all": True}, UnknownField, "all", "it takes none"),
        ("create_song", {"synth_batch_size": 2}, UnknownField, "synth_batch_size", "it takes style, lyrics"),
        ("create_song", {"title": "x" * 81}, InvalidRequest, "title", "at most 80 characters"),
        ("create_song", {"title": "a\0b"}, InvalidRequest, "title", "NUL"),
        ("create_song", {"idempotency_key": "a b"}, InvalidRequest, "idempotency_key", "without spaces"),
        ("create_song", {"idempotency_key": "k" * 256}, InvalidRequest, "idempotency_key", "at most 255"),
        ("create_song", {"idempotency_key": 5}, InvalidRequest, "idempotency_key", "must be text"),
        ("job_status", {}, MissingInput, "job_id", "job_id is required"),
        ("job_status", {"job_id": 1}, InvalidRequest, "job_id", "must be text"),
        ("job_status", {"job_id": "j", "wait_seconds": "45"}, InvalidRequest, "wait_seconds", "a number"),
        ("job_status", {"job_id": "j", "wait_seconds": 46}, InvalidRequest, "wait_seconds", "0 and 45"),
        ("job_status", {"job_id": "j", "wait_seconds": -1}, InvalidRequest, "wait_seconds", "0 and 45"),
        ("job_status", {"job_id": "j", "wait_seconds": True}, InvalidRequest, "wait_seconds", "a number"),
        ("transcribe", {"job_id": "j", "format": "pdf"}, InvalidRequest, "format", "one of"),
        ("writing_guide", {"topic": "drums"}, InvalidRequest, "topic", "one of"),
    ],
)
def test_what_is_wrong_is_named(
    tool: str, sent: dict[str, JSON], kind: type[InvalidRequest], field: str, said: str
) -> None:
    with pytest.raises(InvalidRequest) as raised:
        read_arguments(tool, sent)
    assert (type(raised.value), raised.value.field) == (kind, field)
    assert said in str(raised.value)


def test_a_recording_takes_what_the_tool_takes_but_no_job() -> None:
    read = read_as(RECORDING, "transcribe", {"language": "en", "format": "srt"})
    assert read.payload == {"language": "en"}
    with pytest.raises(UnknownField):
        read_as(RECORDING, "transcribe", {"job_id": "j"})


@pytest.mark.parametrize("tool", CREATING)
@given(data=st.data())
def test_what_the_schema_allows_of_a_tools_own_is_read(tool: str, data: st.DataObject) -> None:
    own = {
        "title": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80),
        "idempotency_key": st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=255),
        "job_id": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=64),
        "format": st.sampled_from(["text", "json", "srt", "vtt"]),
    }
    names = [name for name in INPUTS[tool].own.model_fields if name in own]
    sent = {name: data.draw(own[name]) for name in names}
    jsonschema.validate(sent, input_schema(tool))
    assert read_arguments(tool, sent).own.model_dump() == sent


def test_a_schema_is_small_enough_to_be_read_by_a_model() -> None:
    assert sum(len(json.dumps(input_schema(tool))) for tool in INPUTS) < 16_000
