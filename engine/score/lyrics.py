"""Words under notes: the `w:` field (ABC standard 2.1, section 5).

A syllable that a hyphen follows keeps it (`hel-`, then `lo`); `_` stands under a note that holds the syllable before it;
a note without words has the empty string.
"""

import re
from collections.abc import Iterable

from engine.score.draft import DraftVoice
from engine.score.place import MAX_VERSES, Place

HOLD = "_"
_PIECE = re.compile(r"(?:\\.|[^\s\-_*|\\]|\\)+|[-_*|]|\s+")
_UNWRITABLE = re.compile(r"[*_|\\%\x00-\x1f\x7f]")


def split_words(text: str) -> list[str]:
    """The items of a `w:` field: syllables, `_`, `*` for a skipped note and `|` for the next bar."""
    items: list[str] = []
    touching = False  # whether the item before is a syllable without a space after it
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece.isspace():
            touching = False
        elif piece == "-":
            if touching and items and items[-1] != HOLD:
                items[-1] += "-"
            else:
                items.append(HOLD)
            touching = False
        elif piece in ("_", "*", "|"):
            items.append(piece)
            touching = False
        else:
            items.append(piece.replace(r"\-", "-").replace("~", " "))
            touching = True
    return items


def align(voice: DraftVoice, text: str, place: Place) -> str:
    """Put the words of a `w:` field under the notes of the voice's last line of music, as its next verse.

    Gives a sentence where these are more or fewer than the notes, else nothing.
    """
    if voice.verse >= MAX_VERSES:
        raise place.fault(f"Write at most {MAX_VERSES} verses under a line.")
    slots = iter(voice.line)
    verse = voice.verse
    voice.verse += 1
    items = split_words(text)
    surplus = ""
    for item in items:
        if item == "|":
            next((slot for slot in slots if slot is None), None)
            continue
        note = next((slot for slot in slots if slot is not None and slot.pitches), None)
        if note is None:
            surplus = "" if item in ("*", HOLD) else item
            if surplus:
                break
            continue
        note.syllables.extend([""] * (verse - len(note.syllables)))
        note.syllables.append("" if item == "*" else item)
    for slot in voice.line:
        if slot is not None and slot.pitches:
            slot.syllables.extend([""] * (verse + 1 - len(slot.syllables)))
    bare = sum(1 for slot in slots if slot is not None and slot.pitches)
    return _miscount(sum(item != "|" for item in items), bare, surplus)


def _miscount(syllables: int, bare: int, surplus: str) -> str:
    """What is wrong with so many syllables, where `bare` notes are left at the end, or `surplus` has none any more."""
    if surplus:
        return f"There are more syllables than notes in this line: none is left for “{surplus.removesuffix('-')}”."
    if bare and syllables:
        left = "1 note is" if bare == 1 else f"{bare} notes are"
        return (
            f"There are fewer syllables than notes in this line: {left} left at its end, so words may stand under "
            f"wrong notes. Write _ where a syllable is held, * where a note has none."
        )
    return ""


def verse_of(lyric: str, verse: int) -> str:
    """The syllable of one verse (from 0); where only one verse is written, it is sung each time."""
    lines = lyric.split("\n")
    if len(lines) == 1:
        return lyric
    return lines[verse] if verse < len(lines) else lines[-1]


def join_words(syllables: Iterable[str], trimmed: bool = True) -> str:
    """The `w:` text of one verse, with `*` for each note without words; `trimmed` leaves those at the end out."""
    pieces, joined = [""], False
    for syllable in syllables:
        word = HOLD if syllable == HOLD else written_syllable(syllable)
        pieces += [word] if joined and word not in ("*", HOLD) else [" ", word]
        joined = word.endswith("-") and not word.endswith(r"\-")
    while trimmed and pieces[-1] == "*":
        del pieces[-2:]
    return "".join(pieces).strip()


def written_syllable(syllable: str) -> str:
    """One syllable as `w:` text, `*` for none; characters that mean something else there are left out."""
    clean = re.sub(r"\s", "~", _UNWRITABLE.sub("", syllable))
    joined = clean.endswith("-") and len(clean) > 1
    body = (clean[:-1] if joined else clean).replace("-", r"\-")
    return body + ("-" if joined else "") if body else "*"
