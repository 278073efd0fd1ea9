"""Fetching the models from a hub that is a double."""

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import huggingface_hub
import pytest
from typer.testing import CliRunner, Result

from server.__main__ import app
from server.commands.pulling import SPARE_BYTES
from tests.server.commands.child import child, child_at_terminal
from tests.server.commands.hub_double import COMMIT, Hub, hub_double

TINY = Path(__file__).parents[2] / "data" / "yue2"
WEIGHTS = bytes(range(256)) * 64
MODEL, VAE = "m-a-p/YuE2-3B", "m-a-p/YuE2-Vae"
Pull = Callable[..., Result]


def manifest(weights: bytes) -> bytes:
    digest = hashlib.sha256(weights).hexdigest()
    return json.dumps(
        {"schema": 1, "files": {"model.safetensors": {"bytes": len(weights), "sha256": digest}}}
    ).encode()


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub with both repositories, a few kilobytes large, and what else such repositories hold."""
    with hub_double() as double:
        both = {
            "config.json": b"{}",
            "LICENSE": b"CC BY-NC 4.0",
            "README.md": b"# YuE2",
            "modeling.py": b"boom",
        }
        weights = {"model.safetensors": WEIGHTS, "weights_manifest.json": manifest(WEIGHTS)}
        language = {
            "qwen.tiktoken": b"IQ== 0\n",
            "yue2_generation_config.json": b"{}",
            "licenses/a-MIT.txt": b"MIT",
        }
        double.repos = {MODEL: both | weights | language, VAE: both | weights}
        yield double
    huggingface_hub.close_session()


@pytest.fixture
def pull(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pull:
    """`yue2-studio pull --yes` into a folder, from that hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr("server.commands.fetching.PAUSES_SECONDS", (0.0, 0.0))

    def run(*arguments: str, yes: bool = True, typed: str = "", **environ: str) -> Result:
        words = ["pull", "--into", str(tmp_path / "models"), *(["--yes"] if yes else []), *arguments]
        settings = {"HF_ENDPOINT": hub.address, "HF_TOKEN": None, **environ}
        return CliRunner().invoke(app, words, input=typed, env=settings)

    return run


def fetched(tmp_path: Path) -> set[str]:
    root = tmp_path / "models"
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_both_models_are_fetched_and_nothing_that_could_run(pull: Pull, tmp_path: Path) -> None:
    answer = pull()
    assert answer.exit_code == 0, answer.stderr
    models = tmp_path / "models"
    assert answer.stdout == f"YUE2_MODEL={models}/YuE2-3B\nYUE2_VAE={models}/YuE2-Vae\n"
    assert f"    YUE2_MODEL={models}/YuE2-3B YUE2_VAE={models}/YuE2-Vae ./task start\n" in answer.stderr
    common = {"config.json", "LICENSE", "model.safetensors", "weights_manifest.json", ".pulled.json"}
    language = {"qwen.tiktoken", "yue2_generation_config.json", "licenses/a-MIT.txt"}
    expected = {f"YuE2-3B/{name}" for name in common | language} | {f"YuE2-Vae/{name}" for name in common}
    assert fetched(tmp_path) == expected
    assert (models / "YuE2-3B" / "model.safetensors").read_bytes() == WEIGHTS


def test_size_and_licence_come_first(pull: Pull) -> None:
    told = pull().stderr
    assert "CC BY-NC 4.0, not for commercial use; https://creativecommons.org/licenses/by-nc/4.0/" in told
    assert f"m-a-p/YuE2-3B (16.6 kB, commit {COMMIT[:12]})" in told
    assert "33.1 kB in all." in told


def test_a_second_run_asks_nobody(pull: Pull, hub: Hub) -> None:
    pull()
    hub.seen.clear()
    answer = pull(yes=False)
    assert (answer.exit_code, hub.seen) == (0, [])
    assert answer.stderr.startswith("The models are already there.")
    assert "YUE2_MODEL=" in answer.stdout


