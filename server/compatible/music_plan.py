"""Composition plans as ElevenLabs writes them: styles, and sections with a time and lines of words.

There are two shapes. `music_v1` has styles of the whole song and of each section; `music_v2` and later have chunks, whose
text holds the section's name and its lines. Both are read into one `SongPlan` and written from it.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Final

from annotated_types import MaxLen
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field

from engine.errors import InvalidRequest
from engine.request_types import Text, Whole, ruled_out
from engine.sketch.lyrics import read_heading, read_times
from storage.entry import JSON

SHORTEST_SECTION_MS, LONGEST_SECTION_MS = 3_000, 120_000
MOST_LINES, LONGEST_LINE, LONGEST_NAME = 30, 200, 100
LONGEST_CHUNK: Final = 10_000  # characters, more than its name and lines can have
MOST_SECTIONS: Final = 200  # of the shortest, in the longest song
MOST_STYLES, LONGEST_TAG = 100, 200
MOST_STYLE_CHARACTERS: Final = 8_000  # of all styles of a plan; a song has room for half of that
MOST_PLAN_BYTES: Final = 1024 * 1024  # of a plan as it is written
UNNAMED_SUNG, UNNAMED_PLAYED = "Verse", "Instrumental"
_HEADING: Final = re.compile(r"\s*\[([^\[\]]*)\]")
_DIRECTION: Final = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a song; `milliseconds` is None where its length is left to whoever composes it.

    `styles` are wanted in this part alone, `avoided` are not.
    """

    name: str
    lines: tuple[str, ...] = ()
    milliseconds: int | None = None
    styles: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SongPlan:
    """Styles that are wanted in the whole song and styles that are not, and its sections in order."""

    styles: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def milliseconds(self) -> int | None:
        """The length of all sections; None where one has none, or there is no section."""
        told = [section.milliseconds for section in self.sections if section.milliseconds is not None]
        return sum(told) if told and len(told) == len(self.sections) else None

    @property
    def is_sung(self) -> bool:
        """Whether there are any words."""
        return any(section.lines for section in self.sections)

    def without_words(self) -> "SongPlan":
        """The same with nothing to sing."""
        return replace(self, sections=tuple(replace(section, lines=()) for section in self.sections))


def not_here(sentence: str) -> Callable[[object], None]:
    """A validator that takes nothing but null, and says why."""

    def refuse(value: object) -> None:
        if value is not None:
            raise ruled_out(f"{{field}} is not possible here: {sentence}")

    return refuse


def at_most(characters: int) -> Callable[[str], str]:
    """A validator of text that is no longer than that; `MaxLen` behind it tells the bound in JSON Schema."""

    def check(text: str) -> str:
        if len(text) > characters:
            raise ruled_out(f"{{field}} must have at most {characters} characters; you sent {len(text)}.")
        return text

    return check


def no_more_than(entries: int) -> Callable[[object], object]:
    """A validator of a list before any of its entries is looked at, however many there are."""

    def check(value: object) -> object:
        if isinstance(value, list) and len(value) > entries:
            raise ruled_out(f"{{field}} must have at most {entries} entries; you sent {len(value)}.")
        return value

    return check


