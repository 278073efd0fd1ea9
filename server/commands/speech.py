"""What `yue2-studio say` was asked for, and the files it goes to."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pydantic import JsonValue

from engine.words import Word
from server.commands.bar import Bar
from server.commands.replacing import replacing
from server.commands.word_times import written_words


@dataclass(frozen=True, slots=True)
class Errand:
    """One text to say: the request and the files it goes to."""

    payload: dict[str, JsonValue]
    output: Path
    words_output: Path | None
    words_format: str
    mark: str  # tells this run's unfinished files from another's


@dataclass(frozen=True, slots=True)
class Said:
    """What came of it; `words` are timed from the start of the audio."""

    seconds: float | None
    words: tuple[Word, ...]
    notes: tuple[str, ...] = ()  # sentences for the user


class Speaker(Protocol):
    """Says one text."""

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Said:
        """Write the audio to the sink; raises the project's errors."""


def say_into(errand: Errand, speaker: Speaker, bar: Bar) -> Said:
    """Have the text said and put in its files; none appears unless all could be written."""
    with replacing(errand.output, errand.mark) as sink:
        said = speaker(errand.payload, sink, bar)
        if errand.words_output is not None:
            with replacing(errand.words_output, errand.mark) as file:
                text = str(errand.payload.get("text", ""))
                file.write(written_words(said.words, text, errand.words_format).encode())
        return said
