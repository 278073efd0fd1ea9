"""The shapes of songs: what a genre does with a song that has no headings of its own, and how long its passages are."""

from dataclasses import dataclass, field
from typing import Final

Part = tuple[str, str]  # the section's name, and the kind whose music it shares


@dataclass(frozen=True, slots=True)
class Shape:
    """How a genre builds a song; bars count for songs that have the time.

    `forms` are for songs without any words or headings, roomiest first. Sung passages are filled up by the instruments
    to a multiple of `period` bars. `tercets` says that passages of three lines
    take four bars a line.
    """

    forms: tuple[tuple[Part, ...], ...]
    period: int = 4
    intro: int = 4
    played: int = 8  # of a passage without words
    played_by_kind: tuple[tuple[str, int], ...] = field(default=())
    tercets: bool = False
    slows: bool = False  # the last bars get slower
    flowing: bool = False  # words are rapped: a line has a bar or two

    def length(self, kind: str) -> int:
        """Bars of a passage of a kind without words."""
        return dict(self.played_by_kind).get(kind, self.played)


def _parts(*names: str) -> tuple[Part, ...]:
    """Each `name` or `name=kind`."""
    return tuple((name, kind or name) for name, _, kind in (entry.partition("=") for entry in names))


SONG: Final = Shape(
    (
        _parts("verse", "chorus", "verse", "chorus", "bridge", "chorus"),
        _parts("verse", "chorus", "verse", "chorus"),
        _parts("verse", "chorus"),
        _parts("verse"),
    )
)
GENTLE: Final = Shape(SONG.forms, slows=True)
TWELVE_BARS: Final = Shape(
    (
        _parts("verse", "verse", "solo=verse", "verse"),
        _parts("verse", "solo=verse", "verse"),
        _parts("verse", "verse"),
        _parts("verse"),
    ),
    period=12,
    played=12,
    tercets=True,
    slows=True,
)
AABA: Final = Shape(
    (
        _parts("head=verse", "head=verse", "bridge", "head=verse", "solo=chorus", "bridge", "head=verse"),
        _parts("head=verse", "head=verse", "bridge", "head=verse"),
        _parts("head=verse", "bridge", "head=verse"),
        _parts("head=verse"),
    ),
    slows=True,
)
TWO_STRAINS: Final = Shape(
    (
        _parts("verse", "verse", "chorus", "chorus", "verse"),
        _parts("verse", "chorus", "verse"),
        _parts("verse", "chorus"),
        _parts("verse"),
    ),
    slows=True,
)
STROPHES: Final = Shape(
    (_parts("verse", "verse", "verse"), _parts("verse", "verse"), _parts("verse")), slows=True
)
CLUB: Final = Shape(
    (
        _parts(
            "build=pre-chorus", "drop=chorus", "breakdown=bridge", "verse", "build=pre-chorus", "drop=chorus"
        ),
        _parts("verse", "build=pre-chorus", "drop=chorus", "breakdown=bridge", "drop=chorus"),
        _parts("build=pre-chorus", "drop=chorus"),
        _parts("drop=chorus"),
    ),
    intro=8,
    played_by_kind=(("chorus", 16), ("pre-chorus", 8)),
)
LOOPS: Final = Shape(
    (
        _parts("verse", "hook=chorus", "verse", "hook=chorus", "breakdown=bridge", "hook=chorus"),
        _parts("verse", "hook=chorus", "verse", "hook=chorus"),
        _parts("verse", "hook=chorus"),
        _parts("hook=chorus"),
    ),
    played_by_kind=(("verse", 16), ("bridge", 4)),
    flowing=True,
)
RIFFS: Final = Shape(
    (
        _parts("verse", "chorus", "verse", "chorus", "breakdown=bridge", "solo=verse", "chorus"),
        _parts("verse", "chorus", "solo=verse", "chorus"),
        _parts("verse", "chorus"),
        _parts("verse"),
    )
)
ARCH: Final = Shape(
    (
        _parts("theme=verse", "second theme=chorus", "development=bridge", "theme=verse", "finale=chorus"),
        _parts("theme=verse", "second theme=chorus", "theme=verse"),
        _parts("theme=verse", "finale=chorus"),
        _parts("theme=verse"),
    ),
    slows=True,
)
