"""Files of packages are used as they were when they were tried, or not at all."""

import hashlib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.pinned import PinnedFile

CONTENT = b"numbers that were tried"
PINNED = PinnedFile("hibari-tts", "0.2.1", "hibari/tried.bin", hashlib.sha256(CONTENT).hexdigest())
REMEDY = "pip install --force-reinstall --no-deps hibari-tts==0.2.1"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in a distribution that lies elsewhere."""

    class Distribution:
        def locate_file(self, path: str) -> Path:
            return tmp_path / path

    monkeypatch.setattr(metadata, "distribution", lambda name: Distribution())
    file = tmp_path / PINNED.path
    file.parent.mkdir()
    file.write_bytes(CONTENT)
    return file


WAYS = pytest.mark.parametrize("use", [PinnedFile.read, PinnedFile.verified])


def test_the_file_that_was_tried_is_read(installed: Path) -> None:
    assert PINNED.read() == CONTENT
    assert PINNED.verified() == installed


@WAYS
@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b".", b"M" + CONTENT[1:], b""])
def test_another_file_is_not(use: Callable[[PinnedFile], object], installed: Path, content: bytes) -> None:
    installed.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"is not the file of hibari-tts 0.2.1 .*{REMEDY}"):
        use(PINNED)


@WAYS
def test_a_missing_file_is_told(use: Callable[[PinnedFile], object], installed: Path) -> None:
    installed.unlink()
    with pytest.raises(CheckpointError, match=f"tried.bin is missing; .*{REMEDY}"):
        use(PINNED)


@WAYS
def test_a_missing_distribution_is_told(use: Callable[[PinnedFile], object]) -> None:
    absent = PinnedFile("no-such-voice", "1.0", "voice.bin", "")
    with pytest.raises(CheckpointError, match=r"no-such-voice is not installed; .*no-such-voice==1\.0"):
        use(absent)
