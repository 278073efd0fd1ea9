"""What goes over the wire, by the specification of each revision: framing, routing, refusals of what is no message."""

import json
import socket
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from server.limits import MAX_MCP_BYTES
from tests.agents.wire import (
    FIRST,
    HEADER_MISMATCH,
    INITIALIZE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    PATH,
    UNSUPPORTED_VERSION,
    VERSIONS,
    Message,
    code_of,
    error_of,
    message,
    post,
    result_of,
    tool_call,
)
from tests.clients.studio import Studio
from tests.server.live import read_response, read_to_end
from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
each_version = pytest.mark.parametrize("version", VERSIONS)
GUIDE: Final = "yue2://guide/lyrics"


def request(studio: Studio, version: str, method: str, params: dict[str, Any] | None = None) -> Any:
    """The result of a request."""
    return result_of(post(studio.native, message(version, method, params)))


def refusal(studio: Studio, version: str, method: str, params: dict[str, Any] | None = None) -> Any:
    """The error of a request."""
    return error_of(post(studio.native, message(version, method, params)))


@pytest.mark.parametrize("version", [FIRST, LEGACY])
def test_initialize_agrees_on_the_clients_revision(studio: Studio, version: str) -> None:
    sent = message(version, "initialize", {**INITIALIZE, "protocolVersion": version})
    del sent.headers["MCP-Protocol-Version"]  # it is what is being agreed on
    answer = post(studio.native, sent)
    result = result_of(answer)
    assert result["protocolVersion"] == version
    assert {"tools", "resources", "prompts", "completions"} <= result["capabilities"].keys()
    assert result["serverInfo"]["name"]
    assert "job_status" in result["instructions"]
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", [FIRST, LEGACY])
def test_the_handshake_is_acknowledged_and_needed_by_nobody(studio: Studio, version: str) -> None:
    sent = message(version, "notifications/initialized")
    del sent.body["id"]
    answer = post(studio.native, sent)
    assert (answer.status_code, answer.content) == (202, b"")
    assert request(studio, version, "ping") == {}
    assert request(studio, version, "tools/list")["tools"]


def test_discover_tells_what_initialize_does(studio: Studio) -> None:
    told = request(studio, MODERN, "server/discover")
    assert told["supportedVersions"] == [MODERN]
    assert told["resultType"] == "complete"
    assert {"tools", "resources", "prompts", "completions"} <= told["capabilities"].keys()
    assert "tasks" not in told["capabilities"]
    assert "job_status" in told["instructions"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("prompts/list", {}),
        ("resources/read", {"uri": GUIDE}),
    ],
)
def test_what_never_changes_may_be_kept(studio: Studio, method: str, params: dict[str, Any]) -> None:
    """ttlMs and cacheScope are the modern revision's; older clients do not see them."""
    told = request(studio, MODERN, method, params)
    assert (told["ttlMs"], told["cacheScope"]) == (3_600_000, "public")
    assert told == request(studio, MODERN, method, params)
    for version in (FIRST, LEGACY):
        assert not {"ttlMs", "cacheScope", "resultType"} & request(studio, version, method, params).keys()


@each_version
def test_tools_are_listed_the_same_way_each_time(studio: Studio, version: str) -> None:
    lists = [[tool["name"] for tool in request(studio, version, "tools/list")["tools"]] for _ in range(2)]
    assert lists[0] == lists[1]
    assert len(set(lists[0])) == len(lists[0])


@each_version
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "make_coffee", "arguments": {}}),
        ("resources/read", {"uri": "yue2://guide/coffee"}),
        ("resources/read", {"uri": "file:///etc/passwd"}),
        ("prompts/get", {"name": "make_coffee"}),
        ("prompts/get", {"name": "write_song", "arguments": {}}),
    ],
    ids=["tool", "resource", "file", "prompt", "argument"],
)
def test_unknown_names_are_errors_of_the_protocol(
    studio: Studio, version: str, method: str, params: dict[str, Any]
) -> None:
    answer = post(studio.native, message(version, method, params))
    told = error_of(answer)
    assert told["code"] == INVALID_PARAMS
    assert told["message"]
    assert answer.status_code == (400 if version == MODERN else 200)


