"""`yue2-studio transcribe`, through its options."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.catalogue import Catalogue
from server.__main__ import app
from server.commands.local_listener import LocalListener
from tests.server.client.double import Studio, studio_double
from tests.server.sound_doubles import TranscriptionDouble


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """Commands whose own listener is a double."""
    listener = LocalListener(Catalogue(transcription=[TranscriptionDouble()]))
    monkeypatch.setattr("server.commands.local_listener.local_listener", lambda: listener)
    return CliRunner()


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    file = tmp_path / "talk.wav"
    file.write_bytes(b"12345")
    return file


def test_the_text_is_printed_and_notes_are_no_part_of_it(runner: CliRunner, talk: Path) -> None:
    answer = runner.invoke(app, ["transcribe", str(talk)])
    assert (answer.exit_code, answer.stdout) == (0, "bytes: 5\n")
    assert answer.stderr == "The language was guessed.\n"


@pytest.mark.parametrize(
    ("name", "begin"), [("a.txt", "bytes: 5\n"), ("a.srt", "1\n00:00:00,000 -->"), ("a.vtt", "WEBVTT\n")]
)
def test_a_files_name_says_the_form(
    runner: CliRunner, talk: Path, tmp_path: Path, name: str, begin: str
) -> None:
    answer = runner.invoke(app, ["transcribe", str(talk), "-o", str(tmp_path / name), "--language", "en"])
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "")
    assert (tmp_path / name).read_text().startswith(begin)


def test_a_form_that_is_asked_for_wins(runner: CliRunner, talk: Path, tmp_path: Path) -> None:
    output = tmp_path / "words.list"
    answer = runner.invoke(app, ["transcribe", str(talk), "--format", "json", "-o", str(output)])
    assert answer.exit_code == 0
    assert json.loads(output.read_text())["segments"][0]["words"][0]["word"] == "bytes:"


def test_silence_is_told_beside_the_text(runner: CliRunner, studio: Studio, talk: Path) -> None:
    studio.body = b'{"text": " ", "segments": []}'
    studio.updates.append({"status": "done"})
    answer = runner.invoke(app, ["transcribe", str(talk), "--server", studio.address])
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "\n", "No words were found in it.\n")


def test_a_server_listens_where_one_is_named(runner: CliRunner, studio: Studio, talk: Path) -> None:
    studio.body = b'{"text": "Come home.", "segments": []}'
    studio.updates.append({"status": "done"})
    told = ["--language", "en", "--task", "translate", "--prompt", "Names.", "--temperature", "0.5"]
    answer = runner.invoke(app, ["transcribe", str(talk), "--server", studio.address, *told])
    assert (answer.exit_code, answer.stdout) == (0, "Come home.\n")
    sent = studio.seen[0].body.partition(b"\r\n\r\n")[2].partition(b"\r\n")[0]
    assert json.loads(sent) == {
        "language": "en",
        "task": "translate",
        "prompt": "Names.",
        "temperature": 0.5,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["none.wav"], 1, "none.wav: No such file or directory."),
        (["none.wav", "-o", "a.doc"], 2, "end the name in one of .txt, .json, .srt, .vtt"),
        (["none.wav", "--language", "fr"], 2, "language must be one of: de, en"),
        (["none.wav", "--task", "sum"], 2, "--task"),
        (["none.wav", "--temperature", "2"], 2, "--temperature"),
        ([], 2, "FILE"),
        (["/dev/zero"], 2, "/dev/zero is a pipe or a device; write the recording into a file first."),
        (["/dev/zero", "--server", "http://127.0.0.1:9"], 2, "/dev/zero is a pipe or a device"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    runner: CliRunner, arguments: list[str], code: int, sentence: str
) -> None:
    answer = runner.invoke(app, ["transcribe", *arguments], env={"COLUMNS": "200"})
    assert answer.exit_code == code
    assert sentence in answer.stderr
