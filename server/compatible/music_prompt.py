"""Prompts read without a language model: tags, and words where the prompt brings some; and plans drafted from them.

The lengths of a drafted plan's sections are those that the built-in band gives such a song, drawn out or pressed to the
length that is asked for.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import ceil
from typing import Final

from engine.sketch.compose import Outlined, outline
from engine.sketch.form import LONGEST_SECONDS
from engine.sketch.lyrics import read_heading
from engine.sketch.sampler import TAIL_SECONDS
from engine.sketch.style import can_be_left_out
from server.compatible.music_plan import (
    LONGEST_LINE,
    LONGEST_NAME,
    LONGEST_SECTION_MS,
    MOST_LINES,
    SHORTEST_SECTION_MS,
    Section,
    SongPlan,
    distinct,
)

USUAL_SECONDS: Final = 360.0  # the longest that a song without a length is
FULL_SECONDS: Final = 120.0  # up to here a short form is a matter of the time there is
LINE_SECONDS, PLAYED_SECONDS = 5.0, 20.0  # of a section whose length the band does not tell
ROOMIEST: Final = 1.5  # times its own length that a form is drawn out before it is played once more
_OPENING: Final = re.compile(r"\s*\[[^\[\]]{1,80}\]")
_TAG_END: Final = re.compile(r"[,;\n|]+|[.!?]+(?=\s|$)")
_WITHOUT: Final = re.compile(r"(?:no|without)\s+(.+)", re.IGNORECASE)
_FRAMES: Final = ("intro", "outro")


def read_prompt(prompt: str) -> SongPlan:
    """What a prompt says: the tags before its first `[Section]` line, and the sections from there on, without lengths.

    From there on `Chorus:` alone on a line opens one too. Tags end at commas, semicolons, line ends and the ends of sentences. `no drums` is a style to avoid.
    """
    rows = prompt.splitlines()
    opened = next((place for place, row in enumerate(rows) if _OPENING.match(row)), len(rows))
    tags = distinct(_TAG_END.split("\n".join(rows[:opened])))
    left_out = {tag: found.group(1) for tag in tags if (found := _WITHOUT.fullmatch(tag))}
    avoided = {tag: sound for tag, sound in left_out.items() if can_be_left_out(sound)}
    return SongPlan(
        tuple(tag for tag in tags if tag not in avoided),
        tuple(avoided.values()),
        tuple(_sections(rows[opened:])),
    )


def _sections(rows: Iterable[str]) -> list[Section]:
    read: list[tuple[str, list[str]]] = []
    for row in rows:
        heading = read_heading(row)
        if heading:
            read.append((" ".join(heading[0].split()), []))
            row = heading[1]
        if row.strip():
            read[-1][1].extend(_wrapped(" ".join(row.split())))
    return [part for name, lines in read for part in _split_lines(Section(name or "Section", tuple(lines)))]


def _wrapped(line: str) -> list[str]:
    """The line in pieces of at most 200 characters, at spaces where there are some."""
    pieces: list[str] = []
    while len(line) > LONGEST_LINE:
        cut = line.rfind(" ", 1, LONGEST_LINE + 1)
        cut = cut if cut > 0 else LONGEST_LINE
        pieces.append(line[:cut].rstrip())
        line = line[cut:].lstrip()
    return [*pieces, line] if line else pieces


def _split_lines(section: Section) -> list[Section]:
    starts = range(0, max(len(section.lines), 1), MOST_LINES)
    return [replace(section, lines=section.lines[start : start + MOST_LINES]) for start in starts]


def draft(plan: SongPlan, milliseconds: int | None = None) -> SongPlan:
    """The plan with sections, and a length for each of them; together they last `milliseconds`, where that is given.

    A plan without sections gets those that the band plays in such a style.
    """
    style = ", ".join(plan.styles)
    if plan.sections:
        sections, seconds = _worded(plan.sections, style)
    else:
        sections, seconds = _played(style, None if milliseconds is None else milliseconds / 1000)
    total = milliseconds or plan.milliseconds or round(1000 * (sum(seconds) + TAIL_SECONDS))
    return replace(plan, sections=fitted(sections, seconds, total))


def _worded(sections: Sequence[Section], style: str) -> tuple[list[Section], list[float]]:
    """The sections, inside the intro and outro that the band adds, and their lengths in seconds."""
    if all(section.milliseconds is not None for section in sections):
        return list(sections), [(section.milliseconds or 0) / 1000 for section in sections]
    lyrics = "\n".join(line for section in sections for line in (f"[{section.name}]", *section.lines))
    told = outline(style, lyrics, LONGEST_SECONDS)
    before = told[:1] if _added(told[:1], sections[0]) else ()
    after = told[-1:] if _added(told[-1:], sections[-1]) else ()
    own = told[len(before) : len(told) - len(after)]
    if len(own) != len(sections):
        return list(sections), [len(part.lines) * LINE_SECONDS or PLAYED_SECONDS for part in sections]
    framed = [
        *(Section(_title(part.name)) for part in before),
        *sections,
        *(Section(_title(part.name)) for part in after),
    ]
    return framed, [part.seconds for part in (*before, *own, *after)]


def _added(told: Sequence[Outlined], section: Section) -> bool:
    """Whether the band plays something there that `section` is not."""
    return told[0].name in _FRAMES and told[0].name not in section.name.lower()


def _played(style: str, seconds: float | None) -> tuple[list[Section], list[float]]:
    """The sections of a song without words, and their lengths in seconds.

    Where it is to last far longer than the band's own form, that comes more than once.
    """
    told = outline(style, "", max((seconds or USUAL_SECONDS) - TAIL_SECONDS, 1.0))
    own = sum(part.seconds for part in told)
    if seconds is not None and seconds > max(ROOMIEST * own, FULL_SECONDS):
        framed = len(told) > 2 and told[0].name in _FRAMES and told[-1].name in _FRAMES
        inner = told[1:-1] if framed else told
        times = max(1, round(seconds / own))
        told = (*told[:1], *inner * times, *told[-1:]) if framed else inner * times
    return [Section(name) for name in _numbered([part.name for part in told])], [
        part.seconds for part in told
    ]


def _numbered(names: Sequence[str]) -> list[str]:
    """Titles, the verses counted where there are several."""
    verses, titles = 0, []
    for name in names:
        verses += name == "verse"
        several = name == "verse" and names.count(name) > 1
        titles.append(f"{_title(name)} {verses}" if several else _title(name))
    return titles


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def fitted(sections: Sequence[Section], weights: Sequence[float], milliseconds: int) -> tuple[Section, ...]:
    """The sections with lengths that last `milliseconds` together, in proportion to `weights` as far as bounds allow.

    No section is shorter than 3 seconds: those without words go, or the last ones are put together. None is longer than
    two minutes: it is split.
    """
    kept = _long_enough(sections, weights, milliseconds)
    spare = milliseconds - SHORTEST_SECTION_MS * len(kept)
    total = sum(weight for _, weight in kept) or 1.0
    over = [max(0.0, weight / total * milliseconds - SHORTEST_SECTION_MS) for _, weight in kept]
    if not sum(over):
        over = [1.0] * len(kept)
    ends = [round(end) for end in accumulate((part * spare / sum(over) for part in over), initial=0.0)]
    lengths = [SHORTEST_SECTION_MS + stop - start for start, stop in pairwise(ends)]
    return tuple(
        part
        for (section, _), length in zip(kept, lengths, strict=True)
        for part in _not_too_long(section, length)
    )


def _long_enough(
    sections: Sequence[Section], weights: Sequence[float], milliseconds: int
) -> list[tuple[Section, float]]:
    """Sections that can all have three seconds, with their weights; one that goes leaves its time to its neighbour."""
    total = sum(weights) or 1.0
    kept: list[tuple[Section, float]] = []
    left = 0.0
    for section, weight in zip(sections, weights, strict=True):
        left += weight
        if section.lines or left / total * milliseconds >= SHORTEST_SECTION_MS:
            kept.append((section, left))
            left = 0.0
    kept = kept or [(sections[0], 0.0)]
    kept[-1] = (kept[-1][0], kept[-1][1] + left)
    while len(kept) > 1 and len(kept) * SHORTEST_SECTION_MS > milliseconds:
        (before, first), (last, second) = kept[-2:]
        lines = (*before.lines, *last.lines)[:MOST_LINES]
        kept[-2:] = [(replace(before, lines=lines), first + second)]
    return kept


def _not_too_long(section: Section, milliseconds: int) -> list[Section]:
    count = ceil(milliseconds / LONGEST_SECTION_MS)
    ends = [milliseconds * place // count for place in range(count + 1)]
    return [
        replace(
            section,
            name=section.name[:LONGEST_NAME],
            milliseconds=stop - start,
            lines=section.lines if place == 0 else (),
        )
        for place, (start, stop) in enumerate(pairwise(ends))
    ]
