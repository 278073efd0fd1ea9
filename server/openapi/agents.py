"""The routes that agents' clients take."""

from typing import Final

from server.agents.arguments import RECORDING, input_schema_of
from server.openapi.atoms import TEXT, answer, content, query, refusals
from server.openapi.submissions import queueing, recordings
from storage.entry import JSON

_ENVELOPE: Final[dict[str, JSON]] = {
    "jsonrpc": {"const": "2.0"},
    "id": {"type": ["string", "integer"]},
    "method": TEXT,
    "params": {"type": "object"},
}
_ANSWER: Final[dict[str, JSON]] = {"type": "object", "required": ["jsonrpc", "id"]}
_KINDS: Final = (
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "audio/wav",
    "text/vnd.abc",
    "text/plain",
    "application/json",
    "application/x-subrip",
    "text/vtt",
)


def agent_paths() -> dict[str, JSON]:
    """Agents' messages and recordings, and downloads of what their jobs made."""
    return {"/mcp": _messages(), "/mcp/transcribe": _recordings(), **_downloads()}


def _messages() -> JSON:
    version: JSON = {
        "name": "MCP-Protocol-Version",
        "in": "header",
        "description": "The revision of the protocol that the message is of; later than 2025-11-25 it is needed.",
        "required": False,
        "schema": TEXT,
    }
    message: JSON = {"type": "object", "required": ["jsonrpc", "method"], "properties": _ENVELOPE}
    return {
        "post": {
            "summary": "One message of the Model Context Protocol, over streamable HTTP.",
            "description": "Clients of that protocol find here which tools there are. Refusals of a tool are results with isError.",
            "parameters": [version],
            "requestBody": {"required": True, "content": content(message)},
            "responses": {
                "200": answer("The answer, or an error of the protocol.", content(_ANSWER)),
                "202": answer("A notification was taken."),
                **refusals(406, 415, 429, shape="McpError"),
            },
        }
    }


def _recordings() -> JSON:
    options = input_schema_of(RECORDING)
    properties = options["properties"]
    known = properties if isinstance(properties, dict) else {}
    asked: list[JSON] = [
        query(name, str(schema["description"]), schema)
        for name, schema in known.items()
        if isinstance(schema, dict)
    ]
    return queueing(
        "A recording written down for an agent, in one form and behind a link: the tool `transcribe` with a file. "
        "Options stand in the query, or in a form's part `request` in their place.",
        asked,
        recordings(options),
    )


def _downloads() -> dict[str, JSON]:
    file: dict[str, JSON] = {kind: {} for kind in _KINDS}
    names: list[JSON] = [
        {"name": name, "in": "path", "description": description, "required": True, "schema": TEXT}
        for name, description in (
            ("token", "The seal of the job, as its link has it."),
            ("name", "The file's name, as the link has it."),
        )
    ]
    return {
        "/artifacts/{token}/{name}": {
            "get": {
                "summary": "The file that an agent's job made, for an hour.",
                "description": "The link is all that is needed: it lets its file be read, and nothing else be done.",
                "security": [],
                "parameters": names,
                "responses": {
                    "200": answer("The file.", file),
                    "206": answer("One byte range of the file.", file),
                    "304": answer("If-None-Match names this file."),
                    **refusals(410, 412, 416, 429),
                },
            }
        }
    }
