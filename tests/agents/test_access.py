"""Who may call /mcp: the rules of the whole server hold there too, before anything is read."""

import http.client
import json
import traceback
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp import MCPError

from tests.agents.agent import ERAS, agent
from tests.agents.doubles import SAID, quick
from tests.agents.wire import PATH, VERSIONS, code_of, message, post, result_of, tool_call
from tests.agents.wire import Message as Asked
from tests.clients.studio import Studio

pytestmark = pytest.mark.runtime
each_version = pytest.mark.parametrize("version", VERSIONS)
KEY: Final = "the-key-of-one-0001"
GIVEN: Final = (
    {"Authorization": f"Bearer {KEY}"},
    {"X-Api-Key": KEY},
)
WRONG: Final[tuple[dict[str, str], ...]] = (
    {},
    {"Authorization": "Bearer another-key-0000"},
    {"X-Api-Key": ""},
    {"Authorization": f"Basic {KEY}"},
)


def ask(port: int, sent: Asked, headers: Mapping[str, str]) -> tuple[int, Any, Message]:
    """Status, body and headers of a request whose own headers are these and no others of a client's."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest("POST", PATH, skip_host=True, skip_accept_encoding=True)
        told = {"Host": "127.0.0.1", **sent.headers, **headers, "Content-Length": str(len(sent.content))}
        for name, value in told.items():
            connection.putheader(name, value)
        connection.endheaders(sent.content)
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if body else None, answer.headers
    finally:
        connection.close()


@each_version
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example"])
def test_a_foreign_host_is_refused(studio: Studio, version: str, host: str) -> None:
    status, told, _ = ask(studio.port, message(version, "tools/list"), {"Host": host})
    assert (status, told["error"]["data"]["code"]) == (421, "forbidden_host")


@each_version
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(studio: Studio, version: str, origin: str) -> None:
    status, told, _ = ask(studio.port, message(version, "tools/list"), {"Origin": origin})
    assert (status, told["error"]["data"]["code"]) == (403, "forbidden_origin")


@each_version
def test_its_own_origin_may(studio: Studio, version: str) -> None:
    host = f"127.0.0.1:{studio.port}"
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert ask(studio.port, message(version, "tools/list"), headers)[0] == 200


@each_version
def test_a_listed_origin_may_and_sees_the_headers(tmp_path: Path, version: str) -> None:
    origin = "https://agents.example"
    with quick(tmp_path, settings={"allowed_origins": origin}) as studio:
        status, _, headers = ask(studio.port, message(version, "tools/list"), {"Origin": origin})
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, origin)
        assert "retry-after" in headers["Access-Control-Expose-Headers"].lower()
        wanted = "content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id"
        asked = studio.native.options(
            PATH,
            headers={
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": wanted,
            },
        )
        assert asked.status_code in (200, 204)
        allowed = asked.headers["access-control-allow-headers"].lower()
        assert allowed == "*" or all(name in allowed for name in wanted.split(", "))


@each_version
@pytest.mark.parametrize("headers", WRONG, ids=["missing", "wrong", "empty", "basic"])
def test_a_missing_and_a_wrong_key_are_refused(tmp_path: Path, version: str, headers: dict[str, str]) -> None:
    with quick(tmp_path, settings={"api_keys": f"one={KEY}"}) as studio:
        for sent in (message(version, "tools/list"), tool_call(version, "speak", {"text": SAID})):
            answer = post(studio.native, sent, headers)
            assert (answer.status_code, code_of(answer)) == (401, "unauthorized")
        assert studio.jobs == 0


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("headers", GIVEN, ids=["bearer", "x-api-key"])
def test_a_key_opens(tmp_path: Path, mode: str, headers: dict[str, str]) -> None:
    with (
        quick(tmp_path, settings={"api_keys": f"one={KEY}"}) as studio,
        agent(studio.url, mode, headers) as caller,
    ):
        assert caller.made("speak", text=SAID)


@pytest.mark.parametrize("mode", ERAS)
def test_the_client_without_a_key_is_told_so(tmp_path: Path, mode: str) -> None:
    """In one era when it connects, out of the SDK's task groups, in the other when it first asks."""
    with (
        quick(tmp_path, settings={"api_keys": f"one={KEY}"}) as studio,
        pytest.raises((MCPError, ExceptionGroup)) as told,
        agent(studio.url, mode) as caller,
    ):
        caller.do(caller.client.list_tools)
    assert "An API key is needed" in "".join(traceback.format_exception(told.value))


def test_a_recording_needs_a_key_too(tmp_path: Path) -> None:
    with quick(tmp_path, settings={"api_keys": f"one={KEY}"}) as studio:
        answer = studio.native.post(f"{PATH}/transcribe", content=b"RIFF")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


def test_names_that_nobody_may_ask_for_are_not_answered(studio: Studio) -> None:
    with httpx2.Client(base_url=studio.url, trust_env=False, verify=False) as http:
        assert result_of(post(http, message(VERSIONS[2], "tools/list")))["tools"]
        assert http.post(f"{PATH}/", content=b"{}").status_code == 404
        assert http.post(f"{PATH}/sse", content=b"{}").status_code == 404
