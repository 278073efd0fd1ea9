"""`yue2-studio mcp`: the same over stdin and stdout, by the SDK's client of each era and by bare lines."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import StdioServerParameters

from bench.processes import free_port
from tests.agents.agent import ERAS, Agent, agent, agent_over_stdio, link, sentence, structured, texts
from tests.agents.doubles import SAID, SONG, held, quick
from tests.agents.wire import INITIALIZE, LEGACY, MODERN, VERSIONS, message, tool_call
from tests.clients.heard import hear
from tests.clients.studio import Studio
from tests.clients.texts import TEXT, is_understood
from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
each_era = pytest.mark.parametrize("mode", ERAS)
KEY: Final = "the-key-of-one-0001"
EXTRAS: Final = {"transcribe": {"file"}, "job_status": {"save_to"}}


def command(url: str, environ: Mapping[str, str] | None = None) -> StdioServerParameters:
    """The command as a client's set-up names it."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", "server", "mcp", "--server", url], env=dict(environ or {})
    )


@contextmanager
def bridged(
    url: str, folder: Path, mode: str = MODERN, environ: Mapping[str, str] | None = None
) -> Iterator[Agent]:
    """An agent that speaks through the command."""
    with (
        (folder / "stderr.txt").open("w") as said,
        agent_over_stdio(command(url, environ), said, mode) as made,
    ):
        yield made


@pytest.fixture(params=ERAS)
def bridge(request: pytest.FixtureRequest, studio: Studio, tmp_path: Path) -> Iterator[Agent]:
    """An agent of the server with the models that come along, of each era."""
    with bridged(studio.url, tmp_path, request.param) as made:
        yield made


def test_it_lists_what_the_server_does(bridge: Agent, caller: Agent) -> None:
    own = {tool.name: tool for tool in bridge.do(bridge.client.list_tools).tools}
    theirs = {tool.name: tool for tool in caller.do(caller.client.list_tools).tools}
    assert list(own) == list(theirs)
    for name, tool in own.items():
        known = set(theirs[name].input_schema["properties"])
        assert set(tool.input_schema["properties"]) == known | EXTRAS.get(name, set())
    listed = caller.do(caller.client.list_resources).resources
    assert bridge.do(bridge.client.list_resources).resources == listed
    assert [one.name for one in bridge.do(bridge.client.list_prompts).prompts] == ["write_song"]
    uri = "yue2://guide/lyrics"
    assert (
        bridge.do(bridge.client.read_resource, uri).contents
        == caller.do(caller.client.read_resource, uri).contents
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_says_what_it_is_for(tmp_path: Path, studio: Studio, mode: str) -> None:
    with bridged(studio.url, tmp_path, mode) as bridge, agent(studio.url, mode) as caller:
        assert bridge.client.protocol_version == (LEGACY if mode == "legacy" else MODERN)
        told = caller.client.instructions
        assert told
        assert "job_status" in told
        assert (bridge.client.instructions or "").startswith(told)


def test_a_song_is_made_and_saved(bridge: Agent, studio: Studio, tmp_path: Path) -> None:
    begun = bridge.told("create_song", **SONG, title="Mine")
    bridge.ended(begun["job_id"])
    answer = bridge.call("job_status", job_id=begun["job_id"], save_to=str(tmp_path))
    saved = Path(structured(answer)["saved_to"])
    assert saved == tmp_path / "mine.mp3"
    assert saved.read_bytes() == studio.native.get(link(answer).uri).content
    assert hear(saved.read_bytes()).loudness > 0.01
    before = saved.stat().st_mtime_ns
    again = bridge.call("job_status", job_id=begun["job_id"], save_to=str(saved))
    assert again.is_error or structured(again)["saved_to"] != str(saved)
    assert saved.stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".txt") == ["mine.mp3"]


def test_a_file_is_written_down(bridge: Agent, studio: Studio, tmp_path: Path) -> None:
    audio = link(bridge.made("speak", text=TEXT)).uri
    file = tmp_path / "recording.mp3"
    file.write_bytes(studio.native.get(audio).content)
    answer = bridge.made("transcribe", file=str(file))
    assert is_understood(structured(answer)["text"])
    told = bridge.refused("transcribe", file=str(tmp_path / "nothing.mp3"))
    assert told["code"] != "internal_error"
    assert bridge.refused("transcribe")["code"] in ("missing_input", "invalid_field")


