"""What the hub may answer, and what is sent to it."""

import os
import subprocess
import sys
from types import SimpleNamespace

import httpx2
import pytest
from huggingface_hub import HfApi

from server.commands.hub import Hub
from server.commands.hub_errors import HubUnreachable, WrongChoice
from server.commands.model_files import Digest, RemoteFile
from tests.server.commands.child import ROOT

COMMIT = "1a96eca688d6ae5d7f0feb88573fec89920fcd19"
SHA256 = "0123456789abcdef" * 4


def lfs(sha256: object = SHA256, size: object = 7) -> SimpleNamespace:
    return SimpleNamespace(rfilename="model.safetensors", lfs=SimpleNamespace(sha256=sha256, size=size))


def blob(blob_id: object = COMMIT, size: object = 7) -> SimpleNamespace:
    return SimpleNamespace(rfilename="config.json", lfs=None, blob_id=blob_id, size=size)


def hub_that_tells(monkeypatch: pytest.MonkeyPatch, *files: SimpleNamespace, sha: object = COMMIT) -> Hub:
    told = SimpleNamespace(siblings=files, sha=sha)
    monkeypatch.setattr(HfApi, "model_info", lambda *_, **__: told)
    return Hub("https://ann:secret@mirror.example")


def hub_that_fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Hub:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(HfApi, "model_info", fail)
    return Hub("https://ann:secret@mirror.example")


def test_files_with_size_and_digest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    untold = (blob(size=None), blob(blob_id=None))
    listing = hub_that_tells(monkeypatch, lfs(), blob(size=0), *untold).listing("a/b", "main")
    assert listing.commit == COMMIT
    assert listing.files == (
        RemoteFile("model.safetensors", 7, Digest("sha256", SHA256)),
        RemoteFile("config.json", 0, Digest("git", COMMIT)),
    )


@pytest.mark.parametrize(
    "file",
    [
        lfs("../../evil"),
        lfs(SHA256 + "\n"),
        lfs(SHA256[1:]),
        lfs(SHA256.upper()),
        lfs(COMMIT),
        lfs(None),
        lfs(size=-1),
        lfs(size="7"),
        lfs(size=None),
        lfs(size=True),
        blob("../../evil"),
        blob(SHA256),
        blob(size=-1),
        blob(size=7.5),
    ],
)
def test_a_size_or_digest_that_can_be_none_is_no_answer_of_a_hub(
    monkeypatch: pytest.MonkeyPatch, file: SimpleNamespace
) -> None:
    with pytest.raises(HubUnreachable, match="not as a model hub"):
        hub_that_tells(monkeypatch, file).listing("a/b", "main")


@pytest.mark.parametrize("sha", ["\x1b[2J", "a?b", 7])
def test_a_commit_that_can_be_none_is_no_answer_of_a_hub(
    monkeypatch: pytest.MonkeyPatch, sha: object
) -> None:
    with pytest.raises(HubUnreachable, match="not as a model hub"):
        hub_that_tells(monkeypatch, sha=sha).listing("a/b", "main")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (httpx2.TooManyRedirects("Too many."), "answers, but not as a model hub"),
        (httpx2.InvalidURL("No."), "answers, but not as a model hub"),
        (httpx2.ConnectError("Refused."), "Cannot reach https://mirror.example (Refused)"),
    ],
)
def test_what_goes_wrong_is_told_without_secrets(
    monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    with pytest.raises(HubUnreachable) as failure:
        hub_that_fails(monkeypatch, error).listing("a/b", "main")
    assert sentence in str(failure.value)
    assert "secret" not in str(failure.value)


def test_a_wrong_address_is_told_first() -> None:
    with pytest.raises(WrongChoice, match="HF_ENDPOINT is not the address of a hub"):
        Hub("http://[::1")


@pytest.mark.parametrize(
    ("address", "token", "cautions"),
    [
        ("http://ann:secret@mirror.example", "hf_token", True),
        ("http://mirror.example", "", False),
        ("https://mirror.example", "hf_token", False),
        ("http://127.0.0.1:8000", "hf_token", False),
    ],
)
def test_a_token_in_clear_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, address: str, token: str, cautions: bool
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", "/nowhere")
    monkeypatch.setenv("HF_TOKEN", token)
    caution = Hub(address).caution
    assert ("Your token goes to http://mirror.example in clear" in caution) is cautions
    assert bool(caution) is cautions
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    assert Hub(address).caution == ""


@pytest.mark.runtime
def test_telemetry_is_off_in_the_library() -> None:
    program = (
        "from server.commands.hub import Hub; Hub('http://127.0.0.1:9'); "
        "from huggingface_hub import constants; print(constants.HF_HUB_DISABLE_TELEMETRY)"
    )
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("TELEMETRY", "TRACK"))}
    told = subprocess.run(
        [sys.executable, "-c", program], env=kept, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout == "True\n"
