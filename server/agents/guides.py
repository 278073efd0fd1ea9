"""Guides for writing that clients read as resources, and agents through the tool `writing_guide`.

The text lies in `guides/`. What the words of a style mean is taken from the engine's own tables, so that the guide and the
band cannot come to differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from engine.score.fields import TEMPO_WORDS
from engine.sketch.genres import GENRES
from engine.sketch.vocabulary import (
    INSTRUMENT_WORDS,
    INSTRUMENTAL_WORDS,
    INSTRUMENTS,
    METER_WORDS,
    METERS,
    MOODS,
    REGISTER_WORDS,
    TEMPO_FACTORS,
)

_FOLDER: Final = Path(__file__).parent / "guides"
GUIDE_TYPE: Final = "text/markdown"


@dataclass(frozen=True, slots=True)
class Guide:
    """One guide; `topic` is what the tool `writing_guide` calls it, and its text's file."""

    uri: str
    name: str
    title: str
    description: str
    topic: str


GUIDES: Final = (
    Guide(
        "yue2://guide/lyrics",
        "lyrics",
        "Writing lyrics",
        "How the lyrics of a song are laid out: sections, lines, repeats, lengths, and what each singer can sing.",
        "lyrics",
    ),
    Guide(
        "yue2://guide/style-vocabulary",
        "style-vocabulary",
        "The words of a style",
        "Every genre, instrument, mood, tempo, metre and voice that the built-in band knows, and what YuE2 reads.",
        "style",
    ),
    Guide(
        "yue2://guide/score-dialect",
        "score-dialect",
        "Writing and editing a score",
        "The two-voice ABC that songs are sung from: header, bars, chords, words, a whole example, common faults.",
        "score",
    ),
)


@cache
def guide_text(topic: str) -> str:
    """The guide on `lyrics`, `style` or `score`, in Markdown. Raises KeyError for any other topic."""
    topics = {guide.topic for guide in GUIDES}
    if topic not in topics:
        raise KeyError(topic)
    text = (_FOLDER / f"{topic}.md").read_text("utf-8")
    return _filled(text, _tables()) if topic == "style" else text


def _filled(text: str, tables: dict[str, str]) -> str:
    for name, table in tables.items():
        text = text.replace(f"<!-- {name} -->", table)
    return text


def _tables() -> dict[str, str]:
    """What stands in the engine's tables, as Markdown, by the name of its place in the guide on style."""
    return {
        "genres": "\n".join(
            f"- **{genre.name}** ({genre.tempo_bpm:g} BPM, {genre.meter[0]}/{genre.meter[1]}, {genre.mode}): "
            f"{_listed(word for word in genre.words if word != genre.name)}"
            for genre in GENRES
        ),
        "instruments": "\n".join(
            f"- **{name}** ({INSTRUMENTS[name].role}): {_listed(word for word in words if word != name)}"
            for name, words in INSTRUMENT_WORDS.items()
        ),
        "moods": "\n".join(f"- {mode}: {_listed(words)}" for mode, words in MOODS.values()),
        "tempo words": f"{_listed(TEMPO_FACTORS)}; {_listed(TEMPO_WORDS)}",
        "meters": _listed(
            f"{above}/{below}" for above, below in sorted(METERS, key=lambda it: (it[1], it[0]))
        ),
        "meter words": _listed(f"{word} ({above}/{below})" for word, (above, below) in METER_WORDS.items()),
        "voices": "\n".join(f"- {register}: {_listed(words)}" for register, words in REGISTER_WORDS.items()),
        "instrumental": _listed(INSTRUMENTAL_WORDS),
    }


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
