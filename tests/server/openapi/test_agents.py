"""The routes that agents' clients take, as they are described."""

from jsonschema import Draft202012Validator

from server.envelopes import error_body
from server.errors import (
    BodyTooLarge,
    ForbiddenHost,
    ForbiddenOrigin,
    InvalidJson,
    InvalidMessage,
    NotAcceptable,
    TooManyUploads,
    Unauthorized,
    UnknownRoute,
    UnsupportedMedia,
)
from server.openapi.agents import agent_paths
from server.openapi.schemas import schemas
from tests.server.openapi.test_document import jsonable


def test_a_link_needs_no_key_and_answers_ranges_expiry_and_full_places() -> None:
    described = jsonable(agent_paths())["/artifacts/{token}/{name}"]["get"]
    assert described["security"] == []
    assert [(one["name"], one["in"]) for one in described["parameters"]] == [
        ("token", "path"),
        ("name", "path"),
    ]
    assert {"200", "206", "304", "404", "410", "412", "416", "421", "429"} <= set(described["responses"])


def test_refusals_of_messages_are_described_as_they_are_sent() -> None:
    """Whatever was wrong before the message was read; clients that read no HTTP status read these."""
    shape = jsonable(schemas())["McpError"]
    described = jsonable(agent_paths())["/mcp"]["post"]["responses"]
    for error in (
        InvalidJson("a comma is missing", 2, 9),
        InvalidMessage("it has no method"),
        Unauthorized(),
        ForbiddenOrigin("null"),
        UnknownRoute("/mcp/"),
        NotAcceptable("text/html", "application/json"),
        BodyTooLarge(10),
        UnsupportedMedia("text/plain", "application/json"),
        ForbiddenHost("evil"),
        TooManyUploads("large bodies", 16),
        RuntimeError("bug"),
    ):
        status, _, body = error_body(error, "abc", "/mcp")
        Draft202012Validator(shape).validate(body)
        content = described[str(status)]["content"]["application/json"]
        assert content["schema"]["$ref"].endswith("/McpError")


def test_a_recording_comes_with_what_the_tool_takes_beside_it() -> None:
    described = jsonable(agent_paths())["/mcp/transcribe"]["post"]
    asked = {one["name"] for one in described["parameters"] if one["in"] == "query"}
    assert asked == {"language", "task", "prompt", "model", "title", "format"}
    form = described["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert set(form["properties"]) == {"audio", "request"}
    assert form["required"] == ["audio"]
    assert set(form["properties"]["request"]["properties"]) == asked
