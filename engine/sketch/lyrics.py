"""Reads lyrics: sections opened by `[Verse 1]` lines, their lines, and the syllables of each line.

A known section's name with a colon, alone on a line (`Verse 1:`), opens one too. `[Chorus x2]`, `[Chorus] x2` or a line
`(x2)` right below repeat the section. `[Verse, 30 s]` says how long it is to be.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from unicodedata import category

from engine.control import Check, unchecked
from engine.sketch.spoken import spoken
from engine.sketch.stress import HALF, stresses
from engine.sketch.syllables import syllables

HEADING = re.compile(r"\s*\[([^\[\]]{1,80})\]\s*(.*)")
TITLE = re.compile(r"\s*([^\W\d_][\w \-]{0,39}?)\s*:\s*")
TIMES = re.compile(r"[\s,:(\-]*(?<!\w)(?:[x×]\s?([1-9])|([1-9])\s?[x×])\s*\)?\s*", re.IGNORECASE)
LENGTH = re.compile(r"(.*?)\s*[:|,(]\s*(\d{1,3}(?:\.\d{1,3})?)\s?(?:s|sec|seconds?)\s*\)?\s*", re.IGNORECASE)
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
    """One sung syllable; `ends_word` is false where the word goes on, `stress` is from 0 to 1."""

    text: str
    ends_word: bool = True
    stress: float = field(default=HALF, compare=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of words."""

    syllables: tuple[Syllable, ...]


@dataclass(frozen=True, slots=True)
class LyricSection:
    """A named part: `name` as written, in lower case; `kind` says which sections share their music.

    `seconds` is how long it is to be, where its heading says so.
    """

    name: str
    kind: str
    lines: tuple[Line, ...] = ()
    seconds: float | None = None


@dataclass(slots=True)
class _Draft:
    """A section while it is read; owned by `read_lyrics`."""

    heading: str
    times: int = 1
    seconds: float | None = None  # of all times together
    lines: list[Line] = field(default_factory=list)

    def finished(self) -> list[LyricSection]:
        opened = _opened(self.heading)
        seconds = None if self.seconds is None else self.seconds / self.times
        return [LyricSection(opened.name, opened.kind, tuple(self.lines), seconds)] * self.times


def read_lyrics(text: str, check: Check = unchecked) -> tuple[LyricSection, ...]:
    """Read any text. Without headings, blank lines part verses, and a passage that comes twice is the chorus.

    `check` is called for every word and stops the work by raising.
    """
    rows = re.split(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", text)
    headings = [read_heading(row) for row in rows]
    if not any(headings):
        return _untitled(rows, check)
    drafts: list[_Draft] = []
    for row, heading in zip(rows, headings, strict=True):
        if heading:
            name, row = heading
            drafts.append(_Draft(*read_name(name)))
        again = read_times(row) if drafts and not drafts[-1].lines else None
        if again:
            drafts[-1].times = again
            continue
        line = read_line(row, check)
        if line.syllables:
            drafts = drafts or [_Draft("verse")]
            drafts[-1].lines.append(line)
    return tuple(section for draft in drafts for section in draft.finished())


def read_heading(row: str) -> tuple[str, str] | None:
    """The name of the section that a line opens, and what else the line says; None for a line of words."""
    if heading := HEADING.fullmatch(row):
        return heading.group(1), heading.group(2)
    title = TITLE.fullmatch(row)
    if title and _kind(_without_times(title.group(1))[0].lower()) in KINDS:
        return title.group(1), ""
    return None


def read_name(heading: str) -> tuple[str, int, float | None]:
    """Of what stands in the brackets the name, how often the section comes, and the seconds that all of it lasts."""
    title, seconds = _without_length(heading)
    return *_without_times(title), seconds


def plain_name(heading: str) -> str:
    """The name alone, without anything that `read_name` takes for a number of times or a length; it may be empty."""
    name = read_name(heading.strip())[0].strip()
    return name if name == heading else plain_name(name)


def read_times(row: str) -> int | None:
    """How often a line such as `(x2)` right below a heading, or `x2` behind it, gives the section; None for words."""
    again = TIMES.fullmatch(row)
    return int(again.group(1) or again.group(2)) if again else None


def _without_length(heading: str) -> tuple[str, float | None]:
    """The name of `Verse, 30 s`, and 30; none for a heading that tells no time, or no time at all."""
    told = LENGTH.fullmatch(heading)
    if told is None or float(told.group(2)) <= 0:
        return heading, None
    return told.group(1), float(told.group(2))


def _without_times(heading: str) -> tuple[str, int]:
    """The name of `Chorus x2`, and 2."""
    for again in TIMES.finditer(heading):
        if again.end() == len(heading) and again.start():
            return heading[: again.start()], int(again.group(1) or again.group(2))
    return heading, 1


def read_line(row: str, check: Check = unchecked) -> Line:
    """The syllables of one line, its numbers and signs as words; hyphens part words, marks without a letter are left out."""
    found: list[Syllable] = []
    words = [_singable(word) for word in spoken(row).translate(UNSINGABLE).split()]
    for word in words:
        check()
        parts = syllables(word)
        found.extend(
            Syllable(part, part_end == len(parts), stress)
            for part_end, (part, stress) in enumerate(zip(parts, stresses(parts), strict=True), start=1)
        )
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
    plain = _kind(name)
    return LyricSection(name, KINDS.get(plain, plain or "section"))


def _kind(name: str) -> str:
    """The name without its number."""
    return re.sub(r"[\s\-]+", " ", re.sub(r"[\d.]+|\b[ivx]+$", "", name)).strip()


def _untitled(rows: list[str], check: Check) -> tuple[LyricSection, ...]:
    passages: list[list[Line]] = [[]]
    for row in rows:
        line = read_line(row, check)
        if line.syllables:
            passages[-1].append(line)
        elif not row.strip() and passages[-1]:
            passages.append([])
    kept = [tuple(passage) for passage in passages if passage]
    times = Counter(kept)
    kinds = ["chorus" if times[passage] > 1 else "verse" for passage in kept]
    return tuple(LyricSection(kind, kind, passage) for kind, passage in zip(kinds, kept, strict=True))
