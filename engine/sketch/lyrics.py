"""Reads lyrics: sections opened by `[Verse 1]` lines, their lines, and the syllables of each line."""

import re
from collections import Counter
from dataclasses import dataclass
from unicodedata import category

from engine.sketch.syllables import syllables

HEADING = re.compile(r"\s*\[([^\[\]]{1,80})\]\s*(.*)")
KINDS = {
    "intro": "intro",
    "introduction": "intro",
    "verse": "verse",
    "strophe": "verse",
    "pre chorus": "pre-chorus",
    "prechorus": "pre-chorus",
    "chorus": "chorus",
    "refrain": "chorus",
    "hook": "chorus",
    "post chorus": "chorus",
    "final chorus": "chorus",
    "bridge": "bridge",
    "middle eight": "bridge",
    "interlude": "interlude",
    "instrumental": "interlude",
    "instrumental break": "interlude",
    "solo": "interlude",
    "guitar solo": "interlude",
    "break": "interlude",
    "outro": "outro",
    "ending": "outro",
    "coda": "outro",
    "end": "outro",
}
UPBEATS = frozenset(
    re.findall(
        r"\w+",
        "a an and as at but by for from i if in into is it my of on or our so than that the their then there "
        "they this to was we when where who with you your ",
    )
)
UNSINGABLE = str.maketrans(
    dict.fromkeys('|*_~\\%"[]{}<>^=#$-‐‑–—/', " ")
)  # part words, or mean something in ABC
LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Syllable:
    """One sung syllable; `ends_word` is false where the word goes on."""

    text: str
    ends_word: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """One line of words."""

    syllables: tuple[Syllable, ...]


@dataclass(frozen=True, slots=True)
class LyricSection:
    """A named part: `name` as written, in lower case; `kind` says which sections share their music."""

    name: str
    kind: str
    lines: tuple[Line, ...] = ()


def read_lyrics(text: str) -> tuple[LyricSection, ...]:
    """Read any text. Without headings, blank lines part verses, and a passage that comes twice is the chorus."""
    rows = re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", text)
    if not any(HEADING.fullmatch(row) for row in rows):
        return _untitled(rows)
    sections: list[LyricSection] = []
    for row in rows:
        heading = HEADING.fullmatch(row)
        if heading:
            sections.append(_opened(heading.group(1)))
        line = read_line(heading.group(2) if heading else row)
        if line.syllables:
            sections = sections or [LyricSection("verse", "verse")]
            last = sections[-1]
            sections[-1] = LyricSection(last.name, last.kind, (*last.lines, line))
    return tuple(sections)


def read_line(row: str) -> Line:
    """The syllables of one line; hyphens part words, marks without a letter join the word before."""
    found: list[Syllable] = []
    words = [_singable(word) for word in row.translate(UNSINGABLE).split()]
    for word in words:
        parts = syllables(word)
        found.extend(Syllable(part, part_end == len(parts)) for part_end, part in enumerate(parts, start=1))
    return Line(tuple(found))


def is_upbeat(word: str) -> bool:
    """True for the unstressed little words that lead into a beat rather than fall on it."""
    return word.strip("(),.!?'’").lower() in UPBEATS


def _singable(word: str) -> str:
    return "".join(letter for letter in word if not category(letter).startswith("C"))


def _opened(heading: str) -> LyricSection:
    title = re.split(r"[:|(,]| - ", heading.lower())[0]
    words = re.search(r"[^\W\d_].*", re.sub(r"[^\w '\-]|_", " ", title))
    name = " ".join(words.group().split())[:LONGEST_NAME].rstrip(" '-") if words else "section"
    plain = re.sub(r"[\s\-]+", " ", re.sub(r"[\d.]+|\b[ivx]+$", "", name)).strip()
    return LyricSection(name, KINDS.get(plain, plain or "section"))


def _untitled(rows: list[str]) -> tuple[LyricSection, ...]:
    passages: list[list[Line]] = [[]]
    for row in rows:
        line = read_line(row)
        if line.syllables:
            passages[-1].append(line)
        elif not row.strip() and passages[-1]:
            passages.append([])
    kept = [tuple(passage) for passage in passages if passage]
    times = Counter(kept)
    kinds = ["chorus" if times[passage] > 1 else "verse" for passage in kept]
    return tuple(LyricSection(kind, kind, passage) for kind, passage in zip(kinds, kept, strict=True))
