"""What the doctor says of speech and transcription."""

from pathlib import Path

import pytest

from engine.errors import CheckpointError
from server.commands import sound_checkup
from server.commands.sound_checkup import check_sound
from server.settings import load


@pytest.fixture(autouse=True)
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are right without being read."""
    monkeypatch.setattr(sound_checkup, "_read_voice", lambda: None)
    monkeypatch.setattr("engine.pinned.PinnedFile.verified", lambda file: Path(file.path))


def test_what_is_built_in_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_checkup, "find_spec", lambda name: None)
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path)}))
    rows = dict(found.rows())
    assert found.problems == ()
    assert rows["Speech"].startswith("the built-in voice")
    assert rows["Voices"] == "none but the built-in one; 'yue2-studio voices' fetches more"
    assert rows["Transcription"].startswith("Whisper tiny.en")
    assert rows["Recordings"].endswith("the extra containers reads M4A, WebM and video too")


def test_a_damaged_package_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> None:
        raise CheckpointError("hibari.onnx is not the file; install it again.")

    monkeypatch.setattr(sound_checkup, "_read_voice", damaged)
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path)}))
    assert found.speech == "cannot be used (see below)"
    assert found.problems == ("hibari.onnx is not the file; install it again.",)


def test_a_folder_that_is_no_whisper_is_a_problem(tmp_path: Path) -> None:
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path), "YUE2_WHISPER": str(tmp_path)}))
    assert found.transcription == "cannot be used (see below)"
    assert "it lacks model.bin" in found.problems[0]


@pytest.mark.parametrize(
    ("lack", "ending"), [("", "voices"), ("Install it.", "voices, but not usable: Install it.")]
)
def test_further_voices_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lack: str, ending: str
) -> None:
    (tmp_path / "voices").mkdir()
    for name in ("af_heart", "bm_george"):
        (tmp_path / "voices" / f"{name}.bin").touch()
    monkeypatch.setattr(sound_checkup, "missing_model", lambda: lack)
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path)}))
    assert found.voices == f"2 more in {tmp_path / ending}"


def test_more_recordings_are_read_with_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_checkup, "find_spec", lambda name: object())
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path)}))
    assert "also M4A, WebM and video" in found.recordings
