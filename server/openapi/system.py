"""The routes about the server itself."""

from server.openapi.atoms import EVENTS, TEXT, answer, content, fields, reference, refusals
from storage.entry import JSON


def system_paths() -> dict[str, JSON]:
    """What operators and pages read, and the key's cookie."""
    snapshot = answer("The snapshot.", content(reference("Snapshot")))
    paths: dict[str, JSON] = {
        path: {"get": {"summary": summary, "responses": {"200": answered, **refusals(429)}}}
        for path, summary, answered in (
            ("/", "Where to go from here.", answer("Addresses.", content({"type": "object"}))),
            ("/health", "Alive; 200 while the queue is full.", snapshot),
            ("/status", "The same snapshot.", snapshot),
            ("/system/queue", "The same snapshot.", snapshot),
            ("/props", "Models, defaults and limits.", answer("Properties.", content({"type": "object"}))),
            ("/logs", "The log as server-sent events.", answer("Lines.", EVENTS)),
            ("/metrics", "Prometheus metrics.", answer("Exposition.", content(TEXT, "text/plain"))),
            ("/openapi.json", "This document.", answer("OpenAPI 3.1.", content({"type": "object"}))),
        )
    }
    return paths | {"/session": _session()}


def _session() -> JSON:
    key = content(fields({"key": TEXT}) | {"additionalProperties": False})
    return {
        "post": {
            "summary": "Trade an API key for a cookie, for players and event streams, which send no headers.",
            "security": [],
            "requestBody": {"required": True, "content": key},
            "responses": {"204": answer("Set-Cookie holds the cookie."), **refusals(415)},
        },
        "delete": {"summary": "Give the cookie back.", "responses": {"204": answer("Gone."), **refusals()}},
    }
