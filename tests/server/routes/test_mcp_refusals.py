"""`/mcp` and what is sent there that is no call: each is answered in the protocol's envelope, with a sentence."""

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server import bodies
from server.bodies import INLINE_BYTES
from server.limits import MAX_MCP_BYTES, MAX_MCP_VALUES
from storage.entry import JSON
from tests.agents.wire import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    VERSIONS,
    message,
    tool_call,
)
from tests.server.routes.mcp_door import SECRET, Door, error_of

each_version = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


@pytest.fixture(scope="module")
def one_door(tmp_path_factory: pytest.TempPathFactory) -> Door:
    """The same for tests that ask it many times and nothing else."""
    return Door(tmp_path_factory.mktemp("door"))


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
def test_post_is_the_only_method(door: Door, method: str) -> None:
    answer = door.client.request(method, "/mcp")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        assert "Model Context Protocol" in error_of(answer)["message"]


VALID: Final = tool_call(LEGACY, "speak", {"text": "@"}).content.decode()


@each_version
@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"", PARSE_ERROR, "invalid_json"),
        (b"{", PARSE_ERROR, "invalid_json"),
        (b"\xff\xfe{}", PARSE_ERROR, "invalid_json"),
        (b'"ping"', PARSE_ERROR, "invalid_json"),
        (f"[{VALID}]".encode(), PARSE_ERROR, "invalid_json"),
        (b"[" * 100_000, PARSE_ERROR, "invalid_json"),
        (VALID.replace('"@"', "NaN").encode(), PARSE_ERROR, "invalid_json"),
        (VALID.replace("@", "\\ud83c").encode(), PARSE_ERROR, "invalid_json"),
        (VALID.replace('"text"', '"a": 1, "a": 2, "text"').encode(), PARSE_ERROR, "invalid_json"),
        (VALID.replace('"@"', "[0" + ",0" * MAX_MCP_VALUES + "]").encode(), PARSE_ERROR, "invalid_json"),
        (VALID.replace('"@"', "[[],0" + ",0" * 200_000 + "]").encode(), PARSE_ERROR, "invalid_json"),
        (b"{}", INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"2.0"', '"1.0"').encode(), INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"method"', '"meth"').encode(), INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"tools/call"', "7").encode(), INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"id": 7', '"id": null').encode(), INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"id": 7', '"id": true').encode(), INVALID_REQUEST, "malformed_request"),
        (VALID.replace('"id": 7', '"id": 1.5').encode(), INVALID_REQUEST, "malformed_request"),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
            INVALID_REQUEST,
            "malformed_request",
        ),
    ],
)
def test_what_is_no_message_is_told_so(
    one_door: Door, version: str, body: bytes, code: int, said: str
) -> None:
    before = len(one_door.desk.asked)
    answer = one_door.post(tool_call(version, "speak"), body=body)
    assert answer.status_code == 400
    assert answer.json()["id"] is None
    error = error_of(answer)
    assert (error["code"], error["data"]["code"]) == (code, said)
    assert error["message"].startswith("The body is ")
    assert len(one_door.desk.asked) == before


@each_version
def test_a_byte_order_mark_is_overlooked(door: Door, version: str) -> None:
    sent = tool_call(version, "speak")
    assert door.post(sent, body=b"\xef\xbb\xbf" + sent.content).json()["result"]["isError"] is False


@each_version
@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Accept", "application/json", 200),
        ("Accept", "*/*", 200),
        ("Accept", "text/html, Application/*;q=0.5", 200),
        ("Accept", "text/event-stream", 406),
        ("Accept", "text/html", 406),
        ("Content-Type", "Application/JSON; charset=utf-8", 200),
        ("Content-Type", "application/vnd.mcp+json", 200),
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "multipart/form-data; boundary=a", 415),
    ],
)
def test_what_is_sent_and_taken_is_json(
    door: Door, version: str, header: str, value: str, status: int
) -> None:
    answer = door.post(tool_call(version, "speak"), {header: value})
    assert answer.status_code == status
    if status != 200:
        assert "application/json" in error_of(answer)["message"]
        assert door.desk.asked == []


@each_version
@pytest.mark.parametrize("header", ["Accept", "Content-Type"])
def test_a_client_that_says_neither_is_served(door: Door, version: str, header: str) -> None:
    sent = tool_call(version, "speak")
    del sent.headers[header]
    del door.client.headers["accept"]
    assert door.post(sent).status_code == 200


@each_version
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"name": "speak", "arguments": []}, "arguments"),
        ({"name": "speak", "arguments": SECRET}, "arguments"),
        ({"name": ["speak"]}, "name"),
    ],
)
def test_params_of_another_shape_are_told_where_they_are_wrong(
    door: Door, caplog: pytest.LogCaptureFixture, version: str, params: dict[str, Any], said: str
) -> None:
    answer = door.post(message(version, "tools/call", params), {"Mcp-Name": "speak"})
    error = error_of(answer)
    assert answer.status_code == (400 if version == MODERN else 200)
    assert error["code"] in (INVALID_PARAMS, HEADER_MISMATCH)
    assert said in error["message"]
    assert "params.params" not in error["message"]
    assert SECRET not in answer.text + caplog.text


