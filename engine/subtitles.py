"""What is said as subtitles: SubRip (.srt) and WebVTT (w3.org/TR/webvtt1).

A cue is at most two lines of 42 columns and 7 seconds, and ends where a sentence does or the speaker pauses. What is
longer without a space is cut; a text without word times is shown as if all of it were said at one pace.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from engine.words import Word

SRT_TYPE: Final = "application/x-subrip"
VTT_TYPE: Final = "text/vtt; charset=utf-8"
LINE_COLUMNS: Final = 42
CUE_SECONDS: Final = 7.0
PAUSE_SECONDS: Final = 0.8
SHORTEST_SECONDS: Final = 0.1
_SENTENCE_COLUMNS: Final = 16  # a sentence shorter than this shares its cue with the next
_ENDS: Final = (".", "?", "!", "…", "。", "？", "！")
_CLOSING: Final = "\"')]»”’」』）"


class Timed(Protocol):
    """What is said in one go, such as a segment of a transcript; seconds from the start of the audio."""

    @property
    def start(self) -> float:
        """When it begins."""

    @property
    def end(self) -> float:
        """When it ends."""

    @property
    def text(self) -> str:
        """What is said, with its marks."""

    @property
    def words(self) -> Sequence[Word]:
        """Its words in order; none where nobody knows when they are heard."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, and when its words, of which there is one or more, are heard."""

    text: str
    words: tuple[Word, ...]

    @property
    def start(self) -> float:
        """When its first word begins."""
        return self.words[0].start

    @property
    def end(self) -> float:
        """When its last word ends."""
        return self.words[-1].end


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at once; seconds from the start of the audio."""

    start: float
    end: float
    text: str


def as_srt(said: Iterable[Timed]) -> str:
    """As SubRip."""
    return "".join(
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{cue.text.replace('-->', '->')}\n\n"
        for number, cue in enumerate(cues(said), start=1)
    )


def as_vtt(said: Iterable[Timed]) -> str:
    """As WebVTT."""
    return "WEBVTT\n\n" + "".join(
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_escaped(cue.text)}\n\n" for cue in cues(said)
    )


def cues(said: Iterable[Timed]) -> list[Cue]:
    """The cues, in order and without overlap."""
    drafts = [cue for one in said for cue in _cues_of(one)]
    nexts = [*(cue.start for cue in drafts[1:]), float("inf")][: len(drafts)]
    return [
        Cue(cue.start, min(_until(cue), max(following, cue.start)), cue.text)
        for cue, following in zip(drafts, nexts, strict=True)
    ]


def _until(cue: Cue) -> float:
    return min(max(cue.end, cue.start + SHORTEST_SECONDS), cue.start + CUE_SECONDS)


def _cues_of(said: Timed) -> Iterator[Cue]:
    group: list[Word] = []
    for word in _pieces(said):
        if group and _is_over(group, word):
            yield _cue(group)
            group = []
        group.append(word)
    if group:
        yield _cue(group)


def _pieces(said: Timed) -> Iterator[Word]:
    """The words, none of them wider than a line; a space at the beginning of one is a space before it."""
    words = _spaced(said)
    if not words:
        yield from _at_one_pace(Word(said.text, said.start, said.end), _letters(said.text))
    for word in words:
        yield from _at_one_pace(word, _narrow(word.text))


def _spaced(said: Timed) -> list[Word]:
    """The words with the spaces and marks that are theirs in the text, where all are found there in order."""
    words = [Word(word.text.strip(), word.start, word.end) for word in said.words if word.text.strip()]
    borders, position = [0], 0
    for number, word in enumerate(words):
        found = said.text.find(word.text, position)
        if found < 0:
            return [Word(f" {word.text}", word.start, word.end) for word in words]
        if number:
            borders.append(_border(said.text, position, found))
        position = found + len(word.text)
    ends = [*borders[1:], len(said.text)]
    return [
        Word(said.text[start:end], word.start, word.end)
        for word, start, end in zip(words, borders, ends, strict=False)
    ]


def _border(text: str, start: int, end: int) -> int:
    """Where the next word begins: with the last space between two, after all marks where there is none."""
    return next((place for place in range(end - 1, start - 1, -1) if text[place].isspace()), end)


def _letters(text: str) -> list[str]:
    """A text as words with the space before each; a script without spaces as letters, with the marks after each."""
    parts: list[str] = []
    for word in text.split():
        parts.append(" " if parts else "")
        for letter in word:
            is_wide = columns(letter) > 1
            is_mark = unicodedata.category(letter).startswith(("P", "M"))
            if parts[-1].strip() and not is_mark and (is_wide or columns(parts[-1][-1]) > 1):
                parts.append("")
            parts[-1] += letter
    return [piece for part in parts for piece in _narrow(part)]


def _narrow(text: str) -> list[str]:
    """The text in parts that fit into a line, cut at spaces where it has them."""
    parts, line = [], " " if text[:1].isspace() else ""
    for number, word in enumerate(text.split()):
        room = f"{line} {word}" if number else line + word
        if columns(room.strip()) <= LINE_COLUMNS:
            line = room
            continue
        if line.strip():
            parts.append(line)
            line = " "
        for letter in word:
            if columns(line.strip() + letter) > LINE_COLUMNS:
                parts.append(line)
                line = ""
            line += letter
    return [*parts, line] if line.strip() else parts


def _at_one_pace(whole: Word, parts: Sequence[str]) -> Iterator[Word]:
    """The parts of a word or text, said one after another."""
    total, before = columns("".join(parts)), 0
    pace = (whole.end - whole.start) / max(total, 1)
    for part in parts:
        after = before + columns(part)
        yield Word(
            part, whole.start + pace * before, whole.start + pace * after if after < total else whole.end
        )
        before = after


def _is_over(group: Sequence[Word], word: Word) -> bool:
    """Whether the cue of this group ends before the word."""
    text = _joined(group)
    is_sentence = text.rstrip(_CLOSING).endswith(_ENDS) and columns(text) >= _SENTENCE_COLUMNS
    return (
        is_sentence
        or word.start - group[-1].end > PAUSE_SECONDS
        or word.end - group[0].start > CUE_SECONDS
        or _lines([*group, word]) is None
    )


def _cue(group: Sequence[Word]) -> Cue:
    return Cue(group[0].start, group[-1].end, _lines(group) or "")


def _joined(words: Sequence[Word]) -> str:
    return "".join(word.text for word in words).strip()


def _lines(words: Sequence[Word]) -> str | None:
    """One line, or two of about the same length, broken at a space if that can be; None where they do not fit."""
    whole = _joined(words)
    if columns(whole) <= LINE_COLUMNS:
        return whole
    breaks = []
    for place in range(1, len(words)):
        first, second = _joined(words[:place]), _joined(words[place:])
        wide = max(columns(first), columns(second))
        if wide <= LINE_COLUMNS:
            breaks.append((not words[place].text.startswith(" "), wide, f"{first}\n{second}"))
    return min(breaks)[-1] if breaks else None


def columns(text: str) -> int:
    """How wide the text is where an ideograph is two columns wide (unicode.org/reports/tr11)."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
