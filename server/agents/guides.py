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
_PLACES: Final = {"lead": "melody", "comp": "chords", "pad": "background", "bass": "bass", "drums": "drums"}


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
    genres = (
        (
            f"{genre.name}** ({genre.tempo_bpm:g} BPM, {_meter(genre.meter)}, {genre.mode})",
            genre.name,
            genre.words,
        )
        for genre in GENRES
    )
    instruments = (
        (f"{name}** ({_PLACES[INSTRUMENTS[name].role]})", name, words)
        for name, words in INSTRUMENT_WORDS.items()
    )
    return {
        "genres": _rows(genres),
        "instruments": _rows(instruments),
        "moods": _rows((f"{name}** ({mode})", name, words) for name, (mode, words) in MOODS.items()),
        "tempo words": _listed(TEMPO_FACTORS),
        "tempo names": _listed(TEMPO_WORDS),
        "metres": _listed(map(_meter, sorted(METERS, key=lambda meter: meter[::-1]))),
        "metre words": _listed(f"{word} ({_meter(meter)})" for word, meter in METER_WORDS.items()),
        "voices": "; ".join(f"{register}: {_listed(words)}" for register, words in REGISTER_WORDS.items()),
        "unsung": _listed(INSTRUMENTAL_WORDS),
    }


def _rows(entries: Iterable[tuple[str, str, Iterable[str]]]) -> str:
    """A line each: what it is, and the other words for it than its name."""
    lines = ((title, _listed(word for word in words if word != name)) for title, name, words in entries)
    return "\n".join(f"- **{title}: {others}" for title, others in lines)


def _meter(meter: tuple[int, int]) -> str:
    return f"{meter[0]}/{meter[1]}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
