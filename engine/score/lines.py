"""The lines of the first tune of an ABC text, sorted into fields, music and comments.

A blank line ends a tune (ABC standard 2.1, section 2.2) unless a field of a tune body or a line with bar lines follows it,
since pasted scores often have blank lines between their groups.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.score.place import MAX_TEXT, Place

_FIELD = re.compile(r"[ \t]*([A-Za-z+]):")
_NEW_TUNE = re.compile(r"X:[ \t]*(?:[0-9]|$)")
_COMMENT = re.compile(r"(?<!\\)%")
_GOES_ON = re.compile(r"[ \t]*(?:[VwWKPMLQ]:|\[[VKPMLQ]:|%)")
_FILE_FIELDS = frozenset("MLQ")


class LineKind(StrEnum):
    """What a line is."""

    FIELD = "field"
    MUSIC = "music"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its comment; `text` is the value of a field. `column` is where the text starts."""

    kind: LineKind
    text: str
    number: int
    column: int
    name: str = ""  # the letter of a field

    @property
    def place(self) -> Place:
        """The start of the text."""
        return Place(self.number, self.column)


def tune_lines(text: str) -> list[Line]:
    """The lines of the first tune; raises ScoreError where the text is too long."""
    if len(text) > MAX_TEXT:
        raise Place(1, 1).fault(f"Shorten the score to {MAX_TEXT} characters.")
    raw = re.split("\r\n|\n|\r", text.removeprefix("\ufeff"))
    start = next((index for index, line in enumerate(raw) if _NEW_TUNE.match(line)), 0)
    lines = _file_header(raw[:start])
    in_body = gap = False
    for index in range(start, len(raw)):
        if not raw[index].strip():
            gap = in_body
            continue
        if (index > start and _NEW_TUNE.match(raw[index])) or (gap and not _goes_on(raw[index])):
            break
        line = _line(raw[index], index + 1, in_body)
        in_body, gap = in_body or line.name == "K", False
        lines.append(line)
    return _joined(lines)


def _goes_on(raw: str) -> bool:
    return "|" in raw or _GOES_ON.match(raw) is not None


def _joined(lines: list[Line]) -> list[Line]:
    """The lines with each `+:` field added to the field it continues."""
    joined: list[Line] = []
    pieces: list[str] = []
    for line in [*lines, Line(LineKind.COMMENT, "", 0, 0)]:
        if line.name == "+" and joined and joined[-1].kind is LineKind.FIELD:
            pieces.append(line.text)
            continue
        if len(pieces) > 1:
            joined[-1] = replace(joined[-1], text=" ".join(pieces))
        joined.append(line)
        pieces = [line.text]
    return joined[:-1]


def _uncommented(text: str) -> str:
    match = _COMMENT.search(text)
    return text[: match.start()] if match else text


def _file_header(raw: list[str]) -> list[Line]:
    lines = (_line(text, index + 1, False) for index, text in enumerate(raw) if text.strip())
    return [line for line in lines if line.name in _FILE_FIELDS]


def _line(raw: str, number: int, in_body: bool) -> Line:
    bare = raw.lstrip(" \t")
    indent = len(raw) - len(bare)
    if bare.startswith("%"):
        return Line(LineKind.COMMENT, bare[1:], number, indent + 1)
    text = _uncommented(raw)
    match = _FIELD.match(text)
    if match is None or (in_body and _is_note_before_bar(match[1], text[match.end() :])):
        return Line(LineKind.MUSIC, text, number, 1)
    return Line(LineKind.FIELD, text[match.end() :].replace(r"\%", "%"), number, match.end() + 1, match[1])


def _is_note_before_bar(letter: str, rest: str) -> bool:
    """Whether `A:|` and the like open a line of music: a note and a repeat sign, no field."""
    return letter in "ABCDEFGabcdefgxzXZ" and rest[:1] in ("|", ":", "]") and rest != ""
