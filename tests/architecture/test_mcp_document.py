"""docs/mcp.md tells the tools, guides, states and codes that there are; its calls are answered and its settings are read."""

import ast
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx2
import numpy as np
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from server.agents.artifacts import MAX_ARTIFACTS, MAX_ARTIFACTS_BYTES
from server.agents.guides import GUIDES
from server.agents.prompts import PROMPTS
from server.agents.refusals import GONE_CODE
from server.agents.states import COMPLETE
from server.agents.telling import SHOWN_BYTES
from server.agents.tools import TOOLS
from server.commands.bridge_errors import UNREACHABLE
from server.errors import ANSWERS
from server.limits import AGENT_JOBS, MAX_MCP_BYTES, MAX_MCP_VALUES, MAX_WAIT_SECONDS, WAITS
from tests.architecture.documents import ROOT, code, fenced_blocks, fenced_lines, section, table_rows
from tests.server.product import Product, product
from tests.server.server_check import SilentModel
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

PATH = ROOT / "docs" / "mcp.md"
TEXT = PATH.read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
LINKED = {"url", "file_name", "mime_type", "size_bytes", "seconds", "expires_at"}
NO_TOOLS = {
    # of the edge, of a message, of routes of other kinds, and of jobs that have ended
    *("invalid_json", "malformed_request", "unsupported_media", "not_acceptable", "headers_too_large"),
    *("forbidden_host", "forbidden_origin", "unknown_route", "method_not_allowed"),
    *("precondition_failed", "range_not_satisfiable", "deadline_exceeded", "too_many_synchronous"),
    *("too_many_downloads", "result_too_large", "cancelled", "interrupted_by_restart"),
}
STATES = ["queued", "generating", "complete", "failed", "cancelled"]


def test_every_tool_is_told_and_whether_it_changes_things() -> None:
    rows = table_rows(section(TEXT, "## Tools"), 3)
    told = {code(row[0])[0]: row[2] for row in rows if row[2] in ("yes", "no")}
    assert told == {card.name: "no" if card.read_only else "yes" for card in TOOLS}


def test_every_guide_and_prompt_is_told() -> None:
    for guide in GUIDES:
        assert f"`{guide.uri}`" in TEXT
        assert f"`{guide.topic}`" in section(TEXT, "## Tools")
    for prompt in PROMPTS:
        assert f"`{prompt.name}`" in TEXT


def test_the_states_are_told_in_order() -> None:
    assert [code(row[0])[0] for row in table_rows(section(TEXT, "## States"), 2) if code(row[0])] == STATES


def test_every_code_of_a_refusal_is_told() -> None:
    """Those of the one table but what no tool is refused with, and those that have no row there."""
    told = {code(row[0])[0] for row in table_rows(section(TEXT, "## When a tool refuses"), 2)}
    assert (
        told == {answer.code for answer in ANSWERS.values()} - NO_TOOLS | {GONE_CODE} | codes_of_the_command()
    )


def test_the_codes_that_only_the_command_has_stand_apart() -> None:
    told = section(TEXT, "## When a tool refuses").partition("The command has codes of its own besides")
    of_tools, of_the_command = ({code(row[0])[0] for row in table_rows(part, 2)} for part in told[::2])
    assert of_tools & of_the_command == set()
    assert of_the_command <= codes_of_the_command()


