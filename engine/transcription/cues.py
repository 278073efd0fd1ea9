"""Words gathered into cues that can be read while they are heard.

The measures are those of Netflix's Timed Text Style Guide: two lines of 42 characters, 7 s at most, 5/6 s at least.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import east_asian_width

from engine.transcription.languages import UNSPACED
from engine.transcription_model import Segment, Transcript
from engine.words import Word

LINE_COLUMNS: Final = 42
LINES: Final = 2
LONGEST_SECONDS: Final = 7.0
SHORTEST_SECONDS: Final = 5 / 6
PAUSE_SECONDS: Final = 1.0  # so long a pause ends a cue
_SENTENCE_ENDS: Final = tuple(".!?。！？…")
_FULL_ENOUGH: Final = LINE_COLUMNS // 2  # a cue so long ends with its sentence


@dataclass(frozen=True, slots=True)
class Cue:
    """Seconds from the start of the audio, and lines of text."""

    start: float
    end: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A word, and whether a blank stands before it."""

    word: Word
    blank: bool


def cues(transcript: Transcript) -> list[Cue]:
    """Cues in order, none reaching into the next."""
    blank = transcript.language not in UNSPACED
    groups = list(_groups([word for segment in transcript.segments for word in _placed(segment, blank)]))
    starts = [group[0].word.start for group in groups]
    made = []
    for group, following in zip(groups, [*starts[1:], float("inf")], strict=True):
        start, end = group[0].word.start, group[-1].word.end
        made.append(Cue(start, max(end, min(start + SHORTEST_SECONDS, following)), _lines(group)))
    return made


def _placed(segment: Segment, blank: bool) -> list[_Placed]:
    """The segment's words, with the blanks that its text has between them, and with one before it or none."""
    words = segment.words or (Word(segment.text, segment.start, segment.end),)
    placed = []
    place = 0
    for number, word in enumerate(words):
        found = segment.text.find(word.text, place)
        placed.append(_Placed(word, found != place if number else blank))
        place = max(place, found + len(word.text))
    return placed


def _groups(words: Sequence[_Placed]) -> Iterator[list[_Placed]]:
    group: list[_Placed] = []
    for word in words:
        if group and not _goes_with(group, word):
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def _goes_with(group: list[_Placed], following: _Placed) -> bool:
    last = group[-1].word
    ended = last.text.endswith(_SENTENCE_ENDS) and _columns(_text(group)) >= _FULL_ENOUGH
    return (
        not ended
        and following.word.start - last.end < PAUSE_SECONDS
        and following.word.end - group[0].word.start <= LONGEST_SECONDS
        and len(_wrapped([*group, following], LINE_COLUMNS)) <= LINES
    )


def _lines(group: Sequence[_Placed]) -> tuple[str, ...]:
    """In lines as even as can be."""
    columns = _columns(_text(group))
    if columns <= LINE_COLUMNS:
        return (_text(group),)
    width = columns // LINES
    while len(lines := _wrapped(group, width)) > LINES and width < LINE_COLUMNS:
        width += 1
    return tuple(lines)


def _wrapped(group: Sequence[_Placed], width: int) -> list[str]:
    """Lines of at most so many columns, but for a word that is wider."""
    lines: list[list[_Placed]] = []
    for word in group:
        if lines and _columns(_text([*lines[-1], word])) <= width:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_text(line) for line in lines]


def _text(words: Sequence[_Placed]) -> str:
    return "".join((" " if each.blank else "") + each.word.text for each in words).strip()


def _columns(text: str) -> int:
    """Width of the text; characters of East Asian scripts are two columns wide (UAX 11)."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
