"""What `yue2-studio sing` was asked for, and the files it goes to."""

import json
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pydantic import JsonValue

from engine.words import Word
from server.commands.bar import Bar
from server.commands.file_formats import WORDS, format_of
from server.commands.replacing import replacing
from server.commands.word_times import words_in, written_words


@dataclass(frozen=True, slots=True)
class Wish:
    """One song to make: the request and the files it goes to."""

    payload: dict[str, JsonValue]
    output: Path
    score_output: Path | None
    replay_output: Path | None
    words_output: Path | None
    mark: str  # tells this run's unfinished files from another's


@dataclass(frozen=True, slots=True)
class Sung:
    """What came of it; `replay` is the request that makes the track again."""

    seconds: float | None
    replay: JsonValue
    notes: tuple[str, ...] = ()  # sentences for the user

    @property
    def abc(self) -> str:
        """The score that was sung; empty where there was none."""
        match self.replay:
            case {"abc": str() as abc}:
                return abc
        return ""

    @property
    def lyrics(self) -> str:
        """The words as they were asked for."""
        match self.replay:
            case {"lyrics": str() as lyrics}:
                return lyrics
        return ""

    @property
    def words(self) -> tuple[Word, ...]:
        """When each word is sung, where the singer knows."""
        return words_in(self.replay)

    @property
    def seed(self) -> int | None:
        """The seed of the sound, where it is known."""
        match self.replay:
            case {"seed": int() as seed}:
                return seed
        return None


class Singer(Protocol):
    """Makes one song."""

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        """Write the audio to the sink; raises the project's errors."""


def sing(wish: Wish, singer: Singer, bar: Bar) -> Sung:
    """Have the song made and put in its files; none appears unless all could be written."""
    with ExitStack() as files:
        audio_file = files.enter_context(replacing(wish.output, wish.mark))
        score_file = files.enter_context(_file(wish.score_output, wish.mark))
        replay_file = files.enter_context(_file(wish.replay_output, wish.mark))
        words_file = files.enter_context(_file(wish.words_output, wish.mark))
        sung = singer(wish.payload, audio_file, bar)
        if score_file is not None:
            score_file.write(sung.abc.encode())
        if replay_file is not None:
            replay_file.write(json.dumps(sung.replay, ensure_ascii=False, indent=2).encode() + b"\n")
        if words_file is not None and wish.words_output is not None:
            kind = format_of(wish.words_output, WORDS, "words")
            words_file.write(written_words(sung.words, sung.lyrics, kind).encode())
        return sung


def _file(path: Path | None, mark: str) -> AbstractContextManager[BinaryIO | None]:
    return nullcontext() if path is None else replacing(path, mark)
