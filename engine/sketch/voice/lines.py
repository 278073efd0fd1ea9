"""The notes of a melody as lines of words: what is sung in one breath, word by word and syllable by syllable."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.score.lyrics import HOLD
from engine.score.model import TimedNote
from engine.sketch.voice.script import singable

BREATH_SECONDS = 0.22  # a rest of this length ends a line, though not within a word
SHORTEST_NOTE_SECONDS = 0.03  # of two notes that begin together, or nearly, one is sung
_MOST_NOTES, _MOST_LETTERS, _LONGEST_SECONDS = 40, 180, 20.0  # of a line, where words allow
_LONGEST_WORD = 48


@dataclass(slots=True)
class SungWord:
    """A word, and for each of its syllables the notes it is sung to; owned by `sung_lines` while it is read."""

    text: str
    syllables: list[list[TimedNote]] = field(default_factory=list)

    @property
    def start(self) -> float:
        """Seconds at which its first note begins."""
        return self.syllables[0][0].start

    @property
    def end(self) -> float:
        """Seconds at which its last note ends."""
        return self.syllables[-1][-1].end


Line = tuple[SungWord, ...]


def sung_lines(notes: Iterable[TimedNote]) -> tuple[Line, ...]:
    """The lines of one voice's notes, in order of time.

    A hyphen at a syllable's end carries its word on, `_` holds the syllable before it; notes without words, and lines
    in a script that the singer cannot read, are left out. Of notes that sound together the highest is sung.
    """
    lines: list[list[SungWord]] = []
    for word in _words(_one_at_a_time(notes)):
        if lines and _goes_on(lines[-1], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    return tuple(tuple(line) for line in lines if singable(" ".join(word.text for word in line)))


def _one_at_a_time(notes: Iterable[TimedNote]) -> list[TimedNote]:
    """Notes in order, without those that begin where another one has just begun."""
    kept: list[TimedNote] = []
    for note in sorted(notes, key=lambda note: (note.start, -note.midi)):
        if note.end - note.start < 1e-3:
            continue
        if not kept or note.start - kept[-1].start >= SHORTEST_NOTE_SECONDS:
            kept.append(note)
    return kept


def _words(notes: Sequence[TimedNote]) -> list[SungWord]:
    words: list[SungWord] = []
    goes_on = held = False
    for note in notes:
        syllable = note.lyric.strip()
        if syllable == HOLD:
            if words and held:
                words[-1].syllables[-1].append(note)
            continue
        held = bool(syllable.strip("-"))
        if not held:
            goes_on = False
            continue
        joined = syllable.endswith("-") and len(syllable) > 1
        text = syllable[:-1] if joined else syllable
        if goes_on:
            words[-1].text = (words[-1].text + text)[:_LONGEST_WORD]
            words[-1].syllables.append([note])
        else:
            words.append(SungWord(text[:_LONGEST_WORD], [[note]]))
        goes_on = joined
    return words


def _goes_on(line: Sequence[SungWord], word: SungWord) -> bool:
    """True where a word is sung in the same breath."""
    notes = sum(len(syllable) for sung in line for syllable in sung.syllables)
    letters = sum(len(sung.text) for sung in line)
    return (
        word.start - line[-1].end < BREATH_SECONDS
        and word.end - line[0].start < _LONGEST_SECONDS
        and notes < _MOST_NOTES
        and letters < _MOST_LETTERS
        and singable(word.text) == singable(line[-1].text)
    )
