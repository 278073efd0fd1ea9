"""Writing down speech in this process."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from engine.catalogue import Catalogue
from engine.errors import InvalidRequest
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


def test_settings_of_yue2_do_not_keep_it_from_listening() -> None:
    assert local_listener({"YUE2_VAE": "/nowhere"}).catalogue.default_id == "sketch"
