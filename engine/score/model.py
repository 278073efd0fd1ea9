"""A score as data: pitches, notes, bars, voices; frozen and free of any notation."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

SEMITONES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


@dataclass(frozen=True, slots=True)
class Pitch:
    """A sounding pitch in scientific octaves (C4 is middle C, MIDI 60)."""

    step: str
    octave: int
    alter: int = 0  # semitones that sound, after key signature and accidentals of the bar
    written: int | None = None  # the accidental as written at this note, None where there is none

    @property
    def midi(self) -> int:
        """MIDI note number."""
        return 12 * (self.octave + 1) + SEMITONES[self.step] + self.alter


@dataclass(frozen=True, slots=True)
class Note:
    """One note, bracket chord or rest; durations are fractions of a whole note as they sound."""

    pitches: tuple[Pitch, ...]  # empty for a rest
    duration: Fraction
    tie: bool = False  # goes on into the next note of the same pitch
    invisible: bool = False  # an `x` rest
    # A syllable, one a verse joined by newlines. A hyphen at its end means that its word goes on with the next one;
    # `_` stands for a note that holds the syllable before it.
    lyric: str = ""
    grace: tuple[Pitch, ...] = ()
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    @property
    def is_rest(self) -> bool:
        """True where nothing sounds."""
        return not self.pitches


@dataclass(frozen=True, slots=True)
class ChordSymbol:
    """A chord name over a bar; `offset` counts whole notes from the start of the bar."""

    text: str
    offset: Fraction


@dataclass(frozen=True, slots=True)
class Bar:
    """What one voice does between two bar lines."""

    notes: tuple[Note, ...] = ()
    chords: tuple[ChordSymbol, ...] = ()
    repeat_start: bool = False
    repeat_end: int = 0  # how often the passage is played in all where this bar ends one, else 0
    ending: tuple[int, ...] = ()  # the passes on which this bar's alternative ending sounds
    meter: tuple[int, int] | None = None  # a change that begins with this bar
    key: str | None = None
    tempo_bpm: float | None = None  # quarter notes a minute

    @property
    def duration(self) -> Fraction:
        """Length in whole notes."""
        return sum((note.duration for note in self.notes), Fraction(0))


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the song that begins at bar `bar` (from 0)."""

    name: str
    bar: int


@dataclass(frozen=True, slots=True)
class Voice:
    """One line of music."""

    id: str
    bars: tuple[Bar, ...]
    name: str = ""
    short_name: str = ""
    clef: str = "treble"


@dataclass(frozen=True, slots=True)
class Score:
    """A whole tune. Tempo is in quarter notes a minute whatever beat it was written in."""

    voices: tuple[Voice, ...]
    title: str = ""
    meter: tuple[int, int] = (4, 4)
    unit: Fraction = Fraction(1, 8)  # the written unit length (`L:`)
    tempo_bpm: float = 120.0
    key: str = "C"
    sections: tuple[Section, ...] = ()

    @property
    def bar_count(self) -> int:
        """Bars of the longest voice, as written."""
        return max((len(voice.bars) for voice in self.voices), default=0)

    def with_voices(self, voices: tuple[Voice, ...]) -> "Score":
        """The same tune with other voices."""
        return replace(self, voices=voices)


@dataclass(frozen=True, slots=True)
class TimedNote:
    """A sounding note in seconds from the start; ties are merged, repeats played out."""

    voice: str
    midi: int
    start: float
    end: float
    bar: int  # index among the bars as played
    lyric: str = ""


@dataclass(frozen=True, slots=True)
class TimedChord:
    """A chord symbol in seconds; `root` and `bass` are pitch classes (C = 0), intervals semitones above the root."""

    text: str
    root: int
    intervals: tuple[int, ...]
    bass: int
    start: float
    end: float
    bar: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """A score unrolled in time. Times are seconds."""

    notes: tuple[TimedNote, ...]
    chords: tuple[TimedChord, ...]
    bars: tuple[tuple[float, float], ...]  # start and end of each bar as played
    beats: tuple[float, ...]  # the instant of every beat
    sections: tuple[tuple[str, float, float], ...]  # name, start, end
    duration: float
    meters: tuple[tuple[int, int], ...]  # of each bar as played
    keys: tuple[str, ...] = ()  # of each bar as played, in the first voice