@each_version
@pytest.mark.parametrize("method", ["tools/brew", "tasks/list", "sampling/createMessage", ""])
def test_an_unknown_method_is_not_found(studio: Studio, version: str, method: str) -> None:
    answer = post(studio.native, message(version, method))
    assert error_of(answer)["code"] in (METHOD_NOT_FOUND, INVALID_REQUEST, INVALID_PARAMS)
    if method == "tools/brew":
        assert error_of(answer)["code"] == METHOD_NOT_FOUND
        assert answer.status_code == (404 if version == MODERN else 200)


@each_version
@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT"])
def test_post_is_the_one_method(studio: Studio, version: str, method: str) -> None:
    answer = studio.native.request(method, PATH, headers=message(version, "ping").headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@each_version
def test_a_client_must_take_json(studio: Studio, version: str) -> None:
    sent = message(version, "tools/list")
    assert post(studio.native, sent, {"Accept": "application/json"}).status_code == 200
    assert post(studio.native, sent, {"Accept": "text/event-stream"}).status_code == 406


@each_version
@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"\xff\xfe", b"[" * 5000])
def test_what_is_no_json_is_told_so(studio: Studio, version: str, body: bytes) -> None:
    answer = studio.native.post(PATH, content=body, headers=message(version, "tools/list").headers)
    assert answer.status_code == 400
    assert (error_of(answer)["code"], code_of(answer)) == (PARSE_ERROR, "invalid_json")
    assert studio.native.get("/health").status_code == 200


@each_version
@pytest.mark.parametrize(
    "body",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        "ping",
    ],
)
def test_what_is_no_message_is_told_so(studio: Studio, version: str, body: object) -> None:
    headers = message(version, "ping").headers
    answer = studio.native.post(PATH, content=json.dumps(body).encode(), headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in (INVALID_REQUEST, INVALID_PARAMS, PARSE_ERROR)


@each_version
@pytest.mark.parametrize(
    "arguments", [[], "text", 7, {"job_id": {"a": 1}}, {"job_id": None}, {"job_id": "x" * 100_000}]
)
def test_arguments_of_any_shape_are_answered(studio: Studio, version: str, arguments: object) -> None:
    """A refusal by the tool, or by the protocol; never a failure of the server."""
    sent = message(version, "tools/call", {"name": "job_status", "arguments": arguments})
    answer = post(studio.native, sent)
    told = answer.json()
    if "error" in told:
        assert told["error"]["code"] == INVALID_PARAMS
    else:
        assert told["result"]["isError"] is True
        assert told["result"]["structuredContent"]["code"] != "internal_error"


def test_a_modern_request_tells_the_same_twice(studio: Studio) -> None:
    """Its headers repeat what is in its body, for those on the way who read no bodies."""
    call = tool_call(MODERN, "server_status")
    for header, value in (
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "list_models"),
        ("MCP-Protocol-Version", "2027-01-01"),
    ):
        answer = post(studio.native, call, {header: value})
        assert (answer.status_code, error_of(answer)["code"]) in (
            (400, HEADER_MISMATCH),
            (400, UNSUPPORTED_VERSION),
        )
    assert post(studio.native, call).status_code == 200


def test_a_revision_that_is_not_spoken_is_told_which_are(studio: Studio) -> None:
    sent = message(MODERN, "tools/list")
    sent.headers["MCP-Protocol-Version"] = "2031-01-01"
    sent.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    answer = post(studio.native, sent)
    assert answer.status_code == 400
    told = error_of(answer)
    if told["code"] == UNSUPPORTED_VERSION:
        assert MODERN in told["data"]["supported"]


@each_version
def test_a_notification_is_acknowledged_and_changes_nothing(studio: Studio, version: str) -> None:
    before = studio.jobs
    sent = message(version, "notifications/cancelled", {"requestId": 7})
    del sent.body["id"]
    answer = post(studio.native, sent)
    assert (answer.status_code, answer.content) == (202, b"")
    assert studio.jobs == before