def test_a_commit_or_branch_is_part_of_what_is_there(pull: Pull, hub: Hub) -> None:
    pull()
    hub.seen.clear()
    assert pull("--model-revision", COMMIT).exit_code == 0
    assert hub.seen == []
    hub.revisions += ("v2",)
    assert pull("--model-revision", "v2").exit_code == 0
    assert hub.sent["model.safetensors"] == 2 * len(WEIGHTS)  # the same content is not fetched again


def test_a_changed_file_is_noticed_and_fetched_again(pull: Pull, hub: Hub, tmp_path: Path) -> None:
    pull()
    weights = tmp_path / "models" / "YuE2-Vae" / "model.safetensors"
    weights.write_bytes(bytes(len(WEIGHTS)))
    assert pull().exit_code == 0
    assert weights.read_bytes() == WEIGHTS
    assert hub.sent["model.safetensors"] == 3 * len(WEIGHTS)


def test_a_broken_connection_is_gone_on_from(pull: Pull, hub: Hub) -> None:
    hub.cuts = deque([5000, 3000])
    answer = pull()
    assert answer.exit_code == 0, answer.stderr
    asked = [one.get("range") for one in hub.asked("/-/model.safetensors")]
    assert asked == [None, "bytes=5000-", "bytes=8000-", None]
    assert hub.sent["model.safetensors"] == 2 * len(WEIGHTS)
    assert "broke" in answer.stderr
    assert "Trying again in 0 s." in " ".join(answer.stderr.split())


def test_a_hub_that_does_no_ranges_is_begun_again_with(pull: Pull, hub: Hub, tmp_path: Path) -> None:
    hub.cuts, hub.ranges = deque([5000]), False
    assert pull().exit_code == 0
    assert [one.get("range") for one in hub.asked(f"{MODEL}/-/model.safetensors")] == [None, "bytes=5000-"]
    assert (tmp_path / "models" / "YuE2-3B" / "model.safetensors").read_bytes() == WEIGHTS


def test_a_hub_that_sends_nothing_is_given_up_and_what_came_is_kept(
    pull: Pull, hub: Hub, tmp_path: Path
) -> None:
    hub.cuts = deque([5000, 0, 0, 0])
    answer = pull()
    assert answer.exit_code == 3
    assert "Nothing came in 3 attempts; run this again later." in answer.stderr
    (part,) = (tmp_path / "models" / "YuE2-3B").glob(".model.safetensors.*.part")
    assert part.stat().st_size == 5000
    again = pull()
    assert again.exit_code == 0
    assert "of which are there already" in again.stderr
    assert hub.sent["model.safetensors"] == 2 * len(WEIGHTS)


def test_breaks_are_borne_as_long_as_something_comes(pull: Pull, hub: Hub) -> None:
    hub.cuts = deque([5000, 3000, 2000, 1000])
    assert pull().exit_code == 0
    assert hub.sent["model.safetensors"] == 2 * len(WEIGHTS)


def test_a_hub_that_refuses_the_range_is_begun_again_with(pull: Pull, hub: Hub, tmp_path: Path) -> None:
    hub.cuts = deque([5000, 0, 0, 0])
    assert pull().exit_code == 3
    hub.seen.clear()
    hub.statuses = {"model.safetensors": deque([416])}
    assert pull().exit_code == 0
    asked = hub.asked(f"{MODEL}/-/model.safetensors")
    assert [one.get("range") for one in asked] == ["bytes=5000-", None]
    assert (tmp_path / "models" / "YuE2-3B" / "model.safetensors").read_bytes() == WEIGHTS


@pytest.mark.parametrize("ranges", [True, False])
def test_a_hub_that_sends_more_than_it_promised_is_heard_no_longer(
    pull: Pull, hub: Hub, tmp_path: Path, ranges: bool
) -> None:
    hub.cuts, hub.ranges, hub.surplus = deque([5000]), ranges, b"x" * 10000
    answer = pull()
    assert answer.exit_code == 0, answer.stderr
    for name in ("YuE2-3B", "YuE2-Vae"):
        assert (tmp_path / "models" / name / "model.safetensors").read_bytes() == WEIGHTS
    again = [None, "bytes=5000-"]
    assert [one.get("range") for one in hub.asked("/-/model.safetensors")] == [*again, None]


