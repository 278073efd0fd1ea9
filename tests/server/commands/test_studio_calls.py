"""A server called for agents: what it answers, and what is told where it does not."""

import asyncio
import io
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, TypeVar

import pytest
from mcp_types import CallToolResult, TextContent

from server.client.download import Download
from server.client.errors import BadAddress
from server.commands.bridge_errors import BridgeRefusal
from server.commands.studio_calls import StudioCalls
from tests.server.commands.mcp_double import (
    CUT,
    JOB_ID,
    LINK_PATH,
    Raw,
    Studio,
    mcp_double,
    protocol_error,
    refusal,
    result,
)

T = TypeVar("T")
MODERN: Final = "2026-07-28"
META: Final = "io.modelcontextprotocol"
FILE: Final = bytes(range(256)) * 40


@pytest.fixture
def studio() -> Iterator[Studio]:
    with mcp_double() as double:
        double.results.append(result("It is idle.", {"accepting": True}))
        yield double


async def at_once(seconds: float) -> None:
    """No wait."""


def asked(
    address: str, ask: Callable[[StudioCalls], Awaitable[T]], key: str = "", patience_seconds: float = 5
) -> T:
    """What comes of one thing that is asked."""

    async def asking() -> T:
        studio = StudioCalls(address, key, "1.2.3", sleep=at_once, patience_seconds=patience_seconds)
        async with studio:
            return await ask(studio)

    return asyncio.run(asking())


def called(address: str, key: str = "") -> CallToolResult:
    return asked(address, lambda studio: studio.call("server_status", {}), key)


def told(address: str, key: str = "") -> dict[str, Any]:
    """What a call's refusal tells."""
    with pytest.raises(BridgeRefusal) as refused:
        called(address, key)
    assert refused.value.told["message"] == str(refused.value)
    return refused.value.told


def test_a_call_is_one_request_of_the_pinned_revision(studio: Studio) -> None:
    answer = asked(studio.address, lambda one: one.call("speak", {"text": "Grüße"}), "secret")
    (seen,) = studio.seen
    assert (seen.method, seen.target, seen.headers["authorization"]) == ("POST", "/mcp", "Bearer secret")
    assert seen.headers["mcp-protocol-version"] == MODERN
    assert (seen.headers["mcp-method"], seen.headers["mcp-name"]) == ("tools/call", "speak")
    assert (seen.params["name"], seen.params["arguments"]) == ("speak", {"text": "Grüße"})
    assert seen.params["_meta"][f"{META}/protocolVersion"] == MODERN
    assert seen.params["_meta"][f"{META}/clientInfo"]["version"] == "1.2.3"
    assert answer.structured_content == {"accepting": True}
    assert isinstance(answer.content[0], TextContent)
    assert answer.content[0].text == "It is idle."


def test_a_tools_refusal_is_its_answer(studio: Studio) -> None:
    studio.results[0] = result("Full.", {"code": "queue_full", "retry_after_seconds": 5}, is_error=True)
    answer = called(studio.address)
    assert answer.is_error
    assert answer.structured_content == {"code": "queue_full", "retry_after_seconds": 5}


def test_calls_are_side_by_side(studio: Studio) -> None:
    studio.hold = threading.Event()

    async def both(one: StudioCalls) -> bool:
        waiting = asyncio.create_task(one.call("job_status", {"job_id": JOB_ID}))
        await asyncio.to_thread(studio.held.wait, 20)
        hold, studio.hold = studio.hold, None
        await one.call("server_status", {})
        was_waiting = not waiting.done()
        assert hold is not None
        hold.set()
        await waiting
        return was_waiting

    assert asked(studio.address, both)


def test_a_call_that_is_given_up_ends_its_request(studio: Studio) -> None:
    studio.hold = threading.Event()

    async def given_up(one: StudioCalls) -> bool:
        waiting = asyncio.create_task(one.call("job_status", {"job_id": JOB_ID}))
        await asyncio.to_thread(studio.held.wait, 20)
        waiting.cancel()
        await asyncio.wait([waiting])
        return waiting.cancelled()

    try:
        assert asked(studio.address, given_up)
    finally:
        studio.hold.set()


