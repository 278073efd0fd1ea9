"""The routes about the server itself, as they are described."""

from server.openapi.system import system_paths
from tests.server.openapi.test_document import jsonable


def test_the_three_snapshots_are_one() -> None:
    paths = jsonable(system_paths())
    answers = [paths[path]["get"]["responses"]["200"] for path in ("/health", "/status", "/system/queue")]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Snapshot"}


def test_the_log_is_a_stream_and_the_metrics_are_text() -> None:
    paths = jsonable(system_paths())
    assert list(paths["/logs"]["get"]["responses"]["200"]["content"]) == ["text/event-stream"]
    assert list(paths["/metrics"]["get"]["responses"]["200"]["content"]) == ["text/plain"]


def test_a_session_is_begun_without_a_key_and_ended() -> None:
    session = jsonable(system_paths())["/session"]
    assert session["post"]["security"] == []
    assert {"204", "401", "415"} <= set(session["post"]["responses"])
    assert "204" in session["delete"]["responses"]