def codes_of_the_command() -> set[str]:
    """What `yue2-studio mcp` refuses with by itself, as its source names it."""
    calls = [
        node.args[0]
        for path in (ROOT / "server" / "commands").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "BridgeRefusal"
    ]
    named = [node for call in calls for node in ast.walk(call)]
    literal = {
        node.value
        for node in named
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "save_to"
    }
    assert len(literal) > 10
    return literal | ({UNREACHABLE} if any(ast.unparse(node) == "UNREACHABLE" for node in named) else set())


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with doubles of every kind of model."""
    models = Catalogue(SilentModel(), speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    with product(tmp_path_factory.mktemp("mcp"), catalogue=models) as running:
        yield running


def flac() -> bytes:
    sink = io.BytesIO()
    encode(np.full((4800, 1), 0.25, np.float32), 48_000, AudioForm("flac"), sink)
    return sink.getvalue()


def sent(studio: Product, words: list[str]) -> httpx2.Response:
    """What curl would send, answered by the product."""
    pairs = list(pairwise(words))
    (address,) = (word for word in words if word.startswith(ADDRESS))
    headers = dict(word.split(": ", 1) for flag, word in pairs if flag == "-H")
    bodies = [
        word.encode() if flag == "-d" else flac() for flag, word in pairs if flag in ("-d", "--data-binary")
    ]
    return studio.client.post(address, headers=headers, content=bodies[0])


def test_the_calls_shown_are_answered(studio: Product) -> None:
    answers = [sent(studio, shlex.split(line.text)) for line in fenced_lines(PATH, "sh")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 202]
    listed, spoken, status = (answer.json()["result"] for answer in answers[:3])
    assert [tool["name"] for tool in listed["tools"]] == [card.name for card in TOOLS]
    assert spoken["structuredContent"]["state"] in ("queued", "generating")
    assert not status["isError"]
    assert answers[3].json()["id"]


def test_every_setting_is_one_that_its_client_reads() -> None:
    """By the shapes that the clients' own documentation gives; tests/agents/test_documented_setup.py uses them."""
    blocks = list(map(json.loads, fenced_blocks(TEXT, "json")))
    *shared, editor = ({**block}.pop("mcpServers", block.get("servers"))["yue2-studio"] for block in blocks)
    http, keyed, program, keyed_program, cursor = shared
    assert http == {"type": "http", "url": f"{ADDRESS}/mcp"}
    assert keyed == http | {"headers": {"Authorization": "Bearer ${STUDIO_API_KEY}"}}
    assert program.keys() == {"command", "args"}
    assert Path(program["command"]).is_absolute()
    assert keyed_program == program | {"env": {"STUDIO_API_KEY": "KEY"}}
    assert cursor == {
        "url": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${env:STUDIO_API_KEY}"},
    }
    (asked,) = blocks[-1]["inputs"]
    assert asked.keys() == {"type", "id", "description", "password"}
    assert editor == http | {"headers": {"Authorization": f"Bearer ${{input:{asked['id']}}}"}}


def test_the_settings_of_codex_are_toml() -> None:
    (block,) = map(tomllib.loads, fenced_blocks(TEXT, "toml"))
    assert block["mcp_servers"]["yue2-studio"] == {
        "url": f"{ADDRESS}/mcp",
        "bearer_token_env_var": "STUDIO_API_KEY",
    }


def test_the_lines_for_claude_code_add_the_address() -> None:
    lines = [shlex.split(line) for line in re.findall(r"^claude .*$", TEXT, re.MULTILINE)]
    added = [*["claude", "mcp", "add", "--transport", "http"], *["yue2-studio", f"{ADDRESS}/mcp"]]
    assert lines == [added, [*added, "--header", "Authorization: Bearer KEY"]]


def test_the_image_has_the_command_where_a_client_starts_it() -> None:
    assert "PATH=/opt/yue2-studio/bin:$PATH" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert '`"exec", "-i", "studio", "yue2-studio", "mcp"`' in TEXT


def test_the_numbers_told_are_those_that_hold() -> None:
    limits = section(TEXT, "## Limits")
    assert AGENT_JOBS == 8
    assert "eight unfinished jobs" in limits
    for text in (f"{MAX_MCP_BYTES // 1024**2} MiB", f"{MAX_MCP_VALUES:,} values", f"{WAITS} calls"):
        assert text in limits
    assert f"{MAX_ARTIFACTS} files and {MAX_ARTIFACTS_BYTES // 1024**3} GiB" in section(TEXT, "## Links")
    assert f"up to {MAX_WAIT_SECONDS} seconds" in section(TEXT, "## Tools")
    assert f"up to {SHOWN_BYTES // 1024} KiB" in section(TEXT, "## States")


def test_every_fact_of_a_complete_job_is_told() -> None:
    (row,) = (row for row in table_rows(section(TEXT, "## States"), 2) if code(row[0]) == [COMPLETE])
    assert set(code(row[1])) == {*LINKED, "text"}


def test_the_revisions_told_are_spoken() -> None:
    told = re.findall(r"\b20\d\d-\d\d-\d\d\b", TEXT)
    assert max(HANDSHAKE_PROTOCOL_VERSIONS) in told
    assert max(MODERN_PROTOCOL_VERSIONS) in told
    assert set(told) <= {*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS}
