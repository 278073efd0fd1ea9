"""Writing down speech on a server that is a double."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue
from rich.console import Console

from engine.errors import InvalidRequest
from engine.transcription_request import MOST_PROMPT_CHARACTERS
from server.client import BadAnswer, Client
from server.commands.bar import Bar
from server.commands.remote_listener import FORM_BYTES, MOST_BYTES, RemoteListener
from tests.server.client.double import Studio, studio_double


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def test_a_file_is_uploaded_and_its_transcript_fetched(studio: Studio, bar: Bar, tmp_path: Path) -> None:
    studio.body = b'{"text": "Come home.", "segments": [{"start": 0, "end": 1, "text": "Come home."}]}'
    studio.updates.append({"status": "done", "notes": ["The end was silence."]})
    (tmp_path / "talk.mp3").write_bytes(b"\xff\x00sound")
    with Client(studio.address, sleep=lambda seconds: None) as client:
        heard = RemoteListener(client)(tmp_path / "talk.mp3", {"language": "en"}, bar)
    assert (heard.transcript.text, heard.transcript.notes) == ("Come home.", ("The end was silence.",))
    assert studio.seen[0].path == "/transcribe"
    assert studio.seen[0].headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'{"language": "en"}' in studio.seen[0].body
    assert b'filename="recording.mp3"' in studio.seen[0].body
    assert b"\xff\x00sound" in studio.seen[0].body


def test_what_is_no_transcript_is_a_bad_answer(studio: Studio, bar: Bar, tmp_path: Path) -> None:
    studio.body = b'{"words": 3}'
    studio.updates.append({"status": "done"})
    (tmp_path / "talk.mp3").touch()
    with Client(studio.address) as client, pytest.raises(BadAnswer, match="of another version"):
        RemoteListener(client)(tmp_path / "talk.mp3", {}, bar)


def test_a_file_that_no_server_takes_is_not_sent(studio: Studio, bar: Bar, tmp_path: Path) -> None:
    with (tmp_path / "day.wav").open("wb") as file:
        os.truncate(file.fileno(), MOST_BYTES + 1)
    with Client(studio.address) as client, pytest.raises(InvalidRequest, match="leave out --server"):
        RemoteListener(client)(tmp_path / "day.wav", {}, bar)
    assert studio.seen == []


def test_the_longest_file_fits_with_the_form_around_it(
    studio: Studio, bar: Bar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.body = b'{"text": ""}'
    studio.updates.append({"status": "done"})
    monkeypatch.setattr("server.commands.remote_listener.MOST_BYTES", 1000)
    (tmp_path / "talk.wav").write_bytes(bytes(1000))
    longest: dict[str, JsonValue] = {
        "language": "en",
        "task": "transcribe",
        "prompt": "\U0001f600" * MOST_PROMPT_CHARACTERS,
    }
    with Client(studio.address) as client:
        RemoteListener(client)(tmp_path / "talk.wav", longest, bar)
    assert len(studio.seen[0].body) <= 1000 + FORM_BYTES


@pytest.mark.parametrize("name", [b"\xffx.wav", b"x.\xff"])
def test_a_name_that_is_not_utf_8_is_no_hindrance(
    studio: Studio, bar: Bar, tmp_path: Path, name: bytes
) -> None:
    studio.body = b'{"text": "Come home."}'
    studio.updates.append({"status": "done"})
    file = tmp_path / os.fsdecode(name)
    file.write_bytes(b"sound")
    with Client(studio.address) as client:
        assert RemoteListener(client)(file, {}, bar).transcript.text == "Come home."
    assert b'filename="recording' in studio.seen[0].body


def test_a_pipe_is_not_sent(studio: Studio, bar: Bar, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with Client(studio.address) as client, pytest.raises(InvalidRequest, match="is a pipe or a device"):
        RemoteListener(client)(tmp_path / "pipe", {}, bar)
    assert studio.seen == []
