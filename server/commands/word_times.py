"""When words are heard, as files: JSON, SubRip (.srt) and WebVTT (.vtt); and as answers of a server tell it."""

import json
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, JsonValue, ValidationError

from engine.subtitles import Line, as_srt, as_vtt
from engine.words import Word, words_as_json


class TimedWord(BaseModel):
    """A word as answers tell it."""

    word: str
    start: float
    end: float

    @property
    def read(self) -> Word:
        """The word."""
        return Word(self.word, self.start, self.end)


class _Wordy(BaseModel):
    """The part of a replay that tells words."""

    words: tuple[TimedWord, ...] = ()


def words_in(replay: JsonValue) -> tuple[Word, ...]:
    """The words that a replay tells; none where it tells of none, or not as this version does."""
    try:
        found = _Wordy.model_validate(replay)
    except ValidationError:
        return ()
    return tuple(one.read for one in found.words)


def written_words(words: Sequence[Word], text: str, kind: str) -> str:
    """The content of a file of word times in one of the formats; subtitles have the marks and lines of the text."""
    if kind == "json":
        return json.dumps(words_as_json(words), ensure_ascii=False, indent=1) + "\n"
    lines = [Line(" ".join(word.text for word in line), tuple(line)) for line in _lines(words, text)]
    return as_srt(lines) if kind == "srt" else as_vtt(lines)


def _lines(words: Sequence[Word], text: str) -> Iterator[list[Word]]:
    """The words of each line of the text, with the marks that stand around them there.

    A word that is not found there in its turn goes with those before it.
    """
    position, line = 0, 0
    gathered: list[Word] = []
    for word in words:
        found = text.find(word.text, position)
        written = word.text
        if found >= 0:
            start, end = _run(text, found, found + len(word.text), position)
            written, position = text[start:end], end
            if (now := text.count("\n", 0, found)) != line and gathered:
                yield gathered
                gathered = []
            line = now
        gathered.append(Word(written, word.start, word.end))
    if gathered:
        yield gathered


def _run(text: str, start: int, end: int, least: int) -> tuple[int, int]:
    """The stretch without spaces around a part of the text that begins no earlier than `least`."""
    while start > least and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end
