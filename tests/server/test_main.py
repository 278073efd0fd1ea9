"""The command line as its user sees it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from typer.testing import CliRunner

from server.__main__ import app
from tests.server.client.double import Studio, studio_double
from tests.server.commands.child import ROOT, child
from tests.server.commands.test_snapshot import QUEUE, RESULTS, WORKER

SNAPSHOT = {"status": "ok", "queue": QUEUE, "results": RESULTS, "worker": WORKER}


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        double.snapshot = {**SNAPSHOT}
        yield double


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_the_version_is_told(runner: CliRunner) -> None:
    answer = runner.invoke(app, ["--version"])
    assert answer.exit_code == 0
    assert answer.stdout.startswith("yue2-studio 0.")


def test_the_commands_are_listed(runner: CliRunner) -> None:
    answer = runner.invoke(app, ["--help"])
    assert all(
        command in answer.stdout
        for command in ("serve", "sing", "say", "transcribe", "status", "pull", "voices", "doctor")
    )


def test_status_is_a_table(runner: CliRunner, studio: Studio) -> None:
    answer = runner.invoke(app, ["status", "--server", studio.address])
    assert answer.exit_code == 0
    assert "1 running, 2 waiting, 5 of 8 places free" in answer.stdout


def test_status_as_json_is_the_servers_own(runner: CliRunner, studio: Studio) -> None:
    answer = runner.invoke(app, ["status", "--server", studio.address, "--json", "--key", "secret"])
    assert json.loads(answer.stdout) == SNAPSHOT
    assert studio.seen[0].headers["authorization"] == "Bearer secret"


def test_a_server_that_is_not_there_is_a_sentence(runner: CliRunner) -> None:
    with studio_double() as gone:
        address = gone.address
    answer = runner.invoke(app, ["status", "--server", address])
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr == f"Cannot connect to {address}. Is the server running?\n"


@pytest.mark.parametrize("address", ["nonsense", "ftp://127.0.0.1", "http://[::1"])
def test_what_cannot_be_an_address_is_a_wrong_argument(runner: CliRunner, address: str) -> None:
    answer = runner.invoke(app, ["status", "--server", address])
    assert answer.exit_code == 2
    assert "give one like http://127.0.0.1:8000" in answer.stderr


def test_a_server_that_never_was_there_does_not_keep_the_singer(runner: CliRunner, tmp_path: Path) -> None:
    with studio_double() as gone:
        address = gone.address
    told = ["--style", "folk", "-o", str(tmp_path / "s.mp3")]
    answer = runner.invoke(app, ["sing", "--server", address, *told])
    assert answer.exit_code == 3
    assert answer.stderr == f"Cannot connect to {address}. Is the server running?\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(app, ["sing", "--style", "folk", "-o", str(tmp_path / "nodir" / "s.mp3")])
    assert answer.exit_code == 1
    assert answer.stderr == f"{tmp_path / 'nodir'}: There is no such folder; make it first.\n"


def test_the_help_says_who_sings(runner: CliRunner) -> None:
    told = " ".join(runner.invoke(app, ["sing", "--help"]).stdout.split())
    assert "YuE2 sings where YUE2_MODEL and YUE2_VAE name its weights" in told
    assert "its own voice sings English words" in told


def test_singing_on_a_server(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    studio.body = b'{"abc": "X:1"}'
    studio.updates.append({"status": "done", "tracks": {"count": 1, "items": [{"seconds": 12.0}]}})
    output, score = tmp_path / "song.mp3", tmp_path / "song.abc"
    told = ["--lyrics", "-", "--seed", "7", "--duration", "30", "-o", str(output), "--score", str(score)]
    answer = runner.invoke(app, ["sing", "--server", studio.address, *told], input="[Verse]\nla la")
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout == f"{output}  12.0 s  seed 7\n"
    assert (output.read_bytes(), score.read_text()) == (studio.body, "X:1")
    assert json.loads(studio.seen[0].body) == {
        "style": "",
        "lyrics": "[Verse]\nla la",
        "abc": "",
        "lm_seed": 7,
        "seed": 7,
        "output_format": "mp3",
        "duration": 30.0,
    }


def test_what_yue2_is_told_is_sent(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    studio.body = b'{"abc": "X:1", "seed": 7}'
    studio.updates.append({"status": "done", "notes": ["The codes ran out of their budget."]})
    output, replay = tmp_path / "song.mp3", tmp_path / "song.json"
    told = ["--model", "yue2", "--cot", "melody", "--steps", "8", "--style", "folk"]
    files = ["-o", str(output), "--save-replay", str(replay)]
    answer = runner.invoke(app, ["sing", "--server", studio.address, *told, *files])
    assert (answer.exit_code, answer.stderr) == (0, "The codes ran out of their budget.\n")
    sent = json.loads(studio.seen[0].body)
    assert (sent["model"], sent["cot"], sent["steps"]) == ("yue2", "melody", 8)
    assert json.loads(replay.read_text()) == {"abc": "X:1", "seed": 7}


def test_a_replay_is_sung_again_in_the_format_of_the_file(
    runner: CliRunner, studio: Studio, tmp_path: Path
) -> None:
    replay = tmp_path / "song.json"
    replay.write_text('{"style": "folk", "seed": 3, "semantic_tokens": "1,2", "output_format": "mp3"}')
    studio.updates.append({"status": "done"})
    studio.body = b"{}"
    files = ["--replay", str(replay), "-o", str(tmp_path / "s.flac")]
    answer = runner.invoke(app, ["sing", "--server", studio.address, *files])
    assert answer.stdout == f"{tmp_path / 's.flac'}  seed 3\n"
    sent = json.loads(studio.seen[0].body)
    assert sent == {"style": "folk", "seed": 3, "semantic_tokens": "1,2", "output_format": "flac"}


def test_a_replay_is_sung_with_another_sound(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    replay = tmp_path / "song.json"
    replay.write_text('{"style": "folk", "seed": 3, "lm_seed": 5, "steps": 32, "semantic_tokens": "1,2"}')
    studio.updates.append({"status": "done"})
    studio.body = b"{}"
    files = ["--replay", str(replay), "-o", str(tmp_path / "s.wav")]
    answer = runner.invoke(app, ["sing", "--server", studio.address, *files, "--seed", "4", "--steps", "8"])
    assert answer.exit_code == 0, answer.stderr
    sent = json.loads(studio.seen[0].body)
    assert (sent["seed"], sent["lm_seed"], sent["steps"], sent["semantic_tokens"]) == (4, 5, 8, "1,2")


@pytest.mark.parametrize("name", ["lm_batch_size", "synth_batch_size"])
def test_a_replay_of_several_tracks_is_refused(runner: CliRunner, tmp_path: Path, name: str) -> None:
    replay = tmp_path / "song.json"
    replay.write_text(json.dumps({"style": "folk", name: 2}))
    answer = runner.invoke(app, ["sing", "--replay", str(replay), "-o", str(tmp_path / "s.mp3")])
    assert answer.exit_code == 2
    assert answer.stderr.endswith(f"set its {name} to 1.\n")


@pytest.mark.parametrize("text", ["no json", "[1]", '"X:1"'])
def test_what_is_no_replay_is_told(runner: CliRunner, tmp_path: Path, text: str) -> None:
    replay = tmp_path / "song.json"
    replay.write_text(text)
    answer = runner.invoke(app, ["sing", "--replay", str(replay), "-o", str(tmp_path / "s.mp3")])
    assert answer.exit_code == 2
    assert answer.stderr.startswith(f"{replay} is no replay")


def test_a_failed_song_is_a_sentence_and_no_file(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    studio.updates.append({"status": "failed", "code": "out_of_memory", "error": "Too little memory."})
    answer = runner.invoke(
        app, ["sing", "--server", studio.address, "--style", "folk", "-o", str(tmp_path / "s.mp3")]
    )
    assert (answer.exit_code, answer.stderr) == (1, "Too little memory.\n")
    assert list(tmp_path.iterdir()) == []


def test_words_and_score_come_from_files(runner: CliRunner, studio: Studio, tmp_path: Path) -> None:
    words, tune = tmp_path / "words.txt", tmp_path / "tune.abc"
    words.write_text("\ufeff[Verse]\nGrüße", "utf-8")
    tune.write_text("X:1\nK:C\nC\n")
    studio.updates.append({"status": "done"})
    studio.body = b"{}"
    files = ["--lyrics-file", str(words), "--abc-file", str(tune), "-o", str(tmp_path / "s.wav")]
    answer = runner.invoke(app, ["sing", "--server", studio.address, *files])
    assert answer.exit_code == 0, answer.stderr
    sent = json.loads(studio.seen[0].body)
    assert (sent["lyrics"], sent["abc"], sent["output_format"]) == (
        "[Verse]\nGrüße",
        "X:1\nK:C\nC\n",
        "wav16",
    )
    assert sent["seed"] == sent["lm_seed"] < 2**52


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--style", "folk", "-o", "song.aac"], "end the name in one of"),
        (["--lyrics", "la", "--lyrics-file", "words.txt", "-o", "s.mp3"], "give the words once"),
        (["--style", "folk", "-o", "s.mp3", "--score", "s.mp3"], "name another file"),
        (["--style", "folk", "-o", "s.mp3", "--save-replay", "s.mp3"], "name another file"),
        (["--replay", "r.json", "--seed", "0", "--cot", "off", "-o", "s.mp3"], "leave out --cot"),
        (["--style", "folk", "--steps", "0", "-o", "s.mp3"], "--steps"),
        (["--style", "folk", "--cot", "half", "-o", "s.mp3"], "--cot"),
        (["--style", "folk"], "--output"),
        (["--style", "folk", "--seed", "-1", "-o", "s.mp3"], "--seed"),
    ],
)
def test_wrong_arguments_are_told(runner: CliRunner, arguments: list[str], sentence: str) -> None:
    answer = runner.invoke(
        app, ["sing", "--server", "http://127.0.0.1:1", *arguments], env={"COLUMNS": "200"}
    )
    assert answer.exit_code == 2
    assert sentence in answer.stderr


@pytest.mark.parametrize("present", [True, False])
def test_a_file_that_cannot_be_read_is_a_sentence(runner: CliRunner, tmp_path: Path, present: bool) -> None:
    words = tmp_path / "words.txt"
    if present:
        words.write_bytes(b"\xff\xfe")
    answer = runner.invoke(app, ["sing", "--lyrics-file", str(words), "-o", str(tmp_path / "s.mp3")])
    assert answer.exit_code == (2 if present else 1)
    assert answer.stderr.startswith(str(words))


def test_a_song_without_a_server(tmp_path: Path) -> None:
    output, score = tmp_path / "song.flac", tmp_path / "song.abc"
    request = ["--style", "folk, 120 BPM, instrumental", "--duration", "2", "--seed", "7"]
    sung = subprocess.run(
        [sys.executable, "-m", "server", "sing", *request, "-o", str(output), "--score", str(score)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (sung.returncode, sung.stderr) == (0, "")
    name, seconds, _, _, seed = sung.stdout.split()
    assert (name, seed) == (str(output), "7")
    assert soundfile.info(output).duration == pytest.approx(float(seconds), abs=0.1)
    assert score.read_text().startswith("X:")


@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [(signal.SIGINT, 130, "Interrupted.\n"), (signal.SIGTERM, 143, "Ended by SIGTERM.\n")],
)
@pytest.mark.parametrize(
    "command",
    [
        ["sing", "--style", "folk", "-o", "{folder}/s.mp3"],
        ["say", "Come home.", "-o", "{folder}/s.mp3", "--words", "{folder}/s.srt"],
        ["transcribe", __file__, "-o", "{folder}/s.txt"],
    ],
    ids=lambda command: command[0],
)
def test_a_signal_cancels_on_the_server_and_leaves_no_file(
    studio: Studio, tmp_path: Path, command: list[str], number: int, code: int, sentence: str
) -> None:
    studio.updates.extend([{"status": "running", "phase": "rendering", "progress": 0.1}] * 1000)
    arguments = [word.format(folder=tmp_path) for word in command] + ["--server", studio.address]
    with child(arguments, os.environ) as singing:
        assert studio.looked.wait(30)
        singing.send_signal(number)
        _, told = singing.communicate(timeout=30)
    assert (singing.returncode, told) == (code, sentence)
    assert studio.seen[-1].query["cancel"] == "1"
    assert list(tmp_path.iterdir()) == []


def test_help_comes_without_loading_the_engine() -> None:
    heavy = "{'numpy', 'torch', 'soundfile', 'httpx2', 'pydantic', 'starlette', 'uvicorn'}"
    program = f"import sys, server.__main__; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