def test_redirections_without_end_are_a_sentence(pull: Pull, hub: Hub) -> None:
    hub.circles = True
    answer = pull()
    assert answer.exit_code == 3
    assert answer.stderr == f"{hub.address} answers, but not as a model hub; check HF_ENDPOINT.\n"


def test_files_that_redirect_without_end_are_a_sentence(
    pull: Pull, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(*arguments: object, **_: object) -> None:
        hub.circles = True

    monkeypatch.setattr("server.commands.pulling.agree", tell)  # from then on
    answer = pull()
    assert answer.exit_code == 3
    assert f"{hub.address} answers, but not as a model hub; check HF_ENDPOINT.\n" in answer.stderr


@pytest.mark.parametrize("elsewhere", ["file:///etc/passwd", "http://[::1/model.safetensors"])
def test_files_that_are_said_to_be_at_no_web_address_are_not_asked_for_again(
    pull: Pull, hub: Hub, elsewhere: str
) -> None:
    hub.elsewhere = elsewhere
    answer = pull()
    assert answer.exit_code == 3
    assert f"{hub.address} answers, but not as a model hub; check HF_ENDPOINT.\n" in answer.stderr
    assert len(hub.asked("/qwen.tiktoken")) == 1


@pytest.mark.parametrize("blocked", ["models", "models/YuE2-Vae"])
def test_a_file_where_a_folder_should_be_is_told_before_the_hub_is_asked(
    pull: Pull, hub: Hub, tmp_path: Path, blocked: str
) -> None:
    place = tmp_path / blocked
    place.parent.mkdir(exist_ok=True)
    place.write_text("")
    answer = pull()
    assert (answer.exit_code, hub.seen) == (1, [])
    assert answer.stderr == f"{place} is no folder; move it away, or name another folder with --into.\n"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("qwen.tiktoken/", "is a folder, and a file of that name is to be fetched; move it away."),
        ("licenses", "is no folder, and a file is to be fetched into it; move it away."),
    ],
)
def test_what_lies_in_a_files_place_is_told_before_anything_comes(
    pull: Pull, hub: Hub, tmp_path: Path, path: str, sentence: str
) -> None:
    place = tmp_path / "models" / "YuE2-3B" / path
    (place if path.endswith("/") else place.parent).mkdir(parents=True)
    if not path.endswith("/"):
        place.write_text("")
    answer = pull()
    assert (answer.exit_code, hub.sent) == (1, {})
    assert answer.stderr == f"{place} {sentence}\n"


def test_an_unfinished_file_that_is_a_link_is_not_followed(pull: Pull, hub: Hub, tmp_path: Path) -> None:
    hub.cuts = deque([5000, 0, 0, 0])
    pull()
    (part,) = (tmp_path / "models" / "YuE2-3B").glob(".model.safetensors.*.part")
    part.unlink()
    (tmp_path / "other").write_text("mine")
    part.symlink_to(tmp_path / "other")
    answer = pull()
    assert answer.exit_code == 1
    assert answer.stderr.splitlines()[-1].startswith(f"{part}: ")
    assert (tmp_path / "other").read_text() == "mine"


@pytest.mark.parametrize("again", [False, True])
def test_weights_that_nobody_fetched_are_named(pull: Pull, tmp_path: Path, again: bool) -> None:
    if again:
        pull()
    folder = tmp_path / "models" / "YuE2-3B"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("old.safetensors", ".hidden.safetensors"):
        (folder / name).write_text("")
    answer = pull()
    assert answer.exit_code == 0
    assert f"{folder} also holds weights that are not of this model" in answer.stderr
    assert "remove them: old.safetensors\n" in answer.stderr


