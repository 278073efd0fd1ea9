"""A whole conversation of one who knows nothing but an address: from "what can you do" to a song on the disk.

Whatever is used here was read before from what the server says of itself: a tool must be listed and its arguments must
stand in its schema, a guide must be listed before it is read, and a link is followed as it was given.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from engine.score import parse
from tests.agents.agent import Agent, calling, link, sentence, structured
from tests.clients.heard import Heard, hear
from tests.clients.texts import words
from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
STYLE: Final = "folk, acoustic guitar, warm"
LYRICS: Final = """[Verse]
The rain is on the window pane
The light is in the hall

[Chorus]
So come back home, come home again
Come home before the fall"""
LEAST_UNDERSTOOD: Final = 0.3  # of the different words


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """All that the agent knows."""
    with ServerProcess(tmp_path_factory.mktemp("session") / "output", "--sound") as server:
        yield server.url


class Newcomer:
    """An agent that uses only what it has been told. Owner of what it has read."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._client = agent.client
        self.told = agent.client.instructions or ""
        self.tools = {tool.name: tool for tool in agent.do(self._client.list_tools).tools}
        self.guides = {one.name: str(one.uri) for one in agent.do(self._client.list_resources).resources}
        self.prompts = {one.name: one for one in agent.do(self._client.list_prompts).prompts}

    def read(self, name: str) -> str:
        """A guide."""
        (content,) = self._agent.do(self._client.read_resource, self.guides[name]).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    def prompted(self, name: str, **arguments: str) -> str:
        """What a prompt asks for."""
        known = {one.name for one in self.prompts[name].arguments or []}
        assert arguments.keys() <= known
        told = self._agent.do(self._client.get_prompt, name, arguments)
        return "\n".join(one.content.text for one in told.messages if isinstance(one.content, TextContent))

    def use(self, tool: str, **arguments: Any) -> CallToolResult:
        """A tool that is listed, with arguments that stand in its schema."""
        schema = self.tools[tool].input_schema
        assert set(schema.get("required", ())) <= arguments.keys() <= schema["properties"].keys()
        answer = self._agent.call(tool, **arguments)
        assert not answer.is_error, answer
        return answer

    def make(self, tool: str, **arguments: Any) -> CallToolResult:
        """What a tool makes, waited for in the way that its answer names."""
        begun = self.use(tool, **arguments)
        assert structured(begun)["state"] in ("queued", "generating", "complete")
        assert "job_status" in sentence(begun)
        return self.wait(structured(begun)["job_id"])

    def wait(self, job_id: str) -> CallToolResult:
        """A job once it is complete."""
        most = self.tools["job_status"].input_schema["properties"]["wait_seconds"]["maximum"]
        while True:
            answer = self.use("job_status", job_id=job_id, wait_seconds=most)
            if structured(answer)["state"] not in ("queued", "generating"):
                assert structured(answer)["state"] == "complete", answer
                return answer


@contextmanager
def newcomer(url: str, mode: str) -> Iterator[Newcomer]:
    """The SDK's client as its documentation makes one."""
    with calling(Client(f"{url}/mcp", mode=mode)) as agent:
        yield Newcomer(agent)


def downloaded(answer: CallToolResult, folder: Path) -> Path:
    """The file of the one link of an answer, fetched as anybody would fetch it."""
    given = link(answer)
    with httpx2.Client(trust_env=False, timeout=60) as http:
        fetched = http.get(given.uri)
    assert fetched.status_code == 200
    assert fetched.headers["content-type"].partition(";")[0] == given.mime_type
    file = folder / given.name
    file.write_bytes(fetched.content)
    assert file.stat().st_size == given.size
    return file


def check_is_a_song(heard: Heard, seconds: float) -> None:
    """It lasts as long as was said and can be heard for most of it."""
    assert heard.seconds == pytest.approx(seconds, abs=0.2)
    assert heard.seconds > 5
    second = heard.rate_hz
    levels = [abs(heard.samples[at : at + second]).max() for at in range(0, len(heard.samples), second)]
    assert sum(level > 0.02 for level in levels) > 0.8 * len(levels)
    assert heard.loudness > 0.01


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_from_what_can_you_do_to_a_song(url: str, mode: str, tmp_path: Path) -> None:
    with newcomer(url, mode) as agent:
        read_everything(agent)
        score, song = compose(agent, tmp_path)
        check_is_a_song(hear(downloaded(song, tmp_path).read_bytes()), structured(song)["seconds"])
        assert {section.name.lower() for section in parse(score).sections} >= {"verse", "chorus"}
        written = agent.make("transcribe", job_id=structured(song)["job_id"])
        understood = set(words(structured(written)["text"]))
        sung = set(words(re.sub(r"\[.*?\]", "", LYRICS)))
        assert len(sung & understood) >= LEAST_UNDERSTOOD * len(sung)
        change_ones_mind(agent)
        now = structured(agent.use("server_status"))
        assert now["agents"]["pending"] == 0


def read_everything(agent: Newcomer) -> None:
    """What a newcomer is told, and that it suffices: each tool that is spoken of is there."""
    named = set(re.findall(r"\b[a-z]+_[a-z]+\b", agent.told)) & set(agent.tools)
    assert {"create_song", "job_status"} <= named
    assert all(tool.description for tool in agent.tools.values())
    assert "[Verse]" in agent.read("lyrics")
    assert "acoustic guitar" in agent.read("style-vocabulary")
    assert "X:1" in agent.read("score-dialect")
    asked = agent.prompted("write_song", topic="rain", mood="warm", genre="folk")
    assert "rain" in asked
    assert "create_song" in asked
    assert structured(agent.use("list_models"))["models"]


def compose(agent: Newcomer, folder: Path) -> tuple[str, CallToolResult]:
    """Score, preview and song of the same words."""
    planned = agent.make("plan_score", style=STYLE, lyrics=LYRICS, lm_seed=3, title="Come Home")
    score = downloaded(planned, folder).read_text(encoding="utf-8")
    assert structured(planned)["text"] == score
    preview = agent.make("preview_score", abc=score, style=STYLE, bars=4)
    assert hear(downloaded(preview, folder).read_bytes()).loudness > 0.001
    song = agent.make("create_song", style=STYLE, lyrics=LYRICS, lm_seed=3, seed=3, title="Come Home")
    return score, song


def change_ones_mind(agent: Newcomer) -> None:
    """Begin another song and cancel it."""
    other = structured(agent.use("create_song", style="jazz", lyrics=LYRICS * 8, duration=300))["job_id"]
    assert structured(agent.use("cancel_job", job_id=other))["job_id"] == other
    while True:
        state = structured(agent.use("job_status", job_id=other, wait_seconds=10))["state"]
        if state not in ("queued", "generating"):
            break
    assert state == "cancelled"
