"""The README's example gives a song, typed as it stands."""

import math
import shlex
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import soundfile

from tests.first_song import SECTION, commands, first_song, wait_for
from tests.server.server_process import ServerProcess


@pytest.mark.runtime
def test_the_example_of_the_readme_gives_a_song_with_the_asked_sections(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        heard = first_song(server.client)
    assert 5 < heard.seconds <= 31
    assert 0.1 < heard.peak < 1
    assert "verse" in heard.sections


@pytest.mark.runtime
def test_the_command_line_of_the_readme_sings_and_shows_the_server(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("[Verse]\nThe lamps are lit along the quay\n")
    with ServerProcess(tmp_path / "output") as server:
        ended = []
        for command in commands("## From the command line"):
            for line in command.splitlines():
                words = shlex.split(line)
                assert words[0] == ".venv/bin/yue2-studio"
                at = ["--server", server.url] if words[1] == "status" else []
                typed = [sys.executable, "-m", "server", *words[1:], *at]
                ended.append(
                    subprocess.run(
                        typed, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
                    )
                )
    assert [one.returncode for one in ended] == [0, 0], [one.stderr for one in ended]
    assert soundfile.info(tmp_path / "song.flac").duration > 5
    assert "8 of 8 places free" in ended[1].stdout


def test_the_readme_shows_three_commands() -> None:
    assert [command.split()[0] for command in commands(SECTION)] == ["curl"] * 3


def test_a_server_that_never_answers_is_given_up() -> None:
    pauses: list[float] = []
    absent = httpx2.Client(base_url="http://127.0.0.1:9", trust_env=False)
    with absent as client, pytest.raises(TimeoutError):
        wait_for(client, -math.inf, pauses.append)
    assert pauses == []
