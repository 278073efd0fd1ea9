"""The API's own description, OpenAPI 3.1, built from the request models and the error table."""

from typing import Final

from server.openapi.agents import agent_paths
from server.openapi.compatible import openai_paths, openai_schemas
from server.openapi.compatible_music import music_paths, music_schemas
from server.openapi.jobs import job_paths
from server.openapi.schemas import schemas
from server.openapi.submissions import submission_paths
from server.openapi.system import system_paths
from storage.entry import JSON

_SECURITY: Final[dict[str, JSON]] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "elevenlabs_header": {"type": "apiKey", "in": "header", "name": "xi-api-key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "yue2_key"},
}


def build_openapi(version: str, keyed: bool) -> dict[str, JSON]:
    """The whole document; `keyed` where requests need an API key."""
    document: dict[str, JSON] = {
        "openapi": "3.1.0",
        "info": {
            "title": "YuE2 Studio",
            "version": version,
            "description": "Songs, speech and transcripts, behind a bounded queue that never loses work.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": submission_paths()
        | job_paths()
        | openai_paths()
        | music_paths()
        | agent_paths()
        | system_paths(),
        "components": {
            "schemas": schemas() | openai_schemas() | music_schemas(),
            "securitySchemes": _SECURITY,
        },
    }
    if keyed:
        document["security"] = [{name: []} for name in _SECURITY]
    return document
