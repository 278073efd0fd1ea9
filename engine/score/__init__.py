"""Scores in ABC notation: read, check, write and time them."""

from engine.score.model import (
    Bar,
    ChordSymbol,
    Note,
    Pitch,
    Score,
    Section,
    TimedChord,
    TimedNote,
    Timeline,
    Voice,
)

__all__ = [
    "Bar",
    "ChordSymbol",
    "Note",
    "Pitch",
    "Score",
    "Section",
    "TimedChord",
    "TimedNote",
    "Timeline",
    "Voice",
]
