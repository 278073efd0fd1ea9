"""docs/mcp.md followed to the letter: its settings connect the SDK's client, with a key and without, and its calls are answered."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import StdioServerParameters

from server.agents.tools import TOOLS
from tests.agents.agent import ERAS, Agent, agent, agent_over_stdio, structured
from tests.agents.doubles import SAID, quick
from tests.architecture.documents import ROOT, fenced_blocks, fenced_lines
from tests.clients.heard import hear
from tests.clients.studio import Studio

pytestmark = pytest.mark.runtime
PATH: Final = ROOT / "docs" / "mcp.md"
TEXT: Final = PATH.read_text(encoding="utf-8")
NAME: Final = "yue2-studio"
ADDRESS: Final = "http://127.0.0.1:8000"
KEY: Final = "the-key-of-one-0001"
COMMAND: Final = Path(sys.executable).parent / NAME
VARIABLE: Final = re.compile(r"\$\{(?:env:)?STUDIO_API_KEY\}|\$\{input:studio-key\}|\bKEY\b")


def settings() -> list[dict[str, Any]]:
    """The server's entry in each file of settings shown."""
    files = [json.loads(block) for block in fenced_blocks(TEXT, "json")]
    files += [tomllib.loads(block) for block in fenced_blocks(TEXT, "toml")]
    kinds = ("mcpServers", "servers", "mcp_servers")
    return [file[kind][NAME] for file in files for kind in kinds if kind in file]


def added() -> list[dict[str, Any]]:
    """The entry that each line for Claude Code makes: name, address, and headers that follow them."""
    entries = []
    for line in re.findall(r"^claude mcp add --transport http (.*)$", TEXT, re.MULTILINE):
        name, url, *rest = shlex.split(line)
        assert name == NAME
        assert rest[::2] == ["--header"] * len(rest[::2])
        entries.append({"url": url, "headers": dict(header.split(": ", 1) for header in rest[1::2])})
    return entries


def filled(value: str) -> str:
    """As a client fills a value in: the key in its place."""
    return VARIABLE.sub(KEY, value)


def headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """What a client sends with every message."""
    sent = {name: filled(value) for name, value in entry.get("headers", {}).items()}
    if "bearer_token_env_var" in entry:
        sent["Authorization"] = f"Bearer {KEY}"
    return sent


ENTRIES: Final = [*settings(), *added()]
OVER_HTTP: Final = [entry for entry in ENTRIES if "url" in entry]
OVER_STDIO: Final = [entry for entry in ENTRIES if "command" in entry]


@pytest.fixture(scope="module")
def open_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server without keys."""
    with quick(tmp_path_factory.mktemp("open")) as running:
        yield running


@pytest.fixture(scope="module")
def keyed_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server that wants a key."""
    with quick(tmp_path_factory.mktemp("keyed"), settings={"api_keys": f"one={KEY}"}) as running:
        yield running


def connected(entry: Mapping[str, Any], studio: Studio, mode: str) -> AbstractContextManager[Agent]:
    """A client with that entry in its settings, but for the server's port."""
    assert entry["url"] == f"{ADDRESS}/mcp"
    return agent(studio.url, mode, headers(entry))


@contextmanager
def started(entry: Mapping[str, Any], studio: Studio, folder: Path, mode: str) -> Iterator[Agent]:
    """A client that starts the entry's command, from the place where it is here."""
    assert entry["command"].endswith(f"/.venv/bin/{NAME}")
    environ = {name: filled(value) for name, value in entry.get("env", {}).items()}
    told = [studio.url if word == ADDRESS else word for word in entry["args"]]
    command = StdioServerParameters(command=str(COMMAND), args=told, env=environ)
    with (folder / "stderr.txt").open("w") as said, agent_over_stdio(command, said, mode) as made:
        yield made


def test_settings_of_every_kind_are_shown() -> None:
    assert len(OVER_HTTP) == 7
    assert [bool(headers(entry)) for entry in OVER_HTTP].count(False) == 2
    assert [bool(entry.get("env")) for entry in OVER_STDIO] == [False, True]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("entry", OVER_HTTP)
def test_an_address_connects(
    open_studio: Studio, keyed_studio: Studio, entry: dict[str, Any], mode: str
) -> None:
    studio = keyed_studio if headers(entry) else open_studio
    with connected(entry, studio, mode) as caller:
        assert [tool.name for tool in caller.do(caller.client.list_tools).tools] == [
            card.name for card in TOOLS
        ]
        assert caller.told("server_status")["agents"]["limit"] == 8


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("entry", OVER_STDIO)
def test_a_command_connects_and_saves(
    open_studio: Studio, keyed_studio: Studio, tmp_path: Path, entry: dict[str, Any], mode: str
) -> None:
    studio = keyed_studio if entry.get("env") else open_studio
    with started(entry, studio, tmp_path, mode) as caller:
        spoken = caller.made("speak", text=SAID, title="Numbers")
        job_id = structured(spoken)["job_id"]
        answer = caller.call("job_status", job_id=job_id, save_to=str(tmp_path))
    saved = Path(structured(answer)["saved_to"])
    assert saved == tmp_path / "numbers.mp3"
    assert hear(saved.read_bytes()).seconds > 0


def test_where_a_key_is_wanted_the_settings_without_one_say_so(keyed_studio: Studio, tmp_path: Path) -> None:
    (plain,) = (entry for entry in OVER_STDIO if "env" not in entry)
    with started(plain, keyed_studio, tmp_path, ERAS[0]) as caller:
        assert caller.refused("server_status")["code"] == "unauthorized"


def test_the_calls_by_hand_are_answered(open_studio: Studio, tmp_path: Path) -> None:
    """By curl itself."""
    spoken = open_studio.speak(SAID)
    assert open_studio.finish(spoken)["status"] == "done"
    (tmp_path / "talk.flac").write_bytes(open_studio.result(spoken))
    answers = []
    for line in fenced_lines(PATH, "sh"):
        words = shlex.split(line.text.replace(ADDRESS, open_studio.url))
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        answers.append(json.loads(ended.stdout))
    listed, begun, status, recording = answers
    assert len(listed["result"]["tools"]) == len(TOOLS)
    for job_id in (begun["result"]["structuredContent"]["job_id"], recording["id"]):
        assert open_studio.finish(job_id)["status"] == "done"
    assert status["result"]["structuredContent"]["accepting"]
