"""Scores in ABC notation: read, check, write and time them."""

from engine.score.chords import Chord, is_silence, read_chord
from engine.score.clock import beat_of
from engine.score.cuts import excerpt, strip_chords, strip_lyrics
from engine.score.dialect import to_dialect, validate
from engine.score.keys import STEPS, key_named
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
from engine.score.parser import parse, word_faults
from engine.score.place import LONGEST_SECONDS
from engine.score.repeats import unroll
from engine.score.timing import timeline
from engine.score.transposition import transpose
from engine.score.writer import write

__all__ = [
    "LONGEST_SECONDS",
    "STEPS",
    "Bar",
    "Chord",
    "ChordSymbol",
    "Note",
    "Pitch",
    "Score",
    "Section",
    "TimedChord",
    "TimedNote",
    "Timeline",
    "Voice",
    "beat_of",
    "excerpt",
    "is_silence",
    "key_named",
    "parse",
    "read_chord",
    "strip_chords",
    "strip_lyrics",
    "timeline",
    "to_dialect",
    "transpose",
    "unroll",
    "validate",
    "word_faults",
    "write",
]
