"""The README's example gives a song, typed as it stands."""

import math
from pathlib import Path

import httpx2
import pytest

from tests.first_song import commands, first_song, wait_for
from tests.server.server_process import ServerProcess


@pytest.mark.runtime
def test_the_example_of_the_readme_gives_a_song_with_the_asked_sections(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        heard = first_song(server.client)
    assert 5 < heard.seconds <= 31
    assert 0.1 < heard.peak < 1
    assert "verse" in heard.sections


def test_the_readme_shows_three_commands() -> None:
    assert [command.split()[0] for command in commands()] == ["curl"] * 3


def test_a_server_that_never_answers_is_given_up() -> None:
    pauses: list[float] = []
    absent = httpx2.Client(base_url="http://127.0.0.1:9", trust_env=False)
    with absent as client, pytest.raises(TimeoutError):
        wait_for(client, -math.inf, pauses.append)
    assert pauses == []
