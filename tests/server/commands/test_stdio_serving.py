"""The bridge as a process between a client's pipes, before a server that is a double."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import pytest

from tests.agents.wire import FIRST, INITIALIZE, LEGACY, MODERN, message, tool_call
from tests.server.commands.child import ROOT
from tests.server.commands.mcp_double import JOB_ID, Studio, mcp_double, result

pytestmark = pytest.mark.runtime
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
STRAY: Final = """
import builtins, logging, sys, warnings
from server.commands import stdio_bridge

class Noisy(stdio_bridge.StdioBridge):
    async def call_tool(self, context, name, arguments):
        print("stray")
        builtins.print("strayer", file=sys.__stdout__, flush=True)
        import os
        os.system("echo from a child")
        warnings.warn("a warning")
        logging.getLogger("somebody").error("a log line")
        return await super().call_tool(context, name, arguments)

import server.commands.stdio_serving as serving
serving.StdioBridge = Noisy
serving.serve_stdio(sys.argv[1], "")
"""


class Bridge:
    """Owner of the process, and of the client's ends of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin
        assert process.stdout
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout

    def send(self, *messages: dict[str, Any]) -> None:
        for one in messages:
            self.stdin.write(json.dumps(one).encode() + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        return dict(json.loads(self.stdout.readline()))

    def ended(self) -> tuple[int, bytes, bytes]:
        """Status, and what else it has written to stdout and stderr."""
        assert self.process.stderr
        status = self.process.wait(20)
        return status, self.stdout.read(), self.process.stderr.read()


@contextmanager
def bridge(*command: str, folder: Path = ROOT) -> Iterator[Bridge]:
    """The command, killed at the end of the block where it still runs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as at a terminal, also below nohup
    try:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=folder,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield Bridge(process)
        finally:
            process.kill()


@pytest.fixture
def studio() -> Iterator[Studio]:
    with mcp_double() as double:
        double.results.append(result("It is idle.", {"accepting": True}))
        yield double


def opening(version: str) -> list[dict[str, Any]]:
    """What a client of that revision begins with; one answer comes back."""
    if version == MODERN:
        return [message(version, "server/discover", id=1).body]
    return [
        message(version, "initialize", {**INITIALIZE, "protocolVersion": version}, id=1).body,
        INITIALIZED,
    ]


@pytest.mark.parametrize("version", [FIRST, LEGACY, MODERN])
def test_a_conversation_of_every_revision_ends_with_stdin(studio: Studio, version: str) -> None:
    with bridge("-m", "server", "mcp", "--server", studio.address) as one:
        one.send(*opening(version))
        begun = one.receive()
        assert "save_to" in begun["result"]["instructions"]
        one.send(message(version, "tools/list", id=2).body, tool_call(version, "server_status").body)
        answers = {answer["id"]: answer["result"] for answer in (one.receive(), one.receive())}
        assert len(answers[2]["tools"]) == 10
        assert answers[7]["structuredContent"] == {"accepting": True}
        one.stdin.close()
        assert one.ended() == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_stdin_is_open(studio: Studio, number: int) -> None:
    with bridge("-m", "server", "mcp", "--server", studio.address) as one:
        one.send(*opening(LEGACY))
        one.receive()
        one.process.send_signal(number)
        assert one.ended() == (0, b"", b"")


def test_a_signal_ends_it_during_a_call_and_leaves_no_file(studio: Studio, tmp_path: Path) -> None:
    studio.results.clear()
    studio.complete(bytes(100_000))
    studio.cuts.extend([1000] * 1000)
    asked = {"job_id": JOB_ID, "save_to": str(tmp_path)}
    with bridge("-m", "server", "mcp", "--server", studio.address) as one:
        one.send(*opening(LEGACY))
        one.receive()
        one.send(tool_call(LEGACY, "job_status", asked).body)
        while len(studio.seen) < 3:
            assert one.process.poll() is None
        one.process.send_signal(signal.SIGINT)
        status, _, said = one.ended()
        assert (status, said) == (0, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_reads_no_more_ends_it_without_a_word(studio: Studio) -> None:
    with bridge("-m", "server", "mcp", "--server", studio.address) as one:
        one.send(*opening(LEGACY))
        one.receive()
        one.stdout.close()
        one.send(message(LEGACY, "tools/list", id=2).body)
        assert one.process.stderr
        assert (one.process.wait(20), one.process.stderr.read()) == (0, b"")


def test_nothing_but_messages_reaches_stdout(studio: Studio) -> None:
    with bridge("-c", STRAY, studio.address) as one:
        one.send(*opening(LEGACY))
        one.receive()
        one.send(tool_call(LEGACY, "server_status").body)
        assert one.receive()["id"] == 7
        one.stdin.close()
        status, rest, said = one.ended()
    assert (status, rest) == (0, b"")
    for words in (b"stray", b"strayer", b"from a child", b"a warning", b"a log line"):
        assert words in said


def test_lines_that_are_no_messages_and_files_as_stdin_will_do(studio: Studio, tmp_path: Path) -> None:
    lines = [b"nonsense", b"[]", b"\xff\xfe", b"", *(json.dumps(one).encode() for one in opening(LEGACY))]
    file = tmp_path / "conversation.jsonl"
    file.write_bytes(b"\r\n".join(lines) + b"\r\n")
    with file.open("rb") as source:
        ran = subprocess.run(
            [sys.executable, "-m", "server", "mcp", "--server", studio.address],
            stdin=source,
            capture_output=True,
            check=False,
            cwd=ROOT,
            timeout=30,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in ran.stdout.splitlines())


def test_a_call_in_between_is_not_held_up_and_one_that_is_given_up_is_not_answered(studio: Studio) -> None:
    studio.hold = threading.Event()
    with bridge("-m", "server", "mcp", "--server", studio.address) as one:
        one.send(*opening(LEGACY))
        one.receive()
        one.send({**tool_call(LEGACY, "job_status", {"job_id": JOB_ID}).body, "id": 20})
        assert studio.held.wait(20)
        hold, studio.hold = studio.hold, None
        one.send({**tool_call(LEGACY, "server_status").body, "id": 21})
        assert one.receive()["id"] == 21
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 20}}
        one.send(cancelled, {**tool_call(LEGACY, "server_status").body, "id": 22})
        assert one.receive()["id"] == 22
        hold.set()
        one.stdin.close()
        assert one.ended() == (0, b"", b"")


def test_it_needs_no_server_to_begin() -> None:
    with mcp_double() as gone:
        address = gone.address
    with bridge("-m", "server", "mcp", "--server", address) as one:
        one.send(*opening(MODERN), message(MODERN, "tools/list", id=2).body)
        assert {one.receive()["id"], one.receive()["id"]} == {1, 2}
        one.send(tool_call(MODERN, "server_status").body)
        answer = one.receive()["result"]
        assert (answer["isError"], answer["structuredContent"]["code"]) == (True, "unreachable")
        one.stdin.close()
        assert one.ended() == (0, b"", b"")
