"""The voices of Kokoro, where they are from and what they need."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.speech import kokoro, kokoro_files
from server.commands.voice_files import REGISTRY, archive_file, has_voices, missing_model


def test_the_archive_lies_below_the_registry() -> None:
    file = archive_file()
    assert f"{REGISTRY}/{file.path}" == kokoro_files.URL
    assert (file.size_bytes, file.digest.hex) == (kokoro_files.ARCHIVE_BYTES, kokoro_files.SHA256)


def test_all_voices_must_be_there(tmp_path: Path) -> None:
    first, *others = kokoro_files.VOICES
    for name in others:
        (tmp_path / f"{name}.bin").touch()
    assert not has_voices(tmp_path)
    (tmp_path / f"{first}.bin").touch()
    assert has_voices(tmp_path)


def test_a_model_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro, "PARTS", (replace(kokoro.PARTS[0], distribution="pytest"),))
    assert missing_model() == ""
    monkeypatch.setattr(kokoro, "PARTS", (replace(kokoro.PARTS[0], distribution="no-such-distribution"),))
    assert "'.[kokoro]'" in missing_model()
