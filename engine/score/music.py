"""What the tokens of a line of music mean: notes, lengths, bar lines, added to a draft of the voice.

Grace notes take their pitch from the bar like other notes and have no length. A bar line ends a tuplet.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from engine.score.chords import is_chord_symbol
from engine.score.draft import DraftNote, DraftVoice
from engine.score.keys import ACCIDENTALS
from engine.score.lexer import Token, TokenKind
from engine.score.model import Note, Pitch
from engine.score.place import MAX_BARS, MAX_NOTES, MAX_REPEATS, Place, checked_duration, number

_HEAD = re.compile(r"(\^\^|\^|__|_|=)?([A-Ga-g])([',]*)([0-9]*)(/*)([0-9]*)")
_COMPOUND = (6, 9, 12)
_MAX_OCTAVE_MARKS = 8
_MAX_GRACE_NOTES = 64


def read_length(digits: str, slashes: str, below: str, place: Place) -> Fraction:
    """A length in units: `2`, `/`, `//`, `3/2`, or nothing for 1."""
    above = number(digits, place, "the length") if digits else 1
    if not slashes:
        return Fraction(above)
    if (below and len(slashes) > 1) or len(slashes) > 10:
        raise place.fault("Write the length like 2, /2, 3/2 or //.")
    return Fraction(above, number(below, place, "the length") if below else 2 ** len(slashes))


def read_passes(text: str, place: Place) -> tuple[int, ...]:
    """The passes of an alternative ending: `1`, `1,3` or `1-3`."""
    passes: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        start = number(first, place, "the ending", MAX_REPEATS)
        passes.update(range(start, (number(last, place, "the ending", MAX_REPEATS) if dash else start) + 1))
    if not passes:
        raise place.fault("Write the ending like [1, [2 or [1,3.")
    return tuple(sorted(passes))


class Music:
    """Reads tokens into one voice at a time; owner of what is pending between two tokens."""

    def __init__(self) -> None:
        self.notes_read = 0
        self._factor = Fraction(1)  # of the notes of the open tuplet
        self._tuplet_left = 0
        self._tuplet: Place | None = None  # set until the tuplet has its first note
        self._broken: tuple[Fraction, Place] | None = None  # factor of the note that comes next
        self._grace: tuple[Pitch, ...] = ()
        self._chord: Place | None = None  # where the open bracket chord began
        self._heads: list[tuple[Pitch, Fraction]] = []
        self._chord_tied = False
        self._actions: Mapping[TokenKind, Callable[[DraftVoice, Token], None]] = {
            TokenKind.NOTE: self._note,
            TokenKind.REST: self._rest,
            TokenKind.BAR_REST: self._bar_rest,
            TokenKind.CHORD_OPEN: self._open_chord,
            TokenKind.CHORD_CLOSE: self._close_chord,
            TokenKind.BAR: self._bar_line,
            TokenKind.ENDING: self._start_ending,
            TokenKind.TUPLET: self._start_tuplet,
            TokenKind.GRACE: self._read_grace,
            TokenKind.SYMBOL: self._symbol,
            TokenKind.TIE: self._tie,
            TokenKind.BROKEN: self._break_rhythm,
            TokenKind.OVERLAY: self._overlay,
        }

    def read(self, voice: DraftVoice, token: Token) -> None:
        """Take one token; spaces, slurs, decorations and spacers say nothing about pitch or time."""
        if self._chord and token.kind in (
            TokenKind.BAR,
            TokenKind.ENDING,
            TokenKind.BAR_REST,
            TokenKind.CHORD_OPEN,
        ):
            self.end_line()
        if action := self._actions.get(token.kind):
            action(voice, token)

    def end_line(self) -> None:
        """Complain about what cannot go on in the next line."""
        if self._chord:
            raise self._chord.fault("Close the chord with ].")

    def leave_voice(self) -> None:
        """Complain about what cannot go on in another voice, and forget grace notes without a note."""
        self.end_bar()
        self._grace = ()

    def end_bar(self) -> None:
        """Complain about what cannot go on in the next bar."""
        self.end_line()
        if self._broken:
            raise self._broken[1].fault("Write a note on both sides of > or <.")
        if self._tuplet:
            raise self._tuplet.fault("Write the notes of the tuplet after it.")
        self._factor, self._tuplet_left = Fraction(1), 0

    def _count(self, place: Place) -> None:
        self.notes_read += 1
        if self.notes_read > MAX_NOTES:
            raise place.fault(f"Shorten the score to {MAX_NOTES} notes.")

    def _pitch(self, voice: DraftVoice, match: re.Match[str], place: Place) -> Pitch:
        self._count(place)
        step, marks = match[2].upper(), match[3]
        if len(marks) > _MAX_OCTAVE_MARKS:
            raise place.fault("Use fewer octave marks; notes go from C,,,,, to g'''''.")
        octave = (5 if match[2].islower() else 4) + marks.count("'") - marks.count(",") + voice.staff.octaves
        written = ACCIDENTALS[match[1]] if match[1] else None
        if written is not None:
            voice.accidentals.mark(step, octave, written)
        pitch = Pitch(step, octave, voice.accidentals.expected(step, octave), written)
        if not 0 <= pitch.midi + voice.staff.semitones <= 127:
            raise place.fault("Choose a note between C,,,,, and g''''', the range of MIDI.")
        return pitch

    def _note(self, voice: DraftVoice, token: Token) -> None:
        match = _HEAD.fullmatch(token.text)
        if match is None:
            raise token.place.fault("Write the note like C, ^f or B,2.")
        pitch = self._pitch(voice, match, token.place)
        length = read_length(match[4], match[5], match[6], token.place)
        if self._chord:
            self._heads.append((pitch, length))
        else:
            self._add(voice, (pitch,), length, token.place)

    def _rest(self, voice: DraftVoice, token: Token) -> None:
        if self._chord:
            raise token.place.fault("Leave rests out of a bracket chord.")
        self._count(token.place)
        length = _trailing_length(token, 1)
        self._add(voice, (), length, token.place, invisible=token.text[0] == "x")

    def _add(
        self,
        voice: DraftVoice,
        pitches: tuple[Pitch, ...],
        length: Fraction,
        place: Place,
        invisible: bool = False,
    ) -> None:
        duration = length * voice.unit * self._factor
        if self._broken:
            duration, self._broken = duration * self._broken[0], None
        self._tuplet = None
        if self._tuplet_left:
            self._tuplet_left -= 1
            self._factor = self._factor if self._tuplet_left else Fraction(1)
        grace, self._grace = (self._grace, ()) if pitches else ((), self._grace)
        duration = checked_duration(duration, place)
        voice.add(DraftNote(pitches, duration, place, invisible, grace))
        voice.accidentals.leave(Note(pitches, duration))

    def _bar_rest(self, voice: DraftVoice, token: Token) -> None:
        count = number(token.text[1:] or "1", token.place, "the number of bars", MAX_BARS)
        self.end_bar()
        self.notes_read += count - 1
        self._count(token.place)
        voice.add_full_rests(count, token.text[0] == "X", token.place)

    def _open_chord(self, voice: DraftVoice, token: Token) -> None:
        self._chord, self._heads, self._chord_tied = token.place, [], False

    def _close_chord(self, voice: DraftVoice, token: Token) -> None:
        if not self._chord or not self._heads:
            raise token.place.fault("Put the notes of a chord between [ and ].")
        length = self._heads[0][1] * _trailing_length(token, 1)
        place, self._chord = self._chord, None
        self._add(voice, tuple(pitch for pitch, _ in self._heads), length, place)
        if self._chord_tied:
            self._tie(voice, token)

    def _bar_line(self, voice: DraftVoice, token: Token) -> None:
        self.end_bar()
        match = re.fullmatch(r"\.?([^0-9]*)([0-9,\-]*)", token.text)
        sign = match[1] if match else ""
        before = len(sign) - len(sign.lstrip(":"))
        after = len(sign) - len(sign.rstrip(":"))
        if ":" in sign.strip(":"):
            raise token.place.fault("Write a repeat as |: where it begins and :| where it ends.")
        if before == len(sign):  # `::` ends one passage and starts the next
            before, after = before // 2, before - before // 2
        if before >= MAX_REPEATS:
            raise token.place.fault(f"Play a passage at most {MAX_REPEATS} times.")
        voice.bar_line(before + 1 if before else 0, after > 0, len(sign.strip(":")) > 1)
        self._check_bars(voice, token.place)
        if match and match[2]:
            voice.start_ending(read_passes(match[2], token.place))

    def _check_bars(self, voice: DraftVoice, place: Place) -> None:
        if len(voice.bars) > MAX_BARS:
            raise place.fault(f"Shorten the score to {MAX_BARS} bars.")

    def _start_ending(self, voice: DraftVoice, token: Token) -> None:
        self.end_bar()
        voice.start_ending(read_passes(token.text[1:], token.place))

    def _start_tuplet(self, voice: DraftVoice, token: Token) -> None:
        parts = token.text[1:].split(":")
        notes = number(parts[0], token.place, "the tuplet", 64)
        if notes == 1:
            raise token.place.fault("Give the tuplet at least 2 notes.")
        compound = voice.meter[0] in _COMPOUND and voice.meter[1] >= 8
        usual = {2: 3, 3: 2, 4: 3, 6: 2, 8: 3}.get(notes, 3 if compound else 2)
        time = number(parts[1], token.place, "the tuplet", 64) if len(parts) > 1 and parts[1] else usual
        count = number(parts[2], token.place, "the tuplet", 64) if len(parts) > 2 and parts[2] else notes
        if self._tuplet:
            raise self._tuplet.fault("Write the notes of the tuplet after it.")
        self._factor, self._tuplet_left, self._tuplet = Fraction(time, notes), count, token.place

    def _read_grace(self, voice: DraftVoice, token: Token) -> None:
        text, graces, position = token.text[1:-1], list(self._grace), 0
        while position < len(text):
            match = _HEAD.match(text, position)
            place = token.place.after(position + 1)
            if match:
                graces.append(self._pitch(voice, match, place))
            elif text[position] not in " \t/()-.~<>[]":
                raise place.fault("Write only notes between { and }.")
            position = match.end() if match else position + 1
        if len(graces) > _MAX_GRACE_NOTES:
            raise token.place.fault(f"Write at most {_MAX_GRACE_NOTES} grace notes before a note.")
        self._grace = tuple(graces)

    def _symbol(self, voice: DraftVoice, token: Token) -> None:
        text = token.text[1:-1].split(";")[0].strip()
        if is_chord_symbol(text):
            voice.add_chord(text)

    def _tie(self, voice: DraftVoice, token: Token) -> None:
        if self._chord:
            self._chord_tied = bool(self._heads)
        elif (note := voice.last) and note.pitches:
            note.tie = True
            voice.accidentals.leave(Note(note.pitches, note.duration, tie=True))

    def _break_rhythm(self, voice: DraftVoice, token: Token) -> None:
        note, count = voice.last, len(token.text)
        if note is None or note.whole_bar or self._broken or self._chord:
            raise token.place.fault("Write a note on both sides of > or <.")
        if count > 3:
            raise token.place.fault("Use at most three > or < in a row.")
        short = Fraction(1, 2**count)
        first, second = (2 - short, short) if token.text[0] == ">" else (short, 2 - short)
        voice.stretch(note, first)
        self._broken = (second, token.place)

    def _overlay(self, voice: DraftVoice, token: Token) -> None:
        self.end_bar()
        voice.start_overlay(token.place)


def _trailing_length(token: Token, start: int) -> Fraction:
    match = re.fullmatch(r"([0-9]*)(/*)([0-9]*)", token.text[start:])
    if match is None:
        raise token.place.fault("Write the length like 2, /2, 3/2 or //.")
    return read_length(match[1], match[2], match[3], token.place)