def test_nobody_there_is_told_with_what_to_do() -> None:
    with mcp_double() as gone:
        address = gone.address
    refused = told(address)
    assert refused["code"] == "unreachable"
    assert address in refused["message"]
    assert "`./task start`" in refused["message"]
    assert "--server" in refused["message"]


@pytest.mark.parametrize(("key", "words"), [("", "wants an API key,"), ("wrong", "wants another API key")])
@pytest.mark.parametrize(
    "answer", [refusal(401, "unauthorized"), protocol_error(401, -32600), Raw(401, b"<html>", "text/html")]
)
def test_a_wrong_key_is_told_with_where_it_is_given(
    studio: Studio, key: str, words: str, answer: Raw
) -> None:
    studio.planned.append(answer)
    refused = told(studio.address, key)
    assert refused["code"] == "unauthorized"
    assert words in refused["message"]
    assert "STUDIO_API_KEY" in refused["message"]
    assert "--api-key" in refused["message"]


@pytest.mark.parametrize(
    "answer",
    [
        Raw(200, b"<html>Hello</html>", "text/html"),
        Raw(200, b'{"hello": "world"}'),
        Raw(200, b"no json"),
        Raw(202),
        Raw(404, b"Not Found", "text/plain"),
        Raw(404, b'{"detail": "Not Found"}'),
        Raw(404, b'["Not Found"]'),
        Raw(500, b"{", "application/json"),
        protocol_error(400, -32600, "Bad Request: Missing session ID"),
        protocol_error(400, -32000, "Bad Request: Server not initialized"),
    ],
)
def test_another_service_is_told(studio: Studio, answer: Raw) -> None:
    studio.planned.append(answer)
    refused = told(studio.address)
    assert refused["code"] == "wrong_service"
    assert "is no YuE2 Studio server" in refused["message"]
    assert "--server" in refused["message"]


def test_a_result_that_is_none_is_another_services(studio: Studio) -> None:
    studio.results[0] = {"content": "text"}
    assert told(studio.address)["code"] == "wrong_service"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("location", ["https://studio.example/mcp", "/mcp/"])
def test_nothing_follows_to_another_address(studio: Studio, status: int, location: str) -> None:
    studio.planned.append(Raw(status, headers={"Location": location}))
    refused = told(studio.address, "secret")
    assert refused["code"] == "wrong_service"
    assert location in refused["message"]
    assert len(studio.seen) == 1


@pytest.mark.parametrize(
    "answer",
    [
        refusal(404, "unknown_route"),
        refusal(405, "method_not_allowed"),
        protocol_error(404, -32601, "Method not found"),
        protocol_error(200, -32602, "There is no tool 'server_status'"),
        protocol_error(400, -32022, "Unsupported", {"supported": ["2027-01-01"], "requested": MODERN}),
    ],
)
def test_another_version_is_told(studio: Studio, answer: Raw) -> None:
    studio.planned.append(answer)
    refused = told(studio.address)
    assert refused["code"] == "other_version"
    assert "1.2.3" in refused["message"]


def test_what_the_server_refuses_by_http_is_told_in_its_words(studio: Studio) -> None:
    native = refusal(421, "forbidden_host")
    data = {"code": "shutting_down", "retry_after_seconds": 5}
    studio.planned.extend([native, protocol_error(503, -32603, "It stops.", data)])
    assert told(studio.address) == {"code": "forbidden_host", "message": "Refused for forbidden_host."}
    assert told(studio.address) == {
        "code": "shutting_down",
        "message": "It stops.",
        "retry_after_seconds": 5,
    }


def test_a_gateway_with_nobody_behind_it_is_told(studio: Studio) -> None:
    studio.planned.append(Raw(502, b"<html>Bad Gateway</html>", "text/html"))
    assert told(studio.address)["code"] == "unreachable"


def test_the_servers_own_failure_is_told(studio: Studio) -> None:
    studio.planned.append(protocol_error(200, -32603, "Internal server error"))
    refused = told(studio.address)
    assert refused["code"] == "internal_error"
    assert "log" in refused["message"]


