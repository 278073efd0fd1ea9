"""Which notes of a score are sung, and which are left to an instrument."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from engine.score.lyrics import HOLD
from engine.score.model import TimedNote, Timeline

BREATH_SECONDS: Final = 0.25  # a rest of so much parts two lines
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Singable:
    """The notes to be sung, in order, and the words that an instrument has to play."""

    notes: tuple[TimedNote, ...]
    unsung: tuple[str, ...] = ()
    lines_played: int = 0  # lines of words that nobody sings


def singable(timeline: Timeline, can_sing: Callable[[str], bool]) -> Singable:
    """What of a score is for the singer: the lines with words of its first voice that has any.

    A line with a word that nobody can sing is played as a whole; signs without a letter or digit are no words.
    """
    notes: list[TimedNote] = []
    unsung: dict[str, None] = {}
    lines_played = 0
    for line in _lines(_melody(timeline)):
        words = [word for word in _words(line) if any(map(str.isalnum, word))]
        strange = [word for word in words if not can_sing(word)]
        unsung |= dict.fromkeys(strange)
        lines_played += bool(strange)
        notes += line if words and not strange else []
    return Singable(tuple(notes), tuple(unsung), lines_played)


def remark(unsung: Sequence[str], scripts: Sequence[str], lines_played: int) -> str:
    """A sentence that says which words are played, by the names of their scripts; empty where all are sung."""
    if not unsung:
        return ""
    unread = " or ".join(filter(None, [", ".join(scripts[:-1]), *scripts[-1:]])) or "all of the words"
    named = ", ".join(f"“{word}”" for word in unsung[:_MOST_NAMED])
    rest = f" and {len(unsung) - _MOST_NAMED} more" if len(unsung) > _MOST_NAMED else ""
    played = f"line with {named}{rest} is" if lines_played == 1 else f"lines with {named}{rest} are"
    return f"The voice sings English and does not read {unread}: the whole {played} played on an instrument."


def _melody(timeline: Timeline) -> list[TimedNote]:
    """Notes with words of one voice, the highest of each chord."""
    worded = [note for note in timeline.notes if note.lyric]
    singer = min((note.voice for note in worded), key=lambda name: (name != "Vocal", name), default="")
    mine = sorted((note for note in worded if note.voice == singer), key=lambda note: (note.start, note.midi))
    return [list(chord)[-1] for _, chord in groupby(mine, key=lambda note: note.start)]


def _lines(notes: Sequence[TimedNote]) -> Iterator[list[TimedNote]]:
    line: list[TimedNote] = []
    for note in notes:
        if line and note.start - line[-1].end > BREATH_SECONDS and not line[-1].lyric.endswith("-"):
            yield line
            line = []
        line.append(note)
    if line:
        yield line


def _words(line: Sequence[TimedNote]) -> Iterator[str]:
    word = ""
    for note in line:
        if note.lyric == HOLD:
            continue
        word += note.lyric.removesuffix("-")
        if not note.lyric.endswith("-"):
            yield word
            word = ""
    if word:
        yield word