class Tolerant(BaseModel):
    """A part of a foreign request: what nobody here knows is passed over, as the vendor's clients expect it."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


NO_REFERENCES: Final = "songs are made from style and words alone; leave it out and describe what you want."
Tag = Annotated[Text, AfterValidator(at_most(LONGEST_TAG)), MaxLen(LONGEST_TAG)]
Styles = Annotated[
    tuple[Tag, ...] | None,
    FailFast(),
    Field(max_length=MOST_STYLES),
    BeforeValidator(no_more_than(MOST_STYLES)),
]
Line = Annotated[Text, AfterValidator(at_most(LONGEST_LINE)), MaxLen(LONGEST_LINE)]
Reference = Annotated[object, AfterValidator(not_here(NO_REFERENCES))]


class SongSection(Tolerant):
    """One section of a plan of `music_v1`."""

    section_name: Annotated[Text, AfterValidator(at_most(LONGEST_NAME)), MaxLen(LONGEST_NAME)] = Field(
        min_length=1
    )
    positive_local_styles: Styles = None
    negative_local_styles: Styles = None
    duration_ms: Whole = Field(ge=SHORTEST_SECTION_MS, le=LONGEST_SECTION_MS)
    lines: Annotated[
        tuple[Line, ...] | None,
        FailFast(),
        Field(max_length=MOST_LINES),
        BeforeValidator(no_more_than(MOST_LINES)),
    ] = None
    source_from: Reference = None


class MusicPrompt(Tolerant):
    """A plan of `music_v1`."""

    positive_global_styles: Styles = None
    negative_global_styles: Styles = None
    sections: Annotated[tuple[SongSection, ...], FailFast(), BeforeValidator(no_more_than(MOST_SECTIONS))] = (
        Field(min_length=1, max_length=MOST_SECTIONS)
    )


def _chunk_text(text: str) -> str:
    if len(text) > LONGEST_CHUNK:
        raise ruled_out(f"{{field}} must have at most {LONGEST_CHUNK} characters; you sent {len(text)}.")
    name, lines = _name_and_lines(text)
    if len(name) > LONGEST_NAME:
        raise ruled_out(
            f"{{field}} has a section's name of {len(name)} characters; at most {LONGEST_NAME} are possible."
        )
    if len(lines) > MOST_LINES:
        raise ruled_out(f"{{field}} must have at most {MOST_LINES} lines; you sent {len(lines)}.")
    if any(len(line) > LONGEST_LINE for line in lines):
        raise ruled_out(f"{{field}} must have lines of at most {LONGEST_LINE} characters; one is longer.")
    return text


class Chunk(Tolerant):
    """One chunk of a plan of `music_v2` and later; the rest of a song that was made before cannot be one."""

    song_id: Reference = None
    text: Annotated[Text, AfterValidator(_chunk_text)]
    duration_ms: Whole = Field(ge=SHORTEST_SECTION_MS, le=LONGEST_SECTION_MS)
    positive_styles: Styles = None
    negative_styles: Styles = None
    conditioning_ref: Reference = None


class ChunkedPlan(Tolerant):
    """A plan of `music_v2` and later."""

    chunks: Annotated[tuple[Chunk, ...], FailFast(), BeforeValidator(no_more_than(MOST_SECTIONS))] = Field(
        min_length=1, max_length=MOST_SECTIONS
    )


def plan_of(sent: MusicPrompt | ChunkedPlan) -> SongPlan:
    """What a plan of either shape says."""
    return _of_sections(sent) if isinstance(sent, MusicPrompt) else _of_chunks(sent)


def check_styles(plan: SongPlan, field: str) -> None:
    """Raise InvalidRequest where the styles of a plan, each told once, are more than a song could ever be given."""
    told = [*plan.styles, *plan.avoided]
    told += [style for section in plan.sections for style in (*section.styles, *section.avoided)]
    length = sum(map(len, told))
    if length > MOST_STYLE_CHARACTERS:
        raise InvalidRequest(
            field,
            f"The styles of {field} have {length} characters together; at most {MOST_STYLE_CHARACTERS} are possible.",
        )


def check_written(answer: JSON, field: str) -> None:
    """Raise InvalidRequest where a plan takes more than a mebibyte as JSON."""
    size = len(json.dumps(answer, ensure_ascii=False).encode())
    if size > MOST_PLAN_BYTES:
        raise InvalidRequest(
            field,
            f"{field} would take {size} bytes as it is written; at most {MOST_PLAN_BYTES} are possible, "
            "so send fewer sections, or fewer styles.",
        )


def _of_sections(sent: MusicPrompt) -> SongPlan:
    sections = tuple(
        _section(
            section.section_name,
            section.lines or (),
            section.duration_ms,
            (section.positive_local_styles, section.negative_local_styles),
        )
        for section in sent.sections
    )
    return SongPlan(
        distinct(sent.positive_global_styles or ()), distinct(sent.negative_global_styles or ()), sections
    )


def _section(
    name: str,
    lines: Iterable[str],
    milliseconds: int,
    styles: tuple[Iterable[str] | None, Iterable[str] | None],
) -> Section:
    """A section of what was sent: `styles` are those wanted and those avoided."""
    words = tuple(words_of(lines))
    named = _one_line(name) or (UNNAMED_SUNG if words else UNNAMED_PLAYED)
    wanted, avoided = (distinct(told or ()) for told in styles)
    return Section(named, words, milliseconds, wanted, avoided)


def _of_chunks(sent: ChunkedPlan) -> SongPlan:
    """What all chunks avoid is avoided in the whole song; what all want that want anything is the whole song's style."""
    sections = [
        _section(
            *_name_and_lines(chunk.text), chunk.duration_ms, (chunk.positive_styles, chunk.negative_styles)
        )
        for chunk in sent.chunks
    ]
    styles = _in_all([section.styles for section in sections if section.styles])
    avoided = _in_all([section.avoided for section in sections])
    return SongPlan(
        styles,
        avoided,
        tuple(
            replace(
                section,
                styles=tuple(style for style in section.styles if style not in styles),
                avoided=tuple(style for style in section.avoided if style not in avoided),
            )
            for section in sections
        ),
    )


