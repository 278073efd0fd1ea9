"""A server that cannot start says why in one sentence and is gone."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from engine import catalogue
from engine.errors import CheckpointError, DeviceError, EngineError, MissingExtra
from engine.sound_options import SoundOptions
from engine.yue2.options import Yue2Options
from server.errors import SettingsError
from server.serve import opened, sound_of, weights_of
from server.settings import load

ROOT = Path(__file__).parents[2]


@pytest.mark.runtime
def test_a_start_that_fails_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environ = {"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_PORT": str(port)}
        ended = subprocess.run(
            [sys.executable, "-m", "server", "serve"],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == f"127.0.0.1:{port} is taken; stop what listens there or set YUE2_PORT.\n"
    assert ended.stdout == ""


WISHES = {"YUE2_RESIDENCY": "stage", "YUE2_DATA_DIR": "state", "YUE2_FLOW_STATE": "FP32"}


def test_the_settings_tell_of_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"YUE2_MODEL": "yue2", "YUE2_VAE": "/vae", "YUE2_DEVICE": "cuda:1", "YUE2_PRECISION": "fp16"}
    told = weights_of(load(environ | WISHES))
    digests = tmp_path / "state" / "digests.json"
    assert told == Yue2Options(tmp_path / "yue2", Path("/vae"), digests, "cuda:1", "fp16", "stage", "fp32")
    assert weights_of(load({})) is None
    assert opened(load({})).default_id == "sketch"


def test_the_settings_tell_of_what_speaks_and_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"YUE2_WHISPER": "whisper", "YUE2_SOUND_THREADS": "3", "YUE2_DEVICE": "cuda:1"}
    told = sound_of(load(environ | {"YUE2_DATA_DIR": "state"}))
    assert told == SoundOptions(tmp_path / "whisper", tmp_path / "state" / "voices", "cuda:1", 3)
    assert told.worker_threads == 3
    assert sound_of(load({})).worker_threads >= 1


def test_a_folder_without_a_model_of_whisper_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=str(tmp_path)):
        opened(load({"YUE2_WHISPER": str(tmp_path)}))


@pytest.mark.parametrize(
    "error",
    [
        CheckpointError("The folder is empty; fetch it again."),
        DeviceError("There is no card."),
        MissingExtra("torch"),
    ],
)
def test_weights_that_cannot_be_used_stop_the_start_like_a_wrong_setting(
    error: EngineError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(weights: Yue2Options) -> None:
        raise error

    monkeypatch.setattr(catalogue, "_open_yue2", broken)
    with pytest.raises(SettingsError) as caught:
        opened(load({"YUE2_MODEL": "/m", "YUE2_VAE": "/v"}))
    assert str(caught.value) == str(error)
