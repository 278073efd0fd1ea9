"""`yue2-studio say`, through its options."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from typer.testing import CliRunner

from engine.catalogue import Catalogue
from server.__main__ import app
from server.commands.local_speaker import LocalSpeaker
from tests.server.client.double import Studio, studio_double
from tests.server.sound_doubles import SpeechDouble


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """Commands whose own speaker is a double."""
    catalogue = Catalogue(speech=[SpeechDouble()])
    monkeypatch.setattr("server.commands.local_speaker.local_speaker", lambda: LocalSpeaker(catalogue))
    monkeypatch.setattr("server.commands.local_models.speaking", lambda environ: catalogue)
    return CliRunner()


def test_a_text_becomes_a_file_and_its_words_subtitles(runner: CliRunner, tmp_path: Path) -> None:
    output, words = tmp_path / "a.flac", tmp_path / "a.srt"
    answer = runner.invoke(app, ["say", "Come home.", "-o", str(output), "--words", str(words)])
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, f"{output}  0.5 s\n", "")
    assert soundfile.info(output).duration == 0.5
    assert words.read_text().startswith("1\n00:00:00,000 --> 00:00:00,500\nCome home")


@pytest.mark.parametrize("option", [["-"], ["--text-file", "text.txt"]])
def test_a_text_comes_from_stdin_or_a_file(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("One two three four.")
    answer = runner.invoke(app, ["say", *option, "-o", "a.wav"], input="One two three four.")
    assert (answer.exit_code, answer.stdout) == (0, "a.wav  1.0 s\n")


def test_a_server_speaks_where_one_is_named(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    studio.body = b'{"words": [{"word": "Come", "start": 0, "end": 0.5}]}'
    studio.updates.append({"status": "done", "notes": ["A note."]})
    output, words = tmp_path / "a.opus", tmp_path / "a.json"
    options = ["--voice", "am_adam", "--speed", "1.5", "--seed", "7", "--key", "secret"]
    answer = runner.invoke(
        app,
        ["say", "Come", "-o", str(output), "--words", str(words), "--server", studio.address, *options],
    )
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, f"{output}\n", "A note.\n")
    assert json.loads(studio.seen[0].body) == {
        "text": "Come",
        "voice": "am_adam",
        "speed": 1.5,
        "seed": 7,
        "output_format": "opus",
    }
    assert studio.seen[0].headers["authorization"] == "Bearer secret"
    assert json.loads(words.read_text()) == [{"word": "Come", "start": 0.0, "end": 0.5}]


def test_voices_are_listed(runner: CliRunner, studio: Studio) -> None:
    assert runner.invoke(app, ["say", "--list-voices"]).stdout == "one\n"
    studio.snapshot = {"models": [{"id": "hibari", "voices": [{"id": "heart", "language": "en-us"}]}]}
    there = runner.invoke(app, ["say", "--list-voices", "--server", studio.address])
    assert there.stdout == "heart  en-us\n"
    assert studio.seen[0].path == "/props"


def test_a_voice_that_is_not_there_leaves_no_file(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(app, ["say", "Come", "--voice", "two", "-o", str(tmp_path / "a.mp3")])
    assert answer.exit_code == 2
    assert answer.stderr == "There is no voice 'two' here; choose one of: one.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-o", "a.mp3"], "give the text once"),
        (["Come", "--text-file", "a.txt", "-o", "a.mp3"], "give the text once"),
        (["", "-o", "a.mp3"], "the text is empty"),
        (["Come"], "name the file to write with -o"),
        (["Come", "-o", "a.aac"], "end the name in one of .mp3"),
        (["Come", "-o", "a.json", "--words", "a.json"], "name another file"),
        (["Come", "-o", "a.mp3", "--words", "a.txt"], "end the name in one of .json, .srt, .vtt"),
        (["Come", "-o", "a.mp3", "--speed", "5"], "--speed"),
        (["Come", "-o", "a.mp3", "--seed", "-1"], "--seed"),
        (["--text-file", "/dev/zero", "-o", "a.mp3"], "/dev/zero is longer"),
    ],
)
def test_wrong_arguments_are_told(runner: CliRunner, arguments: list[str], sentence: str) -> None:
    answer = runner.invoke(app, ["say", *arguments], env={"COLUMNS": "200"})
    assert answer.exit_code == 2
    assert sentence in answer.stderr


def test_what_comes_in_is_told_where_it_is_not_utf_8(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(app, ["say", "-", "-o", str(tmp_path / "a.mp3")], input=b"Gr\xfc\xdfe")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "What comes on stdin is not UTF-8 text; convert it to UTF-8 first.\n",
    )


def test_help_tells_what_is_needed(runner: CliRunner) -> None:
    told = " ".join(runner.invoke(app, ["say", "--help"], env={"COLUMNS": "200"}).stdout.split())
    assert "Needed, or --text-file." in told
    assert "File to write, needed" in told
