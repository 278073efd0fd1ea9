"""Text into sentences, and sentences into pieces that the network says at once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from engine.speech.phonemes import Phonemic

LONGEST_SENTENCE: Final = 300  # characters; what is longer is cut between words
# Characters of the first piece where there is a clause to cut at, so that it is soon heard.
SHORT_OPENING: Final = 90
LONG_OPENING: Final = 120  # and where there is none
LEAST_OPENING: Final = 12
_END: Final = re.compile(r"(?<![.!?…])(?P<mark>[.!?…]+)[\"”’'»)\]*_]*\s+(?=\S)")
_ABBREVIATED: Final = frozenset(
    re.findall(
        r"\S+",
        "mr mrs ms dr prof st mt ft gen gov sen rep capt lt col sgt cmdr rev hon pres supt cpl maj adm fr msgr messrs mme "
        "jan feb mar apr jun jul aug sep sept oct nov dec no nos vol fig figs ch pp p vs cf e.g i.e viz approx ca ed eds "
        "art sec eq ref op",
    )
)
_MAY_END: Final = frozenset(
    re.findall(
        r"\S+",
        "inc ltd co corp etc jr sr ave blvd rd a.m p.m u.s u.k u.s.a ph.d b.a m.a bros",
    )
)
_STARTERS: Final = frozenset(
    re.findall(
        r"\S+",
        "a after all although an and as at because before but by did do does for from he her here his how however i if in "
        "is it its many my no not now of on one or our perhaps she since so some that the their then there these they this "
        "those though to today tomorrow we what when where while who why with yes yet you your",
    )
)
_ITEM: Final = re.compile(r"\s*(?:[-*+•‣▪●○–—>#|]|\d{1,3}[.)]|[a-z][.)])\s")
_CLAUSE: Final = re.compile(r"(?:[,;:][\"”’')]*|\s[—–-])\s+|—")
_JOINT: Final = re.compile(
    r"\s(?=(?:and|but|or|nor|so|that|which|who|when|where|while|because|if|as|than|to|with|for|from|in|on|at|by)\s)"
)
_MARKS_OF_A_CLAUSE: Final = ",;:—…)"


class Ending(Enum):
    """What a sentence ends with, and so how long a pause is."""

    PART = "part"  # between words, since it was too long
    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of text without line breaks that is said in one go."""

    text: str
    ending: Ending


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, none blank and none longer than LONGEST_SENTENCE, where even words are cut.

    The first is short, where it can be cut at a clause or is very long, so that it is soon heard.
    """
    opening = True
    for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        found = [part for line in _lines(paragraph) for part in _ended(line)]
        for place, sentence in enumerate(found):
            ending = Ending.PARAGRAPH if place == len(found) - 1 else Ending.SENTENCE
            yield from _cut(sentence, ending, opening)
            opening = False


def _lines(paragraph: str) -> list[str]:
    """Lines that end for a reason; a line that was only full goes on in the next."""
    lines: list[str] = []
    for line in paragraph.splitlines():
        if lines and _goes_on(lines[-1], line):
            lines[-1] = f"{lines[-1]} {line.strip()}"
        elif line.strip():
            lines.append(line.strip())
    return lines


def _goes_on(line: str, following: str) -> bool:
    opened = following.lstrip()
    if not opened or _ITEM.match(following) or line[-1] in ".!?:;…":
        return False
    return opened[0].islower() or (len(line) >= 60 and not _ITEM.match(line) and line[-1] not in '"”')


def _ended(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        end = match.end("mark")
        if _ends(line[max(start, end - 40) : end], line[match.end() : match.end() + 40]):
            yield line[start : match.end()].strip()
            start = match.end()
    if start < len(line):
        yield line[start:].strip()


def _ends(sentence: str, following: str) -> bool:
    """Whether a mark at the end of `sentence` ends it."""
    opened = following.lstrip("\"“”‘’'([«*_ ")
    if opened[:1].islower():
        return False
    if not sentence.endswith(".") or sentence.endswith(".."):
        return True
    word = sentence[:-1].rsplit(None, 1)[-1].lstrip("\"“‘'([«*_") if sentence[:-1].strip() else ""
    if not word or re.fullmatch(r"\d{1,3}|[a-z]", sentence[:-1].strip()):
        return False  # the number of an item
    starter = re.split(r"\W", opened, maxsplit=1)[0].lower() in _STARTERS
    if word.lower() in _ABBREVIATED:
        return word.lower() == "no" and word.islower() and not opened[:1].isdigit()
    if word.lower() in _MAY_END or re.fullmatch(r"(?:[A-Za-z]\.)*[A-Z]", word):
        return starter and opened[:1].isupper()
    return True


def _cut(sentence: str, ending: Ending, opening: bool) -> Iterator[Sentence]:
    rest = sentence
    if opening and len(rest) > SHORT_OPENING:
        place, how = _first_place(rest)
        if place:
            yield Sentence(rest[:place].strip(), how)
            rest = rest[place:].strip()
    while len(rest) > LONGEST_SENTENCE:
        place, how = _place(rest, LONGEST_SENTENCE)
        yield Sentence(rest[:place].strip(), how)
        rest = rest[place:].strip()
    yield Sentence(rest, ending)


def _first_place(text: str) -> tuple[int, Ending]:
    """Where to cut a long opening: 0 for nowhere."""
    clauses = _clauses(text, LONG_OPENING)
    if clauses:
        return clauses[0], Ending.CLAUSE
    return _place(text, LONG_OPENING) if len(text) > LONG_OPENING else (0, Ending.PART)


def _clauses(text: str, most: int) -> list[int]:
    ends = (match.end() for match in _CLAUSE.finditer(text, 0, most))
    return [end for end in ends if LEAST_OPENING <= end <= len(text) - LEAST_OPENING]


def _place(text: str, most: int) -> tuple[int, Ending]:
    """Where to cut a text longer than `most` characters: best after a clause, within a word if there is no other way."""
    clauses = _clauses(text, most)
    if clauses and clauses[-1] > most // 3:
        return clauses[-1], Ending.CLAUSE
    joints = [match.start() for match in _JOINT.finditer(text, most // 2, most)]
    space = joints[-1] if joints else text.rfind(" ", 1, most)
    return (space if space > 0 else most), Ending.PART


def pieces(words: Sequence[Phonemic], most: int) -> Iterator[tuple[Phonemic, ...]]:
    """The words of a sentence in stretches of at most `most` phonemes, cut after clauses if there are any.

    A word of more phonemes is cut too; what follows its first piece has no text.
    """
    waiting = [part for word in words for part in _shortened(word, most)]
    while waiting:
        count = _fitting(waiting, most)
        yield tuple(waiting[:count])
        del waiting[:count]


def _shortened(word: Phonemic, most: int) -> Iterator[Phonemic]:
    room = most - len(word.after)
    if len(word.phonemes) <= room or room <= 0:
        yield replace(word, after=word.after[:most])
        return
    starts = range(0, len(word.phonemes), room)
    for start in starts:
        yield Phonemic(
            word.text if start == 0 else "",
            word.phonemes[start : start + room],
            word.after if start == starts[-1] else "",
        )


def _fitting(words: Sequence[Phonemic], most: int) -> int:
    total, count, clause = 0, 0, 0
    for word in words:
        total += len(word.phonemes) + len(word.after)
        if total > most:
            return clause or max(count, 1)
        count += 1
        if any(mark in _MARKS_OF_A_CLAUSE for mark in word.after) and total > most // 3:
            clause = count
    return count