@each_version
def test_an_unknown_method_or_tool_is_told_so(door: Door, version: str) -> None:
    for method in ("tools/brew", "tasks/list", "logging/setLevel", "resources/subscribe"):
        answer = door.post(message(version, method, {"level": "info", "uri": "a:b"}))
        assert (answer.status_code, error_of(answer)["code"]) == (
            404 if version == MODERN else 200,
            METHOD_NOT_FOUND,
        )
    answer = door.post(tool_call(version, "make_coffee"))
    assert (answer.status_code, error_of(answer)["code"]) == (
        400 if version == MODERN else 200,
        INVALID_PARAMS,
    )
    assert "make_coffee" in error_of(answer)["message"]


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
def test_there_is_nothing_to_subscribe_to(door: Door, accept: str) -> None:
    sent = message(MODERN, "subscriptions/listen", {"notifications": {}})
    answer = door.post(sent, {"Accept": accept})
    assert (answer.status_code, error_of(answer)["code"]) == (404, METHOD_NOT_FOUND)


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("Mcp-Method", "tools/list", HEADER_MISMATCH),
        ("Mcp-Name", "create_song", HEADER_MISMATCH),
        ("MCP-Protocol-Version", "2027-01-01", HEADER_MISMATCH),
    ],
)
def test_headers_that_tell_another_story_are_refused(door: Door, header: str, value: str, code: int) -> None:
    answer = door.post(tool_call(MODERN, "speak"), {header: value})
    assert (answer.status_code, error_of(answer)["code"]) == (400, code)
    assert door.desk.asked == []


def test_a_revision_that_nobody_here_speaks_is_told_those_that_are(door: Door) -> None:
    sent = message(MODERN, "tools/list")
    sent.headers["MCP-Protocol-Version"] = "2031-01-01"
    sent.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    answer = door.post(sent)
    assert (answer.status_code, error_of(answer)["code"]) == (400, UNSUPPORTED_VERSION)
    assert error_of(answer)["data"]["supported"] == [MODERN]


def test_without_a_key_a_client_is_told_how_to_send_one(tmp_path: Path) -> None:
    door = Door(tmp_path, api_keys="ann=annannannannannann")
    answer = door.post(tool_call(MODERN, "speak"))
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    error = error_of(answer)
    assert (error["code"], error["data"]) == (INVALID_REQUEST, {"code": "unauthorized"})
    assert "Authorization: Bearer KEY" in error["message"]
    assert door.desk.asked == []


@each_version
def test_a_body_over_the_limit_is_refused_by_what_it_says_or_by_what_comes(door: Door, version: str) -> None:
    sent = tool_call(version, "speak", {"text": "x" * MAX_MCP_BYTES})
    pieces = [sent.content[start : start + 65_536] for start in range(0, len(sent.content), 65_536)]
    for answer in (door.post(sent), door.client.post("/mcp", content=iter(pieces), headers=sent.headers)):
        assert (answer.status_code, error_of(answer)["data"]["code"]) == (413, "body_too_large")
        assert answer.headers["connection"] == "close"
    assert door.desk.asked == []


@each_version
def test_a_large_message_is_checked_beside_the_loop(
    door: Door, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    where: list[str] = []
    parse = bodies.parse_object

    def watch(body: bytes, whole: Callable[[str], int]) -> dict[str, JSON]:
        where.append(threading.current_thread().name)
        return parse(body, whole)

    monkeypatch.setattr(bodies, "parse_object", watch)
    text = 'la, la "la" ' * (INLINE_BYTES // 8)
    assert door.post(tool_call(version, "speak", {"text": text})).status_code == 200
    assert door.post(tool_call(version, "speak", {"text": "la"})).status_code == 200
    assert door.desk.asked[0] == {"text": text}
    assert ["AnyIO" in name for name in where] == [True, False]


def test_large_messages_have_their_places(door: Door) -> None:
    sent = tool_call(MODERN, "speak", {"text": "x" * (INLINE_BYTES + 1)})
    with ExitStack() as taken:
        for _ in range(door.parts.limits.large_bodies.total):
            taken.enter_context(door.parts.limits.large_bodies.slot())
        answer = door.post(sent)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
        assert error_of(answer)["data"] == {"code": "too_many_uploads", "retry_after_seconds": 5}
        assert door.post(tool_call(MODERN, "speak")).status_code == 200
    assert door.post(sent).status_code == 200


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
METHODS: Final = (
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "notifications/cancelled",
    "logging/setLevel",
    "",
)
WORDS: Final = (
    "_meta",
    "name",
    "uri",
    "arguments",
    "ref",
    "argument",
    "cursor",
    "protocolVersion",
    "capabilities",
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(VERSIONS),
    st.sampled_from(METHODS),
    st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS, values)),
    values,
)
def test_whatever_is_sent_is_answered(
    one_door: Door, version: str, method: str, params: dict[str, Any], identity: JSON
) -> None:
    """In the protocol's envelope, and never as a fault of ours."""
    sent = message(version, "ping")
    meta = sent.body["params"].get("_meta")
    body = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": meta, **params}}
    answer = one_door.post(sent, {"Mcp-Method": method}, json.dumps(body).encode())
    assert answer.status_code in (200, 202, 400, 404)
    if answer.status_code != 202:
        told = answer.json()
        assert told["jsonrpc"] == "2.0"
        assert told.get("error", {}).get("code") != -32603
        assert told["id"] in (identity, None)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(VERSIONS), st.binary(max_size=40), st.integers(0, len(VALID)), st.integers(0, 20))
def test_whatever_bytes_are_sent_are_answered(
    one_door: Door, version: str, noise: bytes, place: int, dropped: int
) -> None:
    valid = tool_call(version, "speak", {"text": "@"}).content
    body = valid[:place] + noise + valid[place + dropped :]
    answer = one_door.post(tool_call(version, "speak"), body=body)
    assert answer.status_code in (200, 202, 400, 404)
    assert answer.status_code == 202 or answer.json()["jsonrpc"] == "2.0"
