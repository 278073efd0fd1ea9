"""docs/mcp.md tells the tools, guides, states and codes that there are; its calls are answered and its settings are read."""

import io
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx2
import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from server.agents.guides import GUIDES
from server.agents.prompts import PROMPTS
from server.agents.tools import TOOLS
from server.errors import ANSWERS
from tests.architecture.documents import ROOT, code, fenced_blocks, fenced_lines, section, table_rows
from tests.server.product import Product, product
from tests.server.server_check import SilentModel
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

PATH = ROOT / "docs" / "mcp.md"
TEXT = PATH.read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
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


def test_codes_are_those_of_the_errors() -> None:
    rows = table_rows(section(TEXT, "## When a tool refuses"), 2)
    told = {code(row[0])[0] for row in rows if code(row[0])}
    assert told <= {answer.code for answer in ANSWERS.values()}
    assert len(told) > 12


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
    """By the shapes that the clients' own documentation gives."""
    code_file, desktop, editor = map(json.loads, fenced_blocks(TEXT, "json"))
    assert code_file["mcpServers"]["yue2-studio"] == {
        "type": "http",
        "url": f"{ADDRESS}/mcp",
        "headers": {"Authorization": "Bearer ${STUDIO_API_KEY}"},
    }
    program = desktop["mcpServers"]["yue2-studio"]
    assert program.keys() == {"command", "args", "env"}
    assert Path(program["command"]).is_absolute()
    assert editor["servers"]["yue2-studio"] == {"type": "http", "url": f"{ADDRESS}/mcp"}


def test_the_line_for_claude_code_adds_the_address() -> None:
    (line,) = re.findall(r"^claude .*$", TEXT, re.MULTILINE)
    assert shlex.split(line) == [
        *["claude", "mcp", "add", "--transport", "http"],
        *["yue2-studio", f"{ADDRESS}/mcp"],
    ]