def test_the_other_tools_are_the_servers(bridge: Agent) -> None:
    assert bridge.told("list_models")["models"]
    assert bridge.told("server_status")["agents"]["limit"] == 8
    assert "[Verse]" in "\n".join(texts(bridge.call("writing_guide", topic="lyrics")))
    assert bridge.refused("speak", text="")["code"] in ("missing_input", "invalid_field")
    assert bridge.refused("job_status", job_id="0123456789abcdef")["code"] == "unknown_job"


@each_era
def test_a_full_queue_is_told_through_it(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, queue_limit="1") as (studio, _, pause):
        studio.speak(SAID)
        pause.wait_until_reached()
        with bridged(studio.url, tmp_path, mode) as caller:
            told = caller.refused("create_song", **SONG)
            assert (told["code"], told["retry_after_seconds"]) == ("queue_full", 5)
        pause.release()


@each_era
def test_without_a_server_it_says_how_to_start_one(tmp_path: Path, mode: str) -> None:
    with bridged(f"http://127.0.0.1:{free_port()}", tmp_path, mode) as caller:
        assert len(caller.do(caller.client.list_tools).tools) == 10
        assert caller.do(caller.client.list_resources).resources
        answer = caller.call("server_status")
        assert answer.is_error
        assert structured(answer)["code"] == "unreachable"
        assert "`./task start`" in sentence(answer)


@each_era
def test_it_outlives_the_server(tmp_path: Path, mode: str) -> None:
    folder = tmp_path / "output"
    with ServerProcess(folder, "--silent") as server:
        port = server.address[1]
        with bridged(server.url, tmp_path, mode) as caller:
            job_id = structured(caller.made("create_song", **SONG))["job_id"]
            server.stop()
            assert caller.refused("server_status")["code"] == "unreachable"
            with ServerProcess(folder, "--silent", "--port", str(port)):
                assert link(caller.ended(job_id))


@each_era
def test_a_key_is_passed_on(tmp_path: Path, mode: str) -> None:
    with quick(tmp_path, settings={"api_keys": f"one={KEY}"}) as studio:
        with bridged(studio.url, tmp_path, mode, {"YUE2_API_KEY": KEY}) as caller:
            assert caller.made("create_song", **SONG)
        with bridged(studio.url, tmp_path, mode) as caller:
            assert caller.refused("create_song", **SONG)["code"] == "unauthorized"


@each_era
def test_eight_places_are_for_all_agents_together(tmp_path: Path, mode: str) -> None:
    with held(tmp_path, mode, queue_limit="12") as (studio, caller, pause):
        for _ in range(8):
            caller.told("speak", text=SAID)
        pause.wait_until_reached()
        with bridged(studio.url, tmp_path, mode) as bridge:
            told = bridge.refused("speak", text=SAID)
            assert (told["code"], told["limit"]) == ("queue_full", 8)
        pause.release()


def lines(version: str) -> list[dict[str, Any]]:
    """A whole conversation, line by line."""
    begin = (
        [{**message(version, "server/discover", id=1).body}]
        if version == MODERN
        else [
            message(version, "initialize", {**INITIALIZE, "protocolVersion": version}, id=1).body,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
    )
    return [*begin, message(version, "tools/list", id=2).body, tool_call(version, "server_status").body]


@pytest.mark.parametrize("version", VERSIONS)
def test_stdout_holds_messages_alone_and_its_end_is_the_end(
    tmp_path: Path, studio: Studio, version: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "server", "mcp", "--server", studio.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for line in lines(version):
            process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        told = [json.loads(process.stdout.readline()) for _ in range(3)]
        assert sorted(one["id"] for one in told) == [1, 2, 7]
        assert all(one["jsonrpc"] == "2.0" and "result" in one for one in told)
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


def test_a_line_that_is_no_message_does_not_end_it(tmp_path: Path, studio: Studio) -> None:
    sent = ["nonsense", "[]", *map(json.dumps, lines(LEGACY))]
    ran = subprocess.Popen(
        [sys.executable, "-m", "server", "mcp", "--server", studio.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with ran as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n".join(sent) + "\n")
        process.stdin.flush()
        found: set[object] = set()
        while not {1, 2, 7} <= found:
            found.add(json.loads(process.stdout.readline()).get("id"))
        process.stdin.close()
        assert process.wait(10) == 0


def test_agents_over_http_and_stdio_share_their_jobs(tmp_path: Path) -> None:
    with (
        quick(tmp_path) as studio,
        agent(studio.url) as caller,
        bridged(studio.url, tmp_path, "legacy") as bridge,
    ):
        job_id = structured(caller.made("create_song", **SONG))["job_id"]
        assert link(bridge.ended(job_id)).uri == link(caller.ended(job_id)).uri
