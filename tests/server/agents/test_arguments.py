"""What tools are called with: schemas that any client reads, and refusals that say what to change."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.errors import InvalidRequest, MissingInput, UnknownField
from engine.request import SongRequest, read_sketch, read_song
from engine.speech_request import read_speech
from engine.transcription_request import read_transcription
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

SCHEMAS: Mapping[str, Any] = {tool: input_schema(tool) for tool in INPUTS}
VALIDATORS = {tool: jsonschema.Draft202012Validator(schema) for tool, schema in SCHEMAS.items()}
READERS: dict[str, Callable[[object], object]] = {
    "create_song": read_song,
    "plan_score": read_song,
    "preview_score": read_sketch,
    "speak": read_speech,
    "transcribe": read_transcription,
}


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
        ("job_status", {"job_id": "j", "wait_seconds": "long"}, InvalidRequest, "wait_seconds", "a number"),
        ("job_status", {"job_id": "j", "wait_seconds": "-1"}, InvalidRequest, "wait_seconds", "a number"),
        ("job_status", {"job_id": "j", "wait_seconds": -1}, InvalidRequest, "wait_seconds", "0 and 45"),
        ("job_status", {"job_id": "j", "wait_seconds": True}, InvalidRequest, "wait_seconds", "a number"),
        ("transcribe", {"file": "a.mp3"}, UnknownField, "file", "with POST /mcp/transcribe."),
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
    with pytest.raises(UnknownField):  # which is a header there
        read_as(RECORDING, "transcribe", {"idempotency_key": "k"})


TEXT = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
VISIBLE = st.characters(min_codepoint=0x21, max_codepoint=0x7E)


def values_of(schema: Mapping[str, Any]) -> st.SearchStrategy[JSON]:
    """What a schema allows, of text all but NUL; its edges often."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "string":
        most = schema["maxLength"]
        letters = VISIBLE if "pattern" in schema else TEXT
        return st.text(letters, max_size=min(most, 20)) | st.just("x" * most)
    low = schema.get("minimum", 0)
    if schema["type"] == "integer":
        high = schema.get("maximum", schema.get("exclusiveMaximum", 1) - 1)
        return st.integers(low, high) | st.sampled_from([low, high, float(low)])
    above = "exclusiveMinimum" in schema
    high = schema.get("maximum", 1e300)
    return st.floats(low, high, exclude_min=above) | st.just(1)


def read_whole(tool: str, sent: Mapping[str, JSON]) -> None:
    """Read the arguments and, as whoever makes the job does, their payload."""
    read = read_arguments(tool, sent)
    if tool in READERS:
        READERS[tool](dict(read.payload))


@pytest.mark.parametrize("tool", INPUTS)
@given(data=st.data())
def test_what_the_schema_allows_is_read(tool: str, data: st.DataObject) -> None:
    schema = SCHEMAS[tool]
    properties = schema["properties"]
    needed = {name: values_of(properties[name]) for name in schema.get("required", [])}
    others = {name: values_of(known) for name, known in properties.items() if name not in needed}
    sent = data.draw(st.fixed_dictionaries(needed, optional=others))
    assert VALIDATORS[tool].is_valid(sent)
    if sent.get("cot") == "off":  # which goes with no score
        sent.pop("abc", None)
    spoken = "text" if "text" in properties else "style"
    read_whole(tool, sent | {spoken: "folk"} if spoken in properties else sent)


@pytest.mark.parametrize("tool", INPUTS)
@given(data=st.data())
def test_what_the_schema_forbids_of_one_argument_is_refused_by_its_name(
    tool: str, data: st.DataObject
) -> None:
    properties = SCHEMAS[tool]["properties"]
    name = data.draw(st.sampled_from([*properties, "unknown"]))
    odd: st.SearchStrategy[JSON] = st.sampled_from(
        [True, "", "x" * 300_000, -2, 10**30, 0.5, [], {}, "90", 1e300, ["a"], {"a": 1}]
    )
    value = data.draw(odd)
    needed: Mapping[str, JSON] = {"job_id": "j", "topic": "lyrics", "text": "a", "style": "folk"}
    sent = {key: kept for key, kept in needed.items() if key in properties} | {name: value}
    assume(name not in INPUTS[tool].never and not VALIDATORS[tool].is_valid(sent))
    assume(
        name != "wait_seconds" or value not in ("90", 1e300, 10**30)
    )  # which are taken as the longest wait
    with pytest.raises(InvalidRequest) as raised:
        read_whole(tool, sent)
    assert raised.value.field.partition(".")[0] == name
    assert len(str(raised.value)) < 400


def test_whole_numbers_may_be_written_with_a_point() -> None:
    read_whole("create_song", {"style": "folk", "steps": 32.0, "seed": 7.0})
    assert VALIDATORS["create_song"].is_valid({"steps": 32.0, "seed": 7.0})


def test_a_score_is_not_planned_without_one() -> None:
    properties = SCHEMAS["plan_score"]["properties"]
    assert properties["cot"]["enum"] == ["full", "melody"]
    assert "off" not in properties["cot"]["description"]
    assert "off" in SCHEMAS["create_song"]["properties"]["cot"]["description"]


@pytest.mark.parametrize("tool", ["create_song", "plan_score", "preview_score"])
def test_how_long_a_song_can_be_is_told(tool: str) -> None:
    longest = SongRequest(style="folk", duration=1e9).longest_seconds
    assert f"at most {longest:g} seconds." in SCHEMAS[tool]["properties"]["duration"]["description"]


@pytest.mark.parametrize(
    ("sent", "read"),
    [(46, 45), (1e300, 45), (10**400, 45), ("45", 45), (" 2.5 ", 2.5), ("600", 45), (0.5, 0.5)],
)
def test_a_wait_is_taken_as_it_is_meant(sent: JSON, read: float) -> None:
    assert read_arguments("job_status", {"job_id": "j", "wait_seconds": sent}).own == Watching(
        job_id="j", wait_seconds=read
    )
    told = SCHEMAS["job_status"]["properties"]["wait_seconds"]
    assert told["maximum"] == 45
    assert "more than 45 is taken as 45" in told["description"]


def test_names_of_any_length_and_letters_are_told_back_short_and_plain() -> None:
    for name in ("x" * 10**6, "\ud800\n", "größe"):
        with pytest.raises(UnknownField) as raised:
            read_arguments("create_song", {name: 1})
        assert raised.value.field.isascii()
        assert str(raised.value).isascii()
        assert len(str(raised.value)) < 400


def test_a_schema_is_small_enough_to_be_read_by_a_model() -> None:
    assert sum(len(json.dumps(input_schema(tool))) for tool in INPUTS) < 16_000