def _in_all(styles: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Those of the first that all others hold too."""
    first, *others = tuple(styles) or ((),)
    return tuple(style for style in first if all(style in told for told in others))


def as_music_prompt(plan: SongPlan) -> dict[str, JSON]:
    """The plan as `music_v1` writes it; every section has a length."""
    return {
        "positive_global_styles": list(plan.styles),
        "negative_global_styles": list(plan.avoided),
        "sections": [
            {
                "section_name": section.name,
                "positive_local_styles": list(section.styles),
                "negative_local_styles": list(section.avoided),
                "duration_ms": section.milliseconds,
                "lines": list(section.lines),
            }
            for section in plan.sections
        ],
    }


def as_chunks(plan: SongPlan) -> dict[str, JSON]:
    """The plan as `music_v2` writes it; every section has a length."""
    return {
        "chunks": [
            {
                "text": "\n".join((f"[{section.name}]", *section.lines)),
                "duration_ms": section.milliseconds,
                "positive_styles": list(distinct((*plan.styles, *section.styles))),
                "negative_styles": list(distinct((*plan.avoided, *section.avoided))),
            }
            for section in plan.sections
        ]
    }


def distinct(styles: Iterable[str]) -> tuple[str, ...]:
    """The styles without blank ones and those that were named before, in whatever case."""
    found: dict[str, str] = {}
    for style in styles:
        named = " ".join(style.split())
        if named:
            found.setdefault(named.casefold(), named)
    return tuple(found.values())


def _name_and_lines(text: str) -> tuple[str, list[str]]:
    """The name in the brackets that a chunk's text begins with, and its other lines with something in them."""
    heading = _HEADING.match(text)
    name, rest = (heading.group(1), text[heading.end() :]) if heading else ("", text)
    return name, [line for line in rest.splitlines() if line.strip()]


def words_of(lines: Iterable[str]) -> Iterable[str]:
    """What is sung of lines: without directions in braces or brackets, and without `Chorus:` and the like.

    Above the first words `(x2)` is left out as well, since there it would be read as a number of times.
    """
    begun = False
    for line in lines:
        for row in _DIRECTION.sub(" ", line).splitlines():
            words = " ".join(row.split())
            if words and read_heading(words) is None and (begun or read_times(words) is None):
                begun = True
                yield words


def _one_line(name: str) -> str:
    return " ".join(re.sub(r"[\[\]]", " ", name).split())
