"""Every shell command that the documents tell a reader to type is one that a test tries or checks."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import BENCHMARKS, OF_YUE2
from engine.request import read_song
from server.commands.model_files import audio_decoder, language_model
from server.commands.pull import INTO
from server.openapi import build_openapi
from server.settings import load
from tests.architecture.documents import ROOT, CodeLine, code, documents, fenced_lines, section, table_rows
from tests.architecture.test_dockerfile import instructions, last_stage
from tests.architecture.test_requirements import is_collected

HERE = "tests/architecture/test_docs_commands.py"
SOUND = "tests/architecture/test_sound_document.py"
SUNG = "tests/test_first_song.py::test_the_example_of_the_readme_gives_a_song_with_the_asked_sections"
SHOWN = "tests/test_first_song.py::test_the_command_line_of_the_readme_sings_and_shows_the_server"
WRITTEN = "tests/test_first_song.py::test_what_the_readme_says_is_written_down_again"
UNDERSTOOD = "tests/server/routes/test_documented_calls.py::test_the_documented_calls_are_understood"
AGENTS = "tests/architecture/test_mcp_document.py::test_the_calls_shown_are_answered"
COMPATIBLE = "tests/architecture/test_compatible_document.py::test_the_calls_shown_are_understood"
PULLED = "tests/architecture/test_task_script.py::test_pull_puts_the_models_into_the_checkout"
DOCTORED = "tests/architecture/test_task_script.py::test_doctor_and_voices_look_where_the_server_would"
STARTED = "tests/architecture/test_task_script.py::test_start_puts_the_server_in_its_place"
# The command as it stands in a document, and the test that tries it or checks what it relies on.
CHECKED_BY = {
    "./task start": STARTED,
    "./task start -- --port 9000": STARTED,
    "./task pull": PULLED,
    'export YUE2_MODEL="$PWD/data/models/YuE2-3B" YUE2_VAE="$PWD/data/models/YuE2-Vae"': (
        f"{HERE}::test_the_models_are_looked_for_where_pull_puts_them"
    ),
    "./task doctor": DOCTORED,
    "curl -sS http://127.0.0.1:8000/synth -H 'Content-Type: application/json' "
    '-d \'{"style": "folk, acoustic guitar, warm", "lyrics": "[Verse]\\nThe rain is on the window pane\\nThe light is in the '
    "hall\\n[Chorus]\\nSo come back home, come home again\\nCome home before the fall\"}'": SUNG,
    ".venv/bin/yue2-studio sing --server http://127.0.0.1:8000 --style 'folk, acoustic guitar, warm' "
    "--lyrics 'The rain is on the window pane, so come back home again' -o song.mp3": SHOWN,
    ".venv/bin/yue2-studio say 'The train leaves at half past nine.' -o train.mp3 --words train.srt": WRITTEN,
    ".venv/bin/yue2-studio transcribe train.mp3": WRITTEN,
    ".venv/bin/yue2-studio transcribe train.mp3 -o train.vtt": WRITTEN,
    "curl -sS 'http://127.0.0.1:8000/job?id=ID&wait=30'": SUNG,
    "curl -sS http://127.0.0.1:8000/synth -F 'request=@replay.json;type=application/json' -F latents=@song.f32": UNDERSTOOD,
    "curl -sS 'http://127.0.0.1:8000/vae?op=encode' -H 'Content-Type: audio/flac' --data-binary @song.flac": UNDERSTOOD,
    "curl -sS -o song.f32 'http://127.0.0.1:8000/job?id=ID&latents=0'": UNDERSTOOD,
    "curl -sS 'http://127.0.0.1:8000/vae?op=decode&output_format=wav24' -H 'Content-Type: application/octet-stream' "
    "--data-binary @song.f32": UNDERSTOOD,
    "curl -sS http://127.0.0.1:8000/speech -H 'Content-Type: application/json' "
    '-d \'{"text": "Good morning! It is half past seven."}\'': UNDERSTOOD,
    "curl -sS -o speech.mp3 'http://127.0.0.1:8000/job?id=ID&follow=1'": UNDERSTOOD,
    "curl -sS 'http://127.0.0.1:8000/job?id=ID&replay=0'": UNDERSTOOD,
    "curl -sS http://127.0.0.1:8000/transcribe -F audio=@talk.flac": UNDERSTOOD,
    "curl -sS 'http://127.0.0.1:8000/transcribe?language=en' -H 'Content-Type: audio/flac' "
    "--data-binary @talk.flac": UNDERSTOOD,
    "curl -sS 'http://127.0.0.1:8000/job?id=ID&result=1'": UNDERSTOOD,
    "curl -sS -o talk.srt 'http://127.0.0.1:8000/job?id=ID&subtitles=srt'": UNDERSTOOD,
    "curl -sS -o song.mp3 'http://127.0.0.1:8000/job?id=ID&result=1&track=0'": SUNG,
    "curl -sS -o hello.mp3 http://127.0.0.1:8000/v1/audio/speech -H 'Content-Type: application/json' "
    '-d \'{"model": "tts-1", "voice": "alloy", "input": "Good morning!"}\'': COMPATIBLE,
    "curl -sS http://127.0.0.1:8000/v1/audio/transcriptions -F model=whisper-1 -F response_format=verbose_json "
    "-F 'timestamp_granularities[]=word' -F file=@hello.mp3": COMPATIBLE,
    "curl -sS -o song.mp3 'http://127.0.0.1:8000/v1/music?output_format=mp3_44100_128' "
    "-H 'Content-Type: application/json' "
    '-d \'{"prompt": "folk, warm", "music_length_ms": 10000}\'': COMPATIBLE,
    "curl -sS http://127.0.0.1:8000/v1/models": COMPATIBLE,
    "curl -sN http://127.0.0.1:8000/v1/audio/speech -H 'Content-Type: application/json' "
    '-d \'{"model": "tts-1", "input": "Good morning!", "stream_format": "sse"}\'': COMPATIBLE,
    "curl -sS -o song.mp3 http://127.0.0.1:8000/v1/audio/speech -H 'Content-Type: application/json' "
    '-d \'{"model": "sketch", "voice": "alloy", "input": "[Verse]\\nCome home, come home again", '
    '"instructions": "folk, warm"}\'': COMPATIBLE,
    "curl -sN http://127.0.0.1:8000/v1/audio/transcriptions -F model=whisper-1 -F stream=true "
    "-F file=@hello.mp3": COMPATIBLE,
    "curl -sS http://127.0.0.1:8000/v1/music/plan -H 'Content-Type: application/json' "
    '-d \'{"prompt": "folk, warm, no drums", "music_length_ms": 60000}\'': COMPATIBLE,
    "curl -sS -o song.multipart http://127.0.0.1:8000/v1/music/detailed -H 'Content-Type: application/json' "
    '-d \'{"prompt": "folk, warm\\n[Verse]\\nCome home, come home again", "with_timestamps": true}\'': COMPATIBLE,
    "curl -sS -o hello.mp3 http://127.0.0.1:8000/v1/audio/speech -H 'Idempotency-Key: 20260131-1' "
    "-H 'Content-Type: application/json' "
    '-d \'{"model": "tts-1", "input": "Good morning!"}\'': COMPATIBLE,
    "curl -sS http://127.0.0.1:8000/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2025-11-25' "
    '-d \'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\'': AGENTS,
    "curl -sS http://127.0.0.1:8000/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2025-11-25' "
    '-d \'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "speak", '
    '"arguments": {"text": "Good morning!"}}}\'': AGENTS,
    "curl -sS http://127.0.0.1:8000/mcp -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' "
    "-H 'Mcp-Method: tools/call' -H 'Mcp-Name: server_status' "
    '-d \'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "server_status", "arguments": {}, '
    '"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", '
    '"io.modelcontextprotocol/clientCapabilities": {}}}}\'': AGENTS,
    "curl -sS 'http://127.0.0.1:8000/mcp/transcribe?format=srt' -H 'Content-Type: audio/flac' "
    "--data-binary @talk.flac": AGENTS,
    ".venv/bin/yue2-studio sing --style 'slow waltz, 84 BPM, piano' --lyrics-file words.txt -o song.flac": SHOWN,
    ".venv/bin/yue2-studio status": SHOWN,
    ".venv/bin/pip install -c constraints.txt psutil openai": f"{SOUND}::test_what_the_page_says_to_install_is_pinned",
    ".venv/bin/python -m bench.sound": f"{SOUND}::test_the_program_needs_nothing_but_the_server",
    "python3 -c 'import secrets; print(secrets.token_hex(24))'": f"{HERE}::test_a_key_made_as_shown_is_taken",
    "docker build -t yue2-studio .": f"{HERE}::test_the_image_takes_what_docker_is_given",
    "docker build -t yue2-studio:gpu --build-arg EXTRAS=yue2 .": f"{HERE}::test_the_image_takes_what_docker_is_given",
    "docker volume create yue2-output": f"{HERE}::test_containers_use_the_volume_that_is_created",
    "docker run --rm -p 127.0.0.1:8000:8000 --mount type=volume,source=yue2-output,target=/output "
    "yue2-studio": f"{HERE}::test_containers_use_the_volume_that_is_created",
    "docker volume create yue2-models": f"{HERE}::test_containers_use_the_volume_that_is_created",
    "docker run --rm -it --mount type=volume,source=yue2-models,target=/models yue2-studio:gpu "
    "pull --into /models": f"{HERE}::test_the_image_has_a_place_for_models",
    "docker run --rm --gpus all -p 127.0.0.1:8000:8000 -e YUE2_MODEL=/models/YuE2-3B -e YUE2_VAE=/models/YuE2-Vae "
    "--mount type=volume,source=yue2-models,target=/models --mount type=volume,source=yue2-output,target=/output "
    "yue2-studio:gpu": f"{HERE}::test_the_image_has_a_place_for_models",
}
HALVES = (language_model("m-a-p/YuE2-3B"), audio_decoder("m-a-p/YuE2-Vae"))
LINES = [line for path in documents() for line in fenced_lines(path, "sh")]


def words_of(program: str) -> list[list[str]]:
    """The words of every documented command of a program."""
    return [words for line in LINES if (words := shlex.split(line.text))[0] == program]


def test_every_command_has_a_test() -> None:
    assert [
        f"{line.path.name}:{line.line} {line.text}" for line in LINES if line.text not in CHECKED_BY
    ] == []


def test_every_test_of_a_command_exists() -> None:
    assert [test for test in CHECKED_BY.values() if not is_collected(test)] == []


def test_no_command_is_kept_that_no_document_shows() -> None:
    assert set(CHECKED_BY) - {line.text for line in LINES} == set()


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.path.name}:{line.line}")
def test_every_command_can_be_parsed(line: CodeLine) -> None:
    parsed = subprocess.run(["sh", "-n", "-c", line.text], capture_output=True, check=False)
    assert parsed.returncode == 0, parsed.stderr


def test_the_first_steps_lie_in_the_root() -> None:
    assert (ROOT / "task").stat().st_mode & 0o111
    assert (ROOT / "Taskfile.yml").is_file()


def test_the_tasks_listed_are_those_there_are() -> None:
    text = (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    described = set(re.findall(r"^  ([a-z:]+):\n    desc:", text, re.MULTILINE))
    readme = section((ROOT / "README.md").read_text(encoding="utf-8"), "## Tasks")
    listed = {code(row[0])[0].removeprefix("./task").strip() for row in table_rows(readme, 2)}
    assert listed == described | {""}


def test_the_bench_task_runs_every_benchmark() -> None:
    assert "-m bench {{.CLI_ARGS}}" in (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    programs = {
        ".".join(path.relative_to(ROOT / "bench").with_suffix("").parts)
        for path in (ROOT / "bench").rglob("*.py")
        if " = begin(" in path.read_text(encoding="utf-8")
    }
    assert {*BENCHMARKS, *(name if "." in name else f"{name}.__main__" for name in OF_YUE2)} == programs


def test_the_example_request_is_valid() -> None:
    calls = [words for words in words_of("curl") if "-d" in words]
    songs = [words for words in calls if any(word.endswith("/synth") for word in words)]
    assert songs
    assert all(read_song(json.loads(words[words.index("-d") + 1])).style for words in songs)


def test_every_address_is_a_route() -> None:
    paths = build_openapi("0", keyed=False)["paths"]
    assert isinstance(paths, dict)
    addresses = [word for words in words_of("curl") for word in words if word.startswith("http")]
    asked = {address.removeprefix("http://127.0.0.1:8000").partition("?")[0] for address in addresses}
    assert asked
    assert asked <= set(paths)


def test_a_key_made_as_shown_is_taken() -> None:
    ((_, *arguments),) = words_of("python3")
    printed = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    (key,) = load({"YUE2_API_KEYS": f"ann={printed.stdout.strip()}"}).api_keys
    assert len(key.key) == 48


def test_the_image_takes_what_docker_is_given() -> None:
    given = {
        word.partition("=")[0] for words in words_of("docker") for word in words if word.startswith("EXTRAS=")
    }
    assert given == {rest.partition("=")[0] for word, rest in instructions() if word == "ARG"}


def mounts(words: list[str]) -> dict[str, str]:
    """Source of each target that a docker command mounts."""
    given = [words[place + 1].split(",") for place, word in enumerate(words) if word == "--mount"]
    pairs = [dict(item.split("=") for item in one) for one in given]
    return {pair["target"]: pair["source"] for pair in pairs}


def test_containers_use_the_volume_that_is_created() -> None:
    created = {words[3] for words in words_of("docker") if words[1:3] == ["volume", "create"]}
    runs = [words for words in words_of("docker") if words[1] == "run"]
    serving = [words for words in runs if "-p" in words]
    assert created == {source for words in runs for source in mounts(words).values()}
    assert len(serving) == 2
    assert all(last_stage()["VOLUME"] in mounts(words) for words in serving)
    assert all(f":{last_stage()['EXPOSE']}" in words[words.index("-p") + 1] for words in serving)


def test_the_image_has_a_place_for_models() -> None:
    assert "install --directory --owner=10001 --group=10001 /output /models" in last_stage()["RUN"]
    runs = [words for words in words_of("docker") if "/models" in mounts(words)]
    pulled = {
        half.variable: half.folder(Path(words[words.index("--into") + 1]))
        for words in runs
        if "pull" in words
        for half in HALVES
    }
    given = dict(
        words[place + 1].split("=") for words in runs for place, word in enumerate(words) if word == "-e"
    )
    assert {name: Path(path) for name, path in given.items()} == pulled


def test_the_models_are_looked_for_where_pull_puts_them() -> None:
    ((_, *settings),) = words_of("export")
    assert settings == [f"{half.variable}=$PWD/{half.folder(INTO)}" for half in HALVES]