def test_a_busy_hub_is_waited_for(pull: Pull, hub: Hub) -> None:
    hub.statuses = {"model.safetensors": deque([503, 429])}
    answer = pull()
    assert answer.exit_code == 0
    assert " answers 503. Trying again" in " ".join(answer.stderr.split())


def test_wrong_bytes_are_fetched_once_more(pull: Pull, hub: Hub) -> None:
    hub.spoilt = deque(["model.safetensors"])
    assert pull().exit_code == 0
    assert hub.sent["model.safetensors"] == 3 * len(WEIGHTS)


@pytest.mark.parametrize("path", ["model.safetensors", "config.json"])
def test_wrong_bytes_twice_are_not_kept(pull: Pull, hub: Hub, tmp_path: Path, path: str) -> None:
    hub.spoilt = deque([path, path])
    answer = pull()
    assert answer.exit_code == 1
    assert f"{path} came twice with another content than m-a-p/YuE2-3B promises" in answer.stderr
    assert f"YuE2-3B/{path}" not in fetched(tmp_path)


def test_weights_that_the_manifest_does_not_name_are_refused_before_they_come(pull: Pull, hub: Hub) -> None:
    hub.repos[VAE]["weights_manifest.json"] = manifest(b"others")
    answer = pull()
    assert answer.exit_code == 1
    assert "are not those that its weights_manifest.json names" in answer.stderr
    assert hub.sent["model.safetensors"] == len(WEIGHTS)  # the other model's


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--model-repo", "nobody/nothing"], 1, "There is no repository nobody/nothing at"),
        (["--model-revision", "v9"], 1, "m-a-p/YuE2-3B has no revision 'v9'"),
        (["--model-repo", "a//b"], 2, "cannot be a repository's name"),
        (["--model-repo", VAE, "--vae-repo", MODEL], 1, "and so is no language model of YuE2"),
        (["--model-repo", "x/YuE2-Vae"], 2, "both repositories have the same name"),
    ],
)
def test_a_wrong_choice_is_a_sentence(pull: Pull, arguments: list[str], code: int, sentence: str) -> None:
    answer = pull(*arguments)
    assert answer.exit_code == code
    assert sentence in " ".join(answer.stderr.split())


@pytest.mark.parametrize(
    ("status", "sentence"), [(403, "accept its terms"), (500, "try again later"), (200, "not as a model hub")]
)
def test_what_the_hub_says_is_told(pull: Pull, hub: Hub, status: int, sentence: str) -> None:
    hub.statuses = {MODEL: deque([status])}
    answer = pull()
    assert answer.exit_code == (3 if status == 200 else 1)
    assert sentence in answer.stderr


def test_a_file_that_is_refused_is_a_sentence(pull: Pull, hub: Hub) -> None:
    hub.statuses = {"qwen.tiktoken": deque([404])}
    answer = pull()
    assert answer.exit_code == 1
    assert "refuses qwen.tiktoken of m-a-p/YuE2-3B with status 404" in answer.stderr


def test_the_token_goes_to_the_hub_and_no_further(pull: Pull, hub: Hub) -> None:
    assert pull(HF_TOKEN="hf_secret").exit_code == 0
    assert {one.get("authorization") for one in hub.asked("/resolve/" + COMMIT + "/model.safetensors")} == {
        "Bearer hf_secret"
    }
    assert {one.get("authorization") for one in hub.asked("/-/model.safetensors")} == {None}
    assert not [path for _, path, _ in hub.seen if "agent" in path or "telemetry" in path]


