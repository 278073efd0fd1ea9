"""Writing down speech in this process."""

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from engine.catalogue import Catalogue
from engine.errors import CheckpointError, InvalidRequest
from server.commands.bar import Bar
from server.commands.local_listener import LocalListener, local_listener
from tests.server.sound_doubles import TranscriptionDouble


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


@pytest.fixture
def listener() -> LocalListener:
    return LocalListener(Catalogue(transcription=[TranscriptionDouble()]))


def test_a_file_is_written_down_as_the_server_tells_it(
    bar: Bar, listener: LocalListener, tmp_path: Path
) -> None:
    file = tmp_path / "talk.wav"
    file.write_bytes(b"12345")
    heard = listener(file, {"language": "de"}, bar)
    assert heard.transcript.text == "bytes: 5"
    assert isinstance(heard.document, dict)
    assert (heard.document["text"], heard.document["language"]) == ("bytes: 5", "de")


def test_a_file_that_is_not_there_is_an_error_of_the_system(
    bar: Bar, listener: LocalListener, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        listener(tmp_path / "none.wav", {}, bar)


def test_a_language_that_is_not_there_is_refused(bar: Bar, listener: LocalListener, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="language must be one of"):
        listener(tmp_path / "none.wav", {"language": "fr"}, bar)


@pytest.mark.parametrize("setting", ["YUE2_MODEL", "YUE2_VAE", "YUE2_VOICES"])
def test_settings_of_other_models_do_not_keep_it_from_listening(setting: str) -> None:
    assert local_listener({setting: "/nowhere"}).catalogue.transcription("").id


def test_its_own_setting_counts() -> None:
    with pytest.raises(CheckpointError, match="lacks"):
        local_listener({"YUE2_WHISPER": "/nowhere"})


def test_a_pipe_is_refused(bar: Bar, listener: LocalListener, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequest, match="is a pipe or a device"):
        listener(tmp_path / "pipe", {}, bar)
