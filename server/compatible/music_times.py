"""The times of sections: told to a model in its headings, and compared with those that it will play."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.request import SongRequest
from engine.sketch.compose import outline
from engine.sketch.lyrics import plain_name
from engine.sketch.sampler import TAIL_SECONDS
from server.compatible.music_plan import UNNAMED_PLAYED, UNNAMED_SUNG, Section

LONGEST_TITLE: Final = 60  # of a heading beside its time
SHORTEST_TOLD: Final = 0.1  # seconds of a section, apart from what fades after it
SHORTEST_SONG: Final = 1.0  # seconds that the band composes at least
NOTED_SECONDS: Final = 1.0  # by which a section has to be longer or shorter to be told of
MOST_NAMED, LONGEST_NAMED = 5, 24


def without_tail(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections whose last one ends with its last bar, where the band's score does: what fades after it is not in it."""
    if not sections or sections[-1].milliseconds is None:
        return tuple(sections)
    *before, last = sections
    left = (last.milliseconds or 0) - round(1000 * TAIL_SECONDS)
    return (*before, replace(last, milliseconds=max(left, round(1000 * SHORTEST_TOLD))))


def lyrics_of(sections: Sequence[Section], *, timed: bool) -> str:
    """Sections with a heading each, which says how long it is to be where the model reads that."""
    return "\n\n".join("\n".join((heading(section, timed=timed), *section.lines)) for section in sections)


def heading(section: Section, *, timed: bool) -> str:
    """The line that opens a section. Nothing of a name is left that would be read as times or a length."""
    name = plain_name(section.name[:LONGEST_TITLE]) or (UNNAMED_SUNG if section.lines else UNNAMED_PLAYED)
    if timed and section.milliseconds is not None:
        return f"[{name}, {section.milliseconds / 1000:.3f}".rstrip("0").rstrip(".") + " s]"
    return f"[{name}]"


def missed(asked: Sequence[Section], request: SongRequest) -> tuple[str, ...]:
    """A sentence on sections that the band, which plays whole bars, makes longer or shorter by more than a second."""
    seconds = max(request.longest_seconds - TAIL_SECONDS, SHORTEST_SONG)
    played = [part.seconds for part in outline(request.style, request.lyrics, seconds)]
    sounding = min(sum(played) + TAIL_SECONDS, request.longest_seconds)
    played[-1] = max(sounding - sum(played[:-1]), 0.0)
    played += [0.0] * (len(asked) - len(played))  # those for which there was no time
    wanted = [(section.milliseconds or 0) / 1000 for section in asked]
    told = [
        f"{section.name[:LONGEST_NAMED]} {length:.1f} s instead of {want:g}"
        for section, want, length in zip(asked, wanted, played, strict=True)
        if abs(length - want) > NOTED_SECONDS
    ]
    if not told:
        return ()
    more = f" and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
    return (f"Sections are whole bars, and as long as their words: {', '.join(told[:MOST_NAMED])}{more}.",)