def test_nobody_to_ask_means_no(pull: Pull, hub: Hub) -> None:
    answer = pull(yes=False)
    assert answer.exit_code == 2
    assert "say --yes" in answer.stderr
    assert hub.sent == {}


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("y\n", 0),
        ("YES\n", 0),
        ("what?\ny\n", 0),
        ("n\n", 2),
        ("no\n", 2),
        ("\n", 2),
        ("what?\n", 2),
        ("", 2),
    ],
)
def test_somebody_at_a_terminal_is_asked(
    pull: Pull, hub: Hub, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    monkeypatch.setattr("server.commands.pull.at_terminal", lambda: True)
    answer = pull(yes=False, typed=typed)
    assert answer.exit_code == code
    assert answer.stderr.count("Fetch them under this licence? [y/N]: ") == 1 + typed.count("what")
    assert bool(hub.sent) is (code == 0)
    assert ("Nothing was fetched." in answer.stderr) is (code == 2)


@pytest.mark.parametrize(("missing", "code"), [(1, 1), (0, 0)])
def test_too_little_room_is_told_before_anything_comes(
    pull: Pull, hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: int, code: int
) -> None:
    files = [(path, body) for repo in hub.repos.values() for path, body in repo.items()]
    needed = sum(len(body) for path, body in files if path not in ("README.md", "modeling.py"))
    free = needed + SPARE_BYTES - missing
    monkeypatch.setattr("server.commands.pulling._free_bytes", lambda folder: free)
    answer = pull()
    assert answer.exit_code == code
    assert (f"the disk of {tmp_path} has 100.0 MB left" in answer.stderr) is (code == 1)
    assert (hub.sent == {}) is (code == 1)


def test_two_at_once_do_not_mix(pull: Pull, hub: Hub, tmp_path: Path) -> None:
    hub.cuts = deque([5000, 0, 0, 0])
    pull()
    (part,) = (tmp_path / "models" / "YuE2-3B").glob(".model.safetensors.*.part")
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        answer = pull()
    assert answer.exit_code == 1
    assert "Another pull is fetching" in answer.stderr


def test_no_hub_is_a_sentence(pull: Pull) -> None:
    answer = pull(HF_ENDPOINT="http://127.0.0.1:9")
    assert answer.exit_code == 3
    assert answer.stderr.startswith("Cannot reach http://127.0.0.1:9 (")


@pytest.mark.parametrize("address", ["http://[::1", "http://127.0.0.1:99999", "http://ann:secret"])
def test_a_wrong_address_of_the_hub_is_a_sentence(pull: Pull, address: str) -> None:
    answer = pull(HF_ENDPOINT=address)
    assert answer.exit_code == 2
    assert answer.stderr.startswith("HF_ENDPOINT is not the address of a hub; write it as")
    assert "secret" not in answer.stderr


@pytest.mark.runtime
def test_a_wrong_address_is_a_sentence_before_the_library_sees_it(hub: Hub, tmp_path: Path) -> None:
    with process(hub, tmp_path, HF_ENDPOINT="http://[::1") as wrong:
        _, told = wrong.communicate(timeout=60)
    assert wrong.returncode == 2
    assert told.startswith("HF_ENDPOINT is not the address of a hub")


def test_a_password_in_the_address_is_used_and_not_shown(pull: Pull, hub: Hub) -> None:
    hub.statuses = {MODEL: deque([403])}
    answer = pull(HF_ENDPOINT=hub.address.replace("://", "://ann:secret@"))
    assert answer.exit_code == 1
    assert f"accept its terms at {hub.address}/{MODEL}" in answer.stderr
    assert "secret" not in answer.stderr
    assert hub.seen[0][2]["authorization"].startswith("Basic ")


@pytest.mark.parametrize(("token", "cautions"), [("hf_secret", 1), (None, 0)])
def test_a_token_that_goes_in_clear_is_warned_of(
    pull: Pull, hub: Hub, token: str | None, cautions: int
) -> None:
    proxy = {"HTTP_PROXY": hub.address, "http_proxy": hub.address, "NO_PROXY": "", "no_proxy": ""}
    answer = pull(HF_ENDPOINT="http://mirror.example", **proxy, **({"HF_TOKEN": token} if token else {}))
    assert answer.exit_code == 0, answer.stderr
    assert answer.stderr.count("Your token goes to http://mirror.example in clear") == cautions
    assert "hf_secret" not in answer.stderr


def test_no_token_is_sent_where_the_library_may_not(
    pull: Pull, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    assert pull(HF_TOKEN="hf_secret").exit_code == 0
    assert {headers.get("authorization") for _, _, headers in hub.seen} == {None}


def test_without_the_library_it_says_how_to_get_it(pull: Pull, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    answer = pull()
    assert answer.exit_code == 1
    assert "pip install 'yue2-studio[yue2]'" in answer.stderr


def settings_of(hub: Hub, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home")}


def process(hub: Hub, tmp_path: Path, **environ: str) -> AbstractContextManager[subprocess.Popen[str]]:
    arguments = ["pull", "--yes", "--into", str(tmp_path / "models")]
    return child(arguments, settings_of(hub, tmp_path) | environ)


@pytest.mark.runtime
@pytest.mark.parametrize(
    ("keys", "number", "code", "sentence"),
    [
        (b"\x03", None, 130, b"Interrupted."),
        (b"", signal.SIGTERM, 143, b"Ended by SIGTERM."),
        (b"\x04", None, 2, b"Nothing was fetched."),
        (b"n\n", None, 2, b"Nothing was fetched."),
        (b"y\n", None, 0, b"Start the server"),
    ],
)
def test_each_way_out_of_the_question_has_its_exit_code(
    hub: Hub, tmp_path: Path, keys: bytes, number: int | None, code: int, sentence: bytes
) -> None:
    arguments = ["pull", "--into", str(tmp_path / "models")]
    with child_at_terminal(arguments, settings_of(hub, tmp_path)) as terminal:
        terminal.until(b"[y/N]: ")
        if number:
            terminal.process.send_signal(number)
        terminal.type(keys)
        assert terminal.ended() == code
    assert b"\r\n" + sentence in terminal.shown
    assert b"Abort" not in terminal.shown
    assert bool(hub.sent) is (code == 0)


@pytest.fixture
def tiny(hub: Hub) -> Hub:
    """The hub with the tiny checkpoints under the real names."""
    hub.add_folder(MODEL, TINY / "YuE2-3B-tiny", LICENSE=b"CC BY-NC 4.0")
    hub.add_folder(VAE, TINY / "YuE2-Vae-tiny")
    return hub


@pytest.mark.runtime
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_ended_run_is_gone_on_with(tiny: Hub, tmp_path: Path, number: int) -> None:
    half = 6 * 1024 * 1024
    tiny.pause_at = half
    with process(tiny, tmp_path) as first:
        assert tiny.paused.wait(60)
        until_written(first, tmp_path, half - 1024 * 1024)
        first.send_signal(number)
        _, told = first.communicate(timeout=60)
    assert first.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert ("the same command goes on from there" in told) is (number != signal.SIGKILL)
    tiny.pause_at, tiny.seen = None, []
    tiny.resumed.set()
    with process(tiny, tmp_path) as second:
        settings, told = second.communicate(timeout=120)
    assert second.returncode == 0, told
    assert settings.startswith(f"YUE2_MODEL={tmp_path}/models/YuE2-3B\n")
    (asked, *_) = tiny.asked(f"{MODEL}/-/model.safetensors")
    assert int(asked["range"].removeprefix("bytes=").removesuffix("-")) >= half - 1024 * 1024
    for name in ("YuE2-3B", "YuE2-Vae"):
        for path in (TINY / f"{name}-tiny").iterdir():
            assert (tmp_path / "models" / name / path.name).read_bytes() == path.read_bytes()


def until_written(process: subprocess.Popen[str], tmp_path: Path, size: int) -> None:
    """Return once the process has so much of the weights on its disk; AssertionError where it ends before."""
    folder = tmp_path / "models" / "YuE2-3B"
    while not any(part.stat().st_size >= size for part in folder.glob(".model.safetensors.*.part")):
        assert process.poll() is None
        os.sched_yield()


@pytest.mark.runtime
def test_offline_is_a_sentence(tiny: Hub, tmp_path: Path) -> None:
    with process(tiny, tmp_path, HF_HUB_OFFLINE="1") as offline:
        _, told = offline.communicate(timeout=60)
    assert offline.returncode == 3
    assert told.startswith("HF_HUB_OFFLINE forbids asking the hub")
