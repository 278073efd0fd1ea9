"""One voice while it is read: bars that still change, until `finish` freezes them."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from engine.control import Check, unchecked
from engine.score.keys import Accidentals, Key, Staff
from engine.score.model import Bar, ChordSymbol, Note, Pitch, Voice
from engine.score.place import MAX_BARS, Place, checked_duration

MAX_OVERLAYS = 4


@dataclass(slots=True)
class DraftNote:
    """A note or rest whose length, tie and syllables may still change; owned by its `DraftVoice`."""

    pitches: tuple[Pitch, ...]
    duration: Fraction
    place: Place
    invisible: bool = False
    grace: tuple[Pitch, ...] = ()
    tie: bool = False
    whole_bar: bool = False  # lasts as long as the bar, whatever the meter will be
    syllables: list[str] = field(default_factory=list)  # one a verse

    def frozen(self, full_bar: Fraction) -> Note:
        """The finished note; `full_bar` is the length of a bar here."""
        duration = full_bar if self.whole_bar else checked_duration(self.duration, self.place)
        lyric = "\n".join(self.syllables) if any(self.syllables) else ""
        return Note(
            self.pitches,
            duration,
            self.tie,
            self.invisible,
            lyric,
            self.grace,
            self.place.line,
            self.place.column,
        )


@dataclass(slots=True)
class DraftBar:
    """A bar in the making; owned by its `DraftVoice`. A chord belongs to a note: (layer, index)."""

    notes: list[DraftNote] = field(default_factory=list)
    chords: dict[tuple[int, int], str] = field(default_factory=dict)
    overlays: list[list[DraftNote]] = field(default_factory=list)
    filled: Fraction = Fraction(0)  # length of `notes` so far
    repeat_start: bool = False
    repeat_end: int = 0
    ending: tuple[int, ...] = ()
    meter: tuple[int, int] | None = None
    key: str | None = None
    tempo_bpm: float | None = None

    def frozen(self, full_bar: Fraction) -> Bar:
        """The finished bar."""
        notes = tuple(note.frozen(full_bar) for note in self.notes)
        length = sum((note.duration for note in notes), Fraction(0))
        chords = self._chord_offsets(full_bar)
        return Bar(
            notes,
            tuple(ChordSymbol(text, offset) for offset, text in sorted(chords.items()) if offset < length),
            self.repeat_start,
            self.repeat_end,
            self.ending,
            self.meter,
            self.key,
            self.tempo_bpm,
        )

    def _chord_offsets(self, full_bar: Fraction) -> dict[Fraction, str]:
        chords: dict[Fraction, str] = {}
        for layer, notes in enumerate([self.notes, *self.overlays]):
            offset = Fraction(0)
            for index, note in enumerate(notes):
                if (layer, index) in self.chords:
                    chords[offset] = self.chords[layer, index]
                offset += full_bar if note.whole_bar else note.duration
        return chords


class DraftVoice:
    """A voice in the making: owner of its bars and of the state that runs along them."""

    def __init__(self, identifier: str, key: Key, meter: tuple[int, int], unit: Fraction) -> None:
        self.id = identifier
        self.name = ""
        self.short_name = ""
        self.staff = Staff()
        self.meter = meter
        self.unit = unit
        self.accidentals = Accidentals(key.signature)
        self.bars: list[DraftBar] = []
        self.bar = DraftBar()
        self.line_number = 0
        self._upcoming = DraftBar()  # changes written inside the open bar, which hold from the next one on
        self.line: list[DraftNote | None] = []  # notes of the last line of music, None at each bar line
        self.verse = 0
        self._ending: tuple[int, ...] = ()

    def adopt(self, staff: Staff) -> None:
        """Clef and transposition of a field, where it names any."""
        if staff.clef or staff.octaves or staff.semitones:
            self.staff = replace(staff, clef=staff.clef or self.staff.clef)

    @property
    def measure(self) -> Fraction:
        """Length of a full bar in whole notes."""
        return Fraction(*self.meter)

    @property
    def ends_full(self) -> bool:
        """Whether the bar that is still open has all its beats."""
        return self.bar.filled >= self.measure

    def add(self, note: DraftNote) -> None:
        """The next note of the bar, or of its overlay."""
        self._notes.append(note)
        if not self.bar.overlays:
            self.bar.filled += note.duration
            self.line.append(note)

    def stretch(self, note: DraftNote, factor: Fraction) -> None:
        """Change the length of the last note of the open bar."""
        if not self.bar.overlays:
            self.bar.filled += note.duration * (factor - 1)
        note.duration *= factor

    @property
    def last(self) -> DraftNote | None:
        """The note before this point of the bar, if any."""
        return self._notes[-1] if self._notes else None

    @property
    def _notes(self) -> list[DraftNote]:
        return self.bar.overlays[-1] if self.bar.overlays else self.bar.notes

    def add_chord(self, text: str) -> None:
        """A chord symbol over the note that comes next; of several the last one stays."""
        layer = len(self.bar.overlays)
        self.bar.chords[layer, len(self._notes)] = text

    def start_overlay(self, place: Place) -> None:
        """Go back to the start of the bar with a further layer of notes."""
        if not self.bar.notes:
            raise place.fault("Write the notes of the bar before the & that adds others to them.")
        if len(self.bar.overlays) >= MAX_OVERLAYS:
            raise place.fault(f"Use at most {MAX_OVERLAYS} overlays in a bar.")
        self.bar.overlays.append([])
        self.accidentals.start_bar()

    def add_full_rests(self, count: int, invisible: bool, place: Place) -> None:
        """`count` bars of rest; the last one stays open for the bar line that follows."""
        if count > MAX_BARS - len(self.bars):
            raise place.fault(f"Shorten the score to {MAX_BARS} bars.")
        for _ in range(count):
            self.close_bar()
            self.add(DraftNote((), self.measure, place, invisible, whole_bar=True))
            self.accidentals.leave(Note((), self.measure))

    def close_bar(self) -> None:
        """End the open bar, if there is anything in it."""
        if not self.bar.notes:
            return
        self.bar.ending = self._ending
        self.bars.append(self.bar)
        self.accidentals.start_bar()
        self.line.append(None)
        chord = self.bar.chords.pop((0, len(self.bar.notes)), None)
        self.bar, self._upcoming = self._upcoming, DraftBar()
        if chord is not None:
            self.bar.chords[0, 0] = chord

    @property
    def changes(self) -> DraftBar:
        """The bar that a change of meter, key or tempo at this point belongs to."""
        return self._upcoming if self.bar.notes else self.bar

    def bar_line(self, played: int, starts_repeat: bool, closes_ending: bool) -> None:
        """A bar line; `played` is how often the passage it ends is played in all, 0 where it ends none."""
        self.close_bar()
        if played and self.bars:
            self.bars[-1].repeat_end = played
        if played or starts_repeat or closes_ending:
            self._ending = ()
        if starts_repeat:
            self.bar.repeat_start = True

    def start_ending(self, passes: tuple[int, ...]) -> None:
        """An alternative ending; one that follows another without a repeat sign in between implies it."""
        self.close_bar()
        if self._ending and self.bars and not self.bars[-1].repeat_end:
            self.bars[-1].repeat_end = 2
        self._ending = passes

    def start_line(self, line_number: int) -> None:
        """Another line of music, which the lyrics below it belong to; nothing new where it is the same line."""
        if line_number != self.line_number:
            self.line_number, self.line, self.verse = line_number, [], 0

    @property
    def layers(self) -> int:
        """How many overlays the bar with most of them has."""
        return max((len(bar.overlays) for bar in self.bars), default=0)

    def finish(self, full_bars: list[Fraction], check: Check = unchecked) -> list[Voice]:
        """The finished voice, and further ones for its overlays; `full_bars` has the length of each bar."""
        bars = []
        for bar, full in zip(self.bars, full_bars, strict=False):
            check()
            bars.append(bar.frozen(full))
        clef = self.staff.clef or "treble"
        voices = [Voice(self.id, tuple(bars), self.name, self.short_name, clef)]
        for layer in range(self.layers):
            check()
            own = (
                bar.overlays[layer] if layer < len(bar.overlays) and bar.overlays[layer] else None
                for bar in self.bars
            )
            extra = tuple(
                Bar(
                    tuple(n.frozen(full) for n in notes)
                    if notes
                    else (Note((), bar.duration, invisible=True),)
                )
                for notes, bar, full in zip(own, bars, full_bars, strict=False)
            )
            voices.append(Voice(f"{self.id}&{layer + 2}", extra, self.name, self.short_name, clef))
        return voices
