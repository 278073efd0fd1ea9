"""Prompts read without a language model: tags, and words where the prompt brings some; and plans drafted from them.

The lengths of a drafted plan's sections are those that the built-in band gives such a song, drawn out or pressed to the
length that is asked for.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from math import ceil
from typing import Final

from engine.sketch.compose import Outlined, outline
from engine.sketch.form import LONGEST_SECONDS
from engine.sketch.lyrics import plain_name, read_heading, read_name, read_times
from engine.sketch.sampler import TAIL_SECONDS
from engine.sketch.style import can_be_left_out
from server.compatible.music_plan import (
    LONGEST_LINE,
    LONGEST_NAME,
    LONGEST_SECTION_MS,
    LONGEST_TAG,
    MOST_LINES,
    MOST_SECTIONS,
    MOST_STYLES,
    SHORTEST_SECTION_MS,
    Section,
    SongPlan,
    distinct,
    words_of,
)
from server.compatible.music_times import lyrics_of

USUAL_SECONDS: Final = 360.0  # the longest that a song without a length is
FULL_SECONDS: Final = 120.0  # up to here a short form is a matter of the time there is
MOST_REPEATED: Final = (
    16_000  # characters that sections have which come again; a song has room for twice as many
)
LONGEST_MS: Final = MOST_SECTIONS * SHORTEST_SECTION_MS
LINE_SECONDS, PLAYED_SECONDS = 5.0, 20.0  # of a section whose length the band does not tell
ROOMIEST: Final = 1.5  # times its own length that a form is drawn out before it is played once more
_OPENING: Final = re.compile(r"\s*\[[^\[\]]{1,80}\]")
_TAG_END: Final = re.compile(r"[,;\n|]+|[.!?]+(?=\s|$)")
_WITHOUT: Final = re.compile(r"(?:no|without)\s+(.+)", re.IGNORECASE)
_FRAMES: Final = ("intro", "outro")


def read_prompt(prompt: str) -> SongPlan:
    """What a prompt says: the tags before its first `[Section]` line, and the sections from there on.

    From there on `Chorus:` alone on a line opens one too, `x2` and `30 s` in a heading mean what they do in our own lyrics.
    Tags end at commas, semicolons, line ends and the ends of sentences. `no drums` is a style to avoid.
    """
    rows = prompt.splitlines()
    opened = next((place for place, row in enumerate(rows) if _OPENING.match(row)), len(rows))
    tags = distinct(_TAG_END.split("\n".join(rows[:opened])))
    left_out = {tag: found.group(1) for tag in tags if (found := _WITHOUT.fullmatch(tag))}
    possible = [
        tag for tag, sound in left_out.items() if len(sound) <= LONGEST_TAG and can_be_left_out(sound)
    ]
    avoided = {tag: left_out[tag] for tag in possible[:MOST_STYLES]}
    return SongPlan(
        tuple(tag for tag in tags if tag not in avoided),
        tuple(avoided.values()),
        tuple(_sections(rows[opened:])),
    )


@dataclass(slots=True)
class _Opened:
    """A section while it is read; owned by `_sections`. `seconds` are of all times together."""

    name: str
    times: int
    seconds: float | None
    rows: list[str] = field(default_factory=list)

    def finished(self) -> list[Section]:
        name = plain_name(" ".join(self.name.split())) or "Section"
        milliseconds = round(1000 * self.seconds / self.times) if self.seconds else None
        lines = tuple(piece for line in words_of(self.rows) for piece in _wrapped(line))
        return _split_lines(Section(name, lines, milliseconds or None))


def _sections(rows: Iterable[str]) -> list[Section]:
    """The sections, those that come again as often as they should, as far as there is room."""
    opened: list[_Opened] = []
    for row in rows:
        heading = read_heading(row)
        if heading:
            opened.append(_Opened(*read_name(heading[0])))
            row = heading[1]
        again = None if opened[-1].rows else read_times(row)
        if again:
            opened[-1].times = again
        elif row.strip():
            opened[-1].rows.append(row)
    room = MOST_REPEATED
    sections: list[Section] = []
    for part in opened:
        once = part.finished()
        size = sum(LONGEST_NAME + sum(map(len, section.lines)) for section in once)
        times = min(part.times, 1 + max(room, 0) // size)
        room -= size * (times - 1)
        sections += once * times
    return sections


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
    """The section in parts of thirty lines at most, which share its time."""
    starts = range(0, max(len(section.lines), 1), MOST_LINES)
    parts = [section.lines[start : start + MOST_LINES] for start in starts]
    time = section.milliseconds and section.milliseconds // len(parts)
    return [replace(section, lines=lines, milliseconds=time) for lines in parts]


def fitting_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags as a plan can hold them: long ones in pieces, and where there are too many, several in one style."""
    pieces = distinct(piece for tag in tags for piece in _wrapped(tag))
    if len(pieces) <= MOST_STYLES:
        return pieces
    joined: list[str] = []
    for piece in pieces:
        if joined and len(joined[-1]) + 2 + len(piece) <= LONGEST_TAG:
            joined[-1] += f", {piece}"
        else:
            joined.append(piece)
    return tuple(joined)


def draft(plan: SongPlan, milliseconds: int | None = None) -> SongPlan:
    """The plan with sections, and a length for each of them; together they last `milliseconds`, where that is given.

    Never are they more than a song can have, nor longer.

    A plan without sections gets those that the band plays in such a style.
    """
    style = ", ".join(plan.styles)
    if plan.sections:
        sections, seconds = _worded(plan.sections, style)
    else:
        sections, seconds = _played(style, None if milliseconds is None else milliseconds / 1000)
    total = milliseconds or min(max(round(1000 * sum(seconds)), SHORTEST_SECTION_MS), LONGEST_MS)
    return replace(plan, sections=fitted(sections, seconds, total))


def _worded(sections: Sequence[Section], style: str) -> tuple[list[Section], list[float]]:
    """The sections, inside the intro and outro that the band adds, and their lengths in seconds, the last with its end."""
    if all(section.milliseconds is not None for section in sections):
        return list(sections), [(section.milliseconds or 0) / 1000 for section in sections]
    told = outline(style, lyrics_of(sections, timed=True), LONGEST_SECONDS)
    before = told[:1] if _added(told[:1], sections[0]) else ()
    after = told[-1:] if _added(told[-1:], sections[-1]) else ()
    own = told[len(before) : len(told) - len(after)]
    if len(own) != len(sections):
        guessed = [len(part.lines) * LINE_SECONDS or PLAYED_SECONDS for part in sections]
        return list(sections), _ending(guessed)
    framed = [
        *(Section(_title(part.name)) for part in before),
        *sections,
        *(Section(_title(part.name)) for part in after),
    ]
    return framed, _ending([part.seconds for part in (*before, *own, *after)])


def _ending(seconds: Sequence[float]) -> list[float]:
    """The lengths with what fades after the last bar."""
    return [*seconds[:-1], seconds[-1] + TAIL_SECONDS]


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
    names = _numbered([part.name for part in told])
    return [Section(name) for name in names], _ending([part.seconds for part in told])


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