@each_version
@pytest.mark.parametrize("id", [0, -1, "text", "7", 2**53])
def test_the_id_comes_back_as_it_was(studio: Studio, version: str, id: Any) -> None:
    answer = post(studio.native, message(version, "tools/list", id=id))
    assert answer.json()["id"] == id


@each_version
def test_a_session_that_somebody_names_is_not_looked_at(studio: Studio, version: str) -> None:
    answer = post(studio.native, message(version, "tools/list"), {"Mcp-Session-Id": "0123456789abcdef"})
    assert result_of(answer)["tools"]


@each_version
def test_text_of_any_script_comes_back(studio: Studio, version: str) -> None:
    call = tool_call(version, "job_status", {"job_id": "Ω 日本 \u0000 🎵"})
    assert result_of(post(studio.native, call))["structuredContent"]["code"] in (
        "unknown_job",
        "invalid_field",
    )


def oversized(version: str) -> Message:
    """A call that is larger than one may be."""
    return tool_call(version, "speak", {"text": "x" * MAX_MCP_BYTES})


@each_version
def test_a_body_that_says_it_is_too_large_is_refused_unread(studio: Studio, version: str) -> None:
    with socket.create_connection(("127.0.0.1", studio.port), timeout=10) as connection:
        connection.sendall(oversized(version).raw().partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
        status, _, body = read_response(connection)
        assert (status, json.loads(body)["error"]["data"]["code"]) == (413, "body_too_large")


@each_version
def test_a_body_that_grows_too_large_is_refused(studio: Studio, version: str) -> None:
    sent = oversized(version)
    chunks = [sent.content[start : start + 65536] for start in range(0, len(sent.content), 65536)]
    answer = studio.native.post(PATH, content=iter(chunks), headers=sent.headers)
    assert (answer.status_code, code_of(answer)) == (413, "body_too_large")
    assert result_of(post(studio.native, message(version, "tools/list")))


@each_version
def test_a_body_of_nearly_the_limit_is_read(studio: Studio, version: str) -> None:
    call = tool_call(version, "speak", {"text": "x" * (MAX_MCP_BYTES - 1000)})
    told = result_of(post(studio.native, call))
    assert (told["isError"], told["structuredContent"]["field"]) == (True, "text")


def test_a_body_that_stalls_is_ended(tmp_path: Path) -> None:
    """By the time limits of the whole server, shortened here."""
    raw = tool_call(MODERN, "speak", {"text": "never sent whole"}).raw()
    with ServerProcess(tmp_path / "output", "--silent", "--timeout", "0.5") as server:
        with server.socket(raw[:-10]) as connection:
            assert b"202" not in read_to_end(connection)
        assert server.status()["agents"]["pending"] == 0


def test_a_value_of_many_values_is_refused(studio: Studio) -> None:
    """What the reader of JSON would take long over, for all others on the loop."""
    sent = message(MODERN, "tools/call", {"name": "speak", "arguments": {"text": [0] * 300_000}})
    answer = post(studio.native, sent)
    assert (answer.status_code, code_of(answer)) == (400, "invalid_json")


def test_the_log_says_nothing_of_what_was_asked(tmp_path: Path) -> None:
    secret = "xylophonically"
    with ServerProcess(tmp_path / "output", "--silent") as server:
        for arguments in ({"text": secret}, {"text": secret, "voice": secret}, {secret: secret}):
            post(server.client, tool_call(MODERN, "speak", arguments))
            post(server.client, tool_call(LEGACY, "speak", arguments))
        assert server.client.get("/health").status_code == 200
        assert secret not in server.log_text()


def test_the_answer_has_no_more_headers_than_it_should(studio: Studio) -> None:
    answer: httpx2.Response = post(studio.native, tool_call(MODERN, "server_status"))
    assert "retry-after" not in answer.headers
    assert "mcp-session-id" not in answer.headers
