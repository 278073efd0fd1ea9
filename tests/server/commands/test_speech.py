"""A text said into its files."""

import io
from pathlib import Path
from typing import BinaryIO

import pytest
from pydantic import JsonValue
from rich.console import Console

from engine.words import Word
from server.commands.bar import Bar
from server.commands.speech import Errand, Said, say_into

PAYLOAD: dict[str, JsonValue] = {"text": "Come home."}


def speaker(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Said:
    """Say at once."""
    sink.write(str(payload["text"]).encode())
    return Said(1.0, (Word("Come", 0.0, 0.5), Word("home", 0.5, 1.0)))


def broken_speaker(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Said:
    """Break off in the middle."""
    sink.write(b"half")
    raise KeyboardInterrupt


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def test_sound_and_words_get_their_files(bar: Bar, tmp_path: Path) -> None:
    errand = Errand(PAYLOAD, tmp_path / "a.mp3", tmp_path / "a.srt", "srt", "x1")
    assert say_into(errand, speaker, bar).seconds == 1.0
    assert (tmp_path / "a.mp3").read_bytes() == b"Come home."
    assert (tmp_path / "a.srt").read_text().endswith("Come home.\n\n")
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_broken_off_leaves_nothing(bar: Bar, tmp_path: Path) -> None:
    errand = Errand(PAYLOAD, tmp_path / "a.mp3", tmp_path / "a.json", "json", "x1")
    with pytest.raises(KeyboardInterrupt):
        say_into(errand, broken_speaker, bar)
    assert list(tmp_path.iterdir()) == []


def test_words_that_cannot_be_kept_keep_the_sound_away(bar: Bar, tmp_path: Path) -> None:
    errand = Errand(PAYLOAD, tmp_path / "a.mp3", tmp_path / "none" / "a.srt", "srt", "x1")
    with pytest.raises(FileNotFoundError):
        say_into(errand, speaker, bar)
    assert list(tmp_path.iterdir()) == []
