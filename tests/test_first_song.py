"""The README's example gives a song, typed as it stands."""

import math
import os
import shlex
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import soundfile

from tests.first_song import (
    DOCUMENTED,
    LEAST_UNDERSTOOD,
    SECTION,
    Heard,
    commands,
    first_song,
    share_understood,
    wait_for,
)
from tests.server.commands.hub_double import hub_double
from tests.server.server_process import ServerProcess

TINY = Path(__file__).parent / "data" / "yue2"


@pytest.mark.runtime
def test_the_example_of_the_readme_gives_a_song_with_the_asked_sections(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output", "--sound") as server:
        heard = first_song(server.client)
    assert 20 < heard.seconds <= 61
    assert 0.1 < heard.peak < 1
    assert {"verse", "chorus"} <= set(heard.sections)
    assert " ".join(heard.words).lower().startswith("the rain is on the window pane the light is in the hall")
    assert share_understood(heard) >= LEAST_UNDERSTOOD


@pytest.mark.runtime
def test_yue2_sings_from_nothing_but_a_hub(tmp_path: Path) -> None:
    """Fetched, looked at, sung, and sung again from its replay: the commands of the README with a tiny model."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("YUE2_", "HF_"))}
    environ |= {
        "OMP_NUM_THREADS": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "server", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300, check=False
        )

    with hub_double() as hub:
        hub.add_folder("m-a-p/YuE2-3B", TINY / "YuE2-3B-tiny")
        hub.add_folder("m-a-p/YuE2-Vae", TINY / "YuE2-Vae-tiny")
        environ["HF_ENDPOINT"] = hub.address
        pulled = run("pull", "--yes")
    assert pulled.returncode == 0, pulled.stderr
    environ |= dict(line.split("=", 1) for line in pulled.stdout.splitlines())
    seen = run("doctor")
    assert (seen.returncode, "YuE2 on cpu" in seen.stdout) == (0, True), seen.stderr
    asked = ["--style", "folk", "--lyrics", "[Verse]\nla", "--cot", "off", "--duration", "2", "--steps", "2"]
    sung = run("sing", *asked, "--save-replay", "song.json", "-o", "song.flac")
    assert sung.returncode == 0, sung.stderr
    again = run("sing", "--replay", "song.json", "-o", "again.flac")
    assert again.returncode == 0, again.stderr
    assert soundfile.info(tmp_path / "song.flac").duration == pytest.approx(2, abs=0.01)
    assert (tmp_path / "song.flac").read_bytes() == (tmp_path / "again.flac").read_bytes()


def typed_lines(heading: str) -> list[list[str]]:
    """The words of each command of a section of the README."""
    lines = [line for block in commands(heading) for line in block.splitlines()]
    return [words for line in lines if (words := shlex.split(line))[0] == ".venv/bin/yue2-studio"]


def run_in(folder: Path, words: list[str], server: str = "") -> subprocess.CompletedProcess[str]:
    """A command of the README; the server it names, or speaks with unasked, is ours."""
    told = [server if word == DOCUMENTED else word for word in words[1:]]
    at = ["--server", server] if words[1] == "status" else []
    command = [sys.executable, "-m", "server", *told, *at]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.runtime
def test_the_command_line_of_the_readme_sings_and_shows_the_server(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("[Verse]\nThe lamps are lit along the quay\n")
    lines = [*typed_lines(SECTION), *typed_lines("## From the command line")]
    with ServerProcess(tmp_path / "output", "--sound") as server:
        ended = [run_in(tmp_path, words, server.url) for words in lines]
    assert [one.returncode for one in ended] == [0, 0, 0], [one.stderr for one in ended]
    assert soundfile.info(tmp_path / "song.mp3").duration > 5
    assert soundfile.info(tmp_path / "song.flac").duration > 5
    assert "8 of 8 places free" in ended[2].stdout


@pytest.mark.runtime
def test_what_the_readme_says_is_written_down_again(tmp_path: Path) -> None:
    said, printed, kept = (
        run_in(tmp_path, words) for words in typed_lines("## Speak, and write down what is said")
    )
    assert [one.returncode for one in (said, printed, kept)] == [0, 0, 0], kept.stderr
    assert printed.stdout.lower().startswith("the train leaves at half past")
    assert "The train leaves at half past nine." in (tmp_path / "train.srt").read_text()
    assert (tmp_path / "train.vtt").read_text().startswith("WEBVTT\n")


def test_words_that_are_understood_are_counted_once() -> None:
    heard = Heard(1.0, 1.0, (), ("Rain", "on", "rain", "roof,"), "the rain is on me")
    assert share_understood(heard) == pytest.approx(2 / 3)


def test_the_readme_shows_one_command_and_three_requests() -> None:
    shown = [command.split()[0] for command in commands(SECTION)]
    assert shown == [".venv/bin/yue2-studio", *["curl"] * 3]


def test_a_server_that_never_answers_is_given_up() -> None:
    pauses: list[float] = []
    absent = httpx2.Client(base_url="http://127.0.0.1:9", trust_env=False)
    with absent as client, pytest.raises(TimeoutError):
        wait_for(client, -math.inf, pauses.append)
    assert pauses == []
