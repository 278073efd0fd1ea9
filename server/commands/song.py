"""What `yue2-studio sing` was asked for, and the files it goes to."""

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pydantic import JsonValue

from engine.errors import InvalidRequest
from server.commands.bar import Bar
from server.commands.replacing import replacing

FORMATS = {".mp3": "mp3", ".opus": "opus", ".ogg": "opus", ".flac": "flac", ".wav": "wav16"}


@dataclass(frozen=True, slots=True)
class Wish:
    """One song to make: the request and the files it goes to."""

    payload: dict[str, JsonValue]
    output: Path
    score_output: Path | None
    mark: str  # tells this run's unfinished files from another's


@dataclass(frozen=True, slots=True)
class Sung:
    """What came of it; `replay` is the request that makes the track again."""

    seconds: float | None
    replay: JsonValue

    @property
    def abc(self) -> str:
        """The score that was sung; empty where there was none."""
        match self.replay:
            case {"abc": str() as abc}:
                return abc
        return ""


class Singer(Protocol):
    """Makes one song."""

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        """Write the audio to the sink; raises the project's errors."""


def format_of(output: Path) -> str:
    """The output format that a file name asks for; InvalidRequest where it asks for none."""
    found = FORMATS.get(output.suffix.lower())
    if found is None:
        raise InvalidRequest(
            "output",
            f"Cannot tell the format from {output.name!r}; end the name in one of {', '.join(FORMATS)}.",
        )
    return found


def sing(wish: Wish, singer: Singer, bar: Bar) -> Sung:
    """Have the song made and put in its files; none appears unless all could be written."""
    with ExitStack() as files:
        audio_file = files.enter_context(replacing(wish.output, wish.mark))
        score_file = files.enter_context(_score_file(wish))
        sung = singer(wish.payload, audio_file, bar)
        if score_file is not None:
            score_file.write(sung.abc.encode())
        return sung


def _score_file(wish: Wish) -> AbstractContextManager[BinaryIO | None]:
    return nullcontext() if wish.score_output is None else replacing(wish.score_output, wish.mark)