def test_a_connection_that_ends_leaves_open_what_was_done(studio: Studio) -> None:
    studio.planned.append(Raw(CUT))
    refused = told(studio.address)
    assert refused["code"] == "connection_lost"
    assert "idempotency_key" in refused["message"]


@pytest.mark.parametrize(("address", "key"), [("nonsense", ""), ("ftp://a", ""), ("http://a", "key\n")])
def test_what_cannot_be_an_address_or_a_key_is_told_at_once(address: str, key: str) -> None:
    with pytest.raises(BadAddress):
        StudioCalls(address, key, "1.2.3")


def test_a_recording_is_sent_as_it_is(studio: Studio) -> None:
    options = {"format": "srt", "prompt": "Åse & Øyvind"}
    job = asked(studio.address, lambda one: one.upload(options, "once", b"RIFF"), "secret")
    (seen,) = studio.seen
    assert (job.id, job.queue_position) == (JOB_ID, 1)
    assert (seen.path, seen.query, seen.body) == ("/mcp/transcribe", options, b"RIFF")
    assert (seen.headers["content-type"], seen.headers["idempotency-key"]) == (
        "application/octet-stream",
        "once",
    )


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(400, "invalid_field", field="audio"), "invalid_field"),
        (refusal(429, "queue_full", retry_after_seconds=5), "queue_full"),
        (Raw(202, b"{}"), "wrong_service"),
        (Raw(CUT), "connection_lost"),
    ],
)
def test_a_recording_that_is_not_taken_is_told(studio: Studio, answer: Raw, code: str) -> None:
    studio.planned.append(answer)
    with pytest.raises(BridgeRefusal) as refused:
        asked(studio.address, lambda one: one.upload({}, "", b"RIFF"))
    assert refused.value.code == code


def downloaded(studio: Studio, size: int = len(FILE), patience_seconds: float = 5) -> bytes:
    """What has come, be it all or not."""
    kept = io.BytesIO()
    studio.file = FILE
    asked(
        studio.address,
        lambda one: one.download(LINK_PATH, size, Download(kept)),
        patience_seconds=patience_seconds,
    )
    return kept.getvalue()


def test_a_file_comes_whole(studio: Studio) -> None:
    assert downloaded(studio) == FILE
    assert [seen.path for seen in studio.seen] == [LINK_PATH]


def test_a_broken_download_goes_on_where_it_was(studio: Studio) -> None:
    studio.cuts.append(1000)
    assert downloaded(studio) == FILE
    assert studio.seen[1].headers["if-match"] == '"file-1"'
    start = int(studio.seen[1].headers["range"].removeprefix("bytes=").removesuffix("-"))
    assert 0 < start <= 1000


def test_a_server_with_no_place_for_a_download_is_waited_for(studio: Studio) -> None:
    busy = json.dumps({"error": "Busy.", "code": "too_many_downloads", "retry_after_seconds": 0.01}).encode()
    studio.planned.append(Raw(429, busy))
    assert downloaded(studio) == FILE


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(410, "expired"), "expired"),
        (refusal(429, "too_many_downloads", retry_after_seconds=5), "too_many_downloads"),
        (Raw(CUT), "connection_lost"),
        (Raw(200, b"<html></html>", "text/html"), "wrong_service"),
    ],
)
def test_a_download_is_given_up_in_the_end(studio: Studio, answer: Raw, code: str) -> None:
    studio.planned.append(answer)
    with pytest.raises(BridgeRefusal) as refused:
        downloaded(studio, patience_seconds=0.1)
    assert refused.value.code == code
    assert len(studio.seen) == 1


def test_the_rest_of_another_file_is_not_taken(studio: Studio) -> None:
    studio.cuts.append(1000)
    studio.etags.extend(['"file-1"', '"file-2"'])
    with pytest.raises(BridgeRefusal) as refused:
        downloaded(studio)
    assert refused.value.code == "result_changed"


def test_a_file_of_another_length_is_not_taken(studio: Studio) -> None:
    with pytest.raises(BridgeRefusal) as refused:
        downloaded(studio, size=1)
    assert refused.value.code == "wrong_service"
