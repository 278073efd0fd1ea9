"""The routes that agents' clients take."""

from typing import Final

from server.openapi.atoms import TEXT, answer, refusals
from storage.entry import JSON

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
    """Downloads of what agents' jobs made."""
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
