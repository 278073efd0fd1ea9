"""`/mcp` with a desk of the test's own behind it: calls, their headers, and what becomes of visits."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, MCPError
from starlette.types import Message as Event

from tests.agents.wire import FIRST, LEGACY, MODERN, VERSIONS, message, tool_call
from tests.clients.held import PATIENCE_SECONDS
from tests.server.routes.mcp_door import LINK, SECRET, Door, error_of, whole

R = TypeVar("R")
each_version = pytest.mark.parametrize("version", VERSIONS)


def finished(run: Coroutine[Any, Any, R]) -> R:
    """What it gives; it is not waited for without end."""
    return asyncio.run(asyncio.wait_for(run, PATIENCE_SECONDS))


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


@each_version
def test_a_call_is_answered_in_one_piece_of_json_that_nobody_keeps(door: Door, version: str) -> None:
    answer = door.post(tool_call(version, "speak", {"text": "Good morning"}))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert not {"retry-after", "mcp-session-id", "x-yue2-job-id"} & answer.headers.keys()
    result = answer.json()["result"]
    assert (result["structuredContent"], result["isError"]) == ({"done": True}, False)
    assert result["content"] == [
        {"type": "text", "text": "Done."},
        {
            "type": "resource_link",
            "uri": LINK.url,
            "name": LINK.name,
            "mimeType": LINK.mime_type,
            "size": LINK.size_bytes,
            "description": LINK.description,
        },
    ]
    assert result.get("resultType") == ("complete" if version == MODERN else None)
    assert door.desk.asked == [{"text": "Good morning"}]


@each_version
def test_when_to_call_again_stands_in_the_header_too(door: Door, version: str) -> None:
    answer = door.post(tool_call(version, "create_song"))
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, True)
    assert answer.headers["retry-after"] == "5"
    assert "retry-after" not in door.post(tool_call(version, "speak")).headers


@pytest.mark.parametrize("version", [FIRST, LEGACY])
def test_the_handshake_needs_no_session(door: Door, version: str) -> None:
    sent = message(
        version,
        "initialize",
        {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    )
    del sent.headers["MCP-Protocol-Version"]
    result = door.post(sent).json()["result"]
    assert (result["protocolVersion"], result["serverInfo"]["version"]) == (version, "1.2.3")
    done = message(version, "notifications/initialized")
    del done.body["id"]
    acknowledged = door.post(done)
    assert (acknowledged.status_code, acknowledged.content) == (202, b"")


def test_discovery_needs_no_handshake(door: Door) -> None:
    result = door.post(message(MODERN, "server/discover")).json()["result"]
    assert result["supportedVersions"] == [MODERN]
    assert {"tools", "resources", "prompts", "completions"} == result["capabilities"].keys()
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")


@each_version
@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "notifications/anything"]
)
def test_notifications_are_taken_and_change_nothing(door: Door, version: str, method: str) -> None:
    sent = message(version, method, {"requestId": 7})
    del sent.body["id"]
    answer = door.post(sent)
    assert (answer.status_code, answer.content) == (202, b"")


@each_version
def test_a_fault_of_ours_is_told_without_its_words(
    door: Door, caplog: pytest.LogCaptureFixture, version: str
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = door.post(tool_call(version, "cancel_job"))
    assert error_of(answer)["code"] == -32603
    assert SECRET not in answer.text + caplog.text
    assert "RuntimeError at" in caplog.text


def test_a_visit_is_the_callers_and_links_begin_where_it_came_from(tmp_path: Path) -> None:
    door = Door(tmp_path, api_keys="ann=annannannannannann", allowed_hosts="studio.test")
    sent, key = tool_call(LEGACY, "speak"), {"Authorization": "Bearer annannannannannann"}
    asked: list[dict[str, str]] = [
        {},
        {"Host": "studio.test:8000"},
        {"X-Forwarded-Proto": "https", "Host": "studio.test"},
        {"X-Forwarded-Proto": "https, http", "Host": "studio.test"},
        {"X-Forwarded-Proto": "gopher"},
    ]
    for headers in asked:
        assert door.post(sent, key | headers).status_code == 200
    assert {visit.owner for visit in door.desk.visits} == {"ann"}
    assert [visit.base_url for visit in door.desk.visits] == [
        "http://127.0.0.1",
        "http://studio.test:8000",
        "https://studio.test",
        "https://studio.test",
        "http://127.0.0.1",
    ]


def test_links_begin_with_the_address_that_is_set(tmp_path: Path) -> None:
    door = Door(tmp_path, public_url="https://studio.example/music")
    door.post(tool_call(MODERN, "speak"))
    assert [visit.base_url for visit in door.desk.visits] == ["https://studio.example/music"]


def test_a_page_of_another_origin_may_where_it_is_listed(tmp_path: Path) -> None:
    door = Door(tmp_path, allowed_origins="https://agents.example")
    origin = {"Origin": "https://agents.example"}
    wanted = "content-type, authorization, mcp-protocol-version, mcp-method, mcp-name"
    told = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted}
    preflight = door.client.options("/mcp", headers=origin | told)
    assert preflight.status_code == 200
    allowed = preflight.headers["access-control-allow-headers"].split(", ")
    assert set(wanted.split(", ")) <= set(allowed)
    answer = door.post(tool_call(MODERN, "create_song"), origin)
    assert answer.headers["access-control-allow-origin"] == origin["Origin"]
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"Retry-After", "WWW-Authenticate"} <= set(exposed)


@each_version
def test_a_client_that_goes_ends_its_wait_and_nothing_else_is_left(door: Door, version: str) -> None:
    async def run() -> None:
        before = asyncio.all_tasks()
        gone = asyncio.Event()
        sent = tool_call(version, "job_status")
        asking = asyncio.create_task(door.ask(sent, whole(sent), gone))
        await door.desk.began.wait()
        assert not door.desk.visits[0].gone.is_set()
        gone.set()
        await asking
        assert door.desk.visits[0].gone.is_set()
        assert door.desk.cancelled == 0  # it is told, not stopped: what it has begun it also writes down
        assert asyncio.all_tasks() == before

    finished(run())


@each_version
def test_one_who_stays_is_answered_and_nothing_is_left(door: Door, version: str) -> None:
    async def run() -> None:
        before = asyncio.all_tasks()
        sent = tool_call(version, "job_status")
        asking = asyncio.create_task(door.ask(sent, whole(sent), asyncio.Event()))
        await door.desk.began.wait()
        door.desk.let_go.set()
        start, body = await asking
        assert (start["status"], json.loads(body["body"])["result"]["isError"]) == (200, False)
        assert asyncio.all_tasks() == before

    finished(run())


@each_version
def test_a_server_that_is_stopped_stops_the_call(door: Door, version: str) -> None:
    async def run() -> None:
        before = asyncio.all_tasks()
        sent = tool_call(version, "job_status")
        asking = asyncio.create_task(door.ask(sent, whole(sent), asyncio.Event()))
        await door.desk.began.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        assert door.desk.cancelled == 1
        assert asyncio.all_tasks() == before

    finished(run())


@each_version
def test_a_client_that_goes_within_its_message_is_nobody_s_visit(door: Door, version: str) -> None:
    async def run() -> list[Event]:
        sent = tool_call(version, "speak")
        begun: Event = {"type": "http.request", "body": sent.content[:20], "more_body": True}
        gone = asyncio.Event()
        gone.set()
        return await door.ask(sent, [begun], gone)

    assert finished(run()) == []
    assert door.desk.asked == []


@each_version
def test_calls_at_the_same_time_have_their_own_headers(door: Door, version: str) -> None:
    async def run() -> None:
        waiting, full = tool_call(version, "job_status"), tool_call(version, "create_song")
        asking = asyncio.create_task(door.ask(waiting, whole(waiting), asyncio.Event()))
        await door.desk.began.wait()
        refused = await door.ask(full, whole(full), asyncio.Event())
        door.desk.let_go.set()
        answered = await asking
        assert (b"retry-after", b"5") in refused[0]["headers"]
        assert b"retry-after" not in dict(answered[0]["headers"])

    finished(run())


def test_a_tool_is_called_by_http_alone(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with Client(door.server) as client:
            with pytest.raises(MCPError, match="inside the server"):
                await client.call_tool("speak")

    finished(run())
    assert "TypeError at" in caplog.text
    assert door.desk.asked == []
