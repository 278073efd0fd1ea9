"""What was asked for, and the files it goes to."""

import io
import json
from pathlib import Path
from typing import BinaryIO

import pytest
from pydantic import JsonValue
from rich.console import Console

from engine.words import Word
from server.commands.bar import Bar
from server.commands.song import Sung, Wish, sing

PAYLOAD: dict[str, JsonValue] = {"style": "folk"}


def quiet_bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def singer(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
    """Sing at once."""
    sink.write(b"audio of " + str(payload["style"]).encode())
    return Sung(1.5, {"abc": "X:1\n"})


def broken_singer(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
    """Break off in the middle."""
    sink.write(b"half")
    raise KeyboardInterrupt


def test_song_score_and_replay_are_written(tmp_path: Path) -> None:
    wish = Wish(PAYLOAD, tmp_path / "song.mp3", tmp_path / "song.abc", tmp_path / "song.json", None, "1")
    assert sing(wish, singer, quiet_bar()).seconds == 1.5
    assert (tmp_path / "song.mp3").read_bytes() == b"audio of folk"
    assert (tmp_path / "song.abc").read_text() == "X:1\n"
    assert json.loads((tmp_path / "song.json").read_text()) == {"abc": "X:1\n"}
    assert len(list(tmp_path.iterdir())) == 3


def test_the_words_are_written_as_subtitles(tmp_path: Path) -> None:
    def singer_of_words(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        return Sung(1.5, {"words": [{"word": "rain", "start": 0.5, "end": 1.0}]})

    wish = Wish(PAYLOAD, tmp_path / "song.mp3", None, None, tmp_path / "song.srt", "1")
    assert sing(wish, singer_of_words, quiet_bar()).words == (Word("rain", 0.5, 1.0),)
    assert (tmp_path / "song.srt").read_text() == "1\n00:00:00,500 --> 00:00:01,000\nrain\n\n"


def test_without_further_files_only_the_song_is_written(tmp_path: Path) -> None:
    sing(Wish(PAYLOAD, tmp_path / "song.mp3", None, None, None, "1"), singer, quiet_bar())
    assert [path.name for path in tmp_path.iterdir()] == ["song.mp3"]


def test_an_interrupted_song_leaves_no_file(tmp_path: Path) -> None:
    wish = Wish(PAYLOAD, tmp_path / "song.mp3", tmp_path / "song.abc", tmp_path / "song.json", None, "1")
    with pytest.raises(KeyboardInterrupt):
        sing(wish, broken_singer, quiet_bar())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("replay", [{}, {"abc": 7}, None, []])
def test_a_replay_without_a_score_has_an_empty_one(replay: JsonValue) -> None:
    assert Sung(1.0, replay).abc == ""


@pytest.mark.parametrize(("replay", "seed"), [({"seed": 7}, 7), ({}, None), (None, None)])
def test_a_replay_tells_its_seed(replay: JsonValue, seed: int | None) -> None:
    assert Sung(1.0, replay).seed == seed
