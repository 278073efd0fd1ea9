"""`Score` to ABC text in the dialect of YuE2.

Groups of up to four bars, each voice in turn; section names as comments before a group; whole bars of rest as `Z`.
What the dialect does not have (repeats, triplets, other voices, lyrics) is written in ordinary ABC.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from engine.control import Check, unchecked
from engine.score.chords import is_chord_symbol
from engine.score.keys import ACCIDENTAL_TEXTS, Accidentals, key_named
from engine.score.lyrics import HOLD, join_words
from engine.score.model import Bar, ChordSymbol, Note, Pitch, Score, Voice
from engine.score.sections import written_section
from engine.score.states import meters_along

GROUP = 4  # bars of a line
DIALECT_VOICES = ("Vocal", "Ins")
_SILENCE = Note((), Fraction(1))
_UNWRITABLE = re.compile(r'["%;\x00-\x1f]')


def write(score: Score, check: Check = unchecked) -> str:
    """The score as ABC text that `parse` reads back as the same score.

    A chord symbol inside a note divides the note by a tie. Characters that the notation cannot hold are left out of
    titles, names and lyrics. `check` is called for every line and stops the work by raising.
    """
    lines = _header(score)
    writers = [_VoiceWriter(score, voice) for voice in score.voices]
    names = {section.bar: section.name for section in score.sections}
    in_dialect = is_dialect_shape(score)
    for first, after in _groups(score.bar_count, sorted(names)):
        if in_dialect and first in names:
            lines += [f"% {name}" for name in [written_section(names[first])] if name]
        part = "" if in_dialect else _plain(names.get(first, ""))
        for writer in writers:
            check()
            body = writer.lines(first, after)
            if body:
                lines += [f"V: {writer.voice.id}", *([f"P:{part}"] if part else []), *body]
                part = ""
    return "\n".join(lines) + "\n"


def is_dialect_shape(score: Score) -> bool:
    """Whether the voices are those of the dialect and equally long."""
    ids = tuple(voice.id for voice in score.voices)
    return ids == DIALECT_VOICES and len({len(voice.bars) for voice in score.voices}) == 1


def _header(score: Score) -> list[str]:
    lines = [
        "X:1",
        f"T:{_plain(score.title)}",
        f"M:{score.meter[0]}/{score.meter[1]}",
        f"L:{score.unit}",
        f"Q:1/4={_tempo(score.tempo_bpm)}",
    ]
    for voice in score.voices:
        attributes = f" clef={voice.clef}" if voice.clef else ""
        attributes += f' name="{_quoted(voice.name)}"' if voice.name else ""
        attributes += f' snm="{_quoted(voice.short_name)}"' if voice.short_name else ""
        lines.append(f"V: {voice.id}{attributes}")
    return [*lines, f"K:{score.key}"]


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("%", r"\%")


def _quoted(text: str) -> str:
    return _plain(text.replace('"', "'"))


def _tempo(bpm: float) -> str:
    return str(int(bpm)) if bpm == int(bpm) else repr(bpm)


def _groups(bars: int, section_bars: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First bar and bar after the last of each group; a section begins a group."""
    edges = sorted({0, bars, *(bar for bar in section_bars if 0 < bar < bars)})
    for first, end in pairwise(edges):
        for start in range(first, end, GROUP):
            yield start, min(start + GROUP, end)


class _VoiceWriter:
    """Writes one voice from bar to bar; owner of the accidentals that hold along it."""

    def __init__(self, score: Score, voice: Voice) -> None:
        self.voice = voice
        self._unit = score.unit
        self._accidentals = Accidentals(key_named(score.key).signature)
        self._full_bars = [Fraction(*meter) for meter in meters_along(score)]

    def lines(self, first: int, after: int) -> list[str]:
        """The line of music for some bars, and the lyrics under it; nothing where the voice has ended."""
        after = min(after, len(self.voice.bars))
        if first >= after:
            return []
        text, index = "", first
        sung: list[Note] = []
        while index < after:
            count = self._full_rests(index, after)
            if count:
                text += f"Z{count}" if count > 1 else "Z"
                self._accidentals.leave(_SILENCE)
                self._accidentals.start_bar()
                index += count
            else:
                notes = divided(self.voice.bars[index])
                sung += [note for note, _ in notes if note.pitches]
                text += self._bar(index, notes)
                index += 1
            text += self._bar_line(index - 1)
        return [text, *_words(sung)]

    def _full_rests(self, index: int, after: int) -> int:
        """How many bars from here are nothing but a whole rest each."""
        count = 0
        while index + count < after and self._is_full_rest(index + count):
            count += 1
        return count

    def _is_full_rest(self, index: int) -> bool:
        return self.voice.bars[index] in (Bar(), Bar((Note((), self._full_bars[index]),)))

    def _bar(self, index: int, notes: Sequence[tuple[Note, str]]) -> str:
        bar = self.voice.bars[index]
        before = self.voice.bars[index - 1] if index else Bar()
        text = "|:" if bar.repeat_start else ""
        if bar.ending and (before.ending != bar.ending or before.repeat_end or bar.repeat_start):
            text += "[" + ",".join(map(str, bar.ending))
        text += f"[M:{bar.meter[0]}/{bar.meter[1]}]" if bar.meter else ""
        text += f"[Q:1/4={_tempo(bar.tempo_bpm)}]" if bar.tempo_bpm else ""
        if bar.key:
            text += f"[K:{bar.key}]"
            self._accidentals.change_key(key_named(bar.key).signature)
        text += self._notes(notes, self._full_bars[index])
        self._accidentals.start_bar()
        return text

    def _notes(self, notes: Sequence[tuple[Note, str]], full_bar: Fraction) -> str:
        if not notes:
            self._accidentals.leave(_SILENCE)
            return "Z"
        if len(notes) == 1 and notes[0][0].is_rest and notes[0][0].duration == full_bar and not notes[0][1]:
            self._accidentals.leave(notes[0][0])
            return "X" if notes[0][0].invisible else "Z"
        text, left, factor = "", 0, Fraction(1)
        lengths = [note.duration / self._unit for note, _ in notes]
        for position, (note, chord) in enumerate(notes):
            if not left and (left := triplet_at(lengths, position)):
                text += "(3" if left == 3 else f"(3:2:{left}"
            factor = Fraction(3, 2) if left else Fraction(1)
            left = max(0, left - 1)
            text += (f'"{chord}"' if chord else "") + self._note(note, lengths[position] * factor)
        return text

    def _note(self, note: Note, length: Fraction) -> str:
        grace = "".join(self._head(pitch) for pitch in note.grace)
        heads = [self._head(pitch) for pitch in note.pitches]
        head = (
            heads[0]
            if len(heads) == 1
            else f"[{''.join(heads)}]"
            if heads
            else "x"
            if note.invisible
            else "z"
        )
        self._accidentals.leave(note)
        tie = "-" if note.tie and note.pitches else ""
        return ("{" + grace + "}" if grace else "") + head + _length(length) + tie

    def _head(self, pitch: Pitch) -> str:
        sign = ""
        if pitch.written is not None or self._accidentals.expected(pitch.step, pitch.octave) != pitch.alter:
            self._accidentals.mark(pitch.step, pitch.octave, pitch.alter)
            sign = ACCIDENTAL_TEXTS[pitch.alter]
        high = pitch.octave >= 5
        marks = "'" * (pitch.octave - 5) if high else "," * (4 - pitch.octave)
        return sign + (pitch.step.lower() if high else pitch.step) + marks

    def _bar_line(self, index: int) -> str:
        bar = self.voice.bars[index]
        if bar.repeat_end:
            return ":" * max(1, bar.repeat_end - 1) + "|"
        following = self.voice.bars[index + 1] if index + 1 < len(self.voice.bars) else bar
        return "||" if bar.ending and following.ending != bar.ending else "|"


def divided(bar: Bar) -> list[tuple[Note, str]]:
    """The notes of a bar, each with the chord symbol at its start; a symbol inside a note divides it by a tie."""
    symbols = {symbol.offset: _chord_text(symbol) for symbol in bar.chords}
    symbols = {offset: text for offset, text in symbols.items() if text}
    starts = sorted(symbols)
    offset, pieces = Fraction(0), []
    for note in bar.notes:
        end = offset + note.duration
        cuts = [offset, *starts[bisect_right(starts, offset) : bisect_left(starts, end)], end]
        for start, stop in pairwise(cuts):
            piece = replace(note, duration=stop - start, tie=(stop < end or note.tie) and bool(note.pitches))
            piece = piece if start == offset else _continued(piece)
            pieces.append((piece, symbols.get(start, "")))
        offset = end
    return pieces


def _continued(note: Note) -> Note:
    pitches = tuple(replace(pitch, written=None) for pitch in note.pitches)
    return replace(note, pitches=pitches, grace=(), lyric=HOLD if note.lyric else "")


def _chord_text(symbol: ChordSymbol) -> str:
    text = " ".join(_UNWRITABLE.sub(" ", symbol.text).split())
    return text if is_chord_symbol(text) else ""


def triplet_at(lengths: Sequence[Fraction], position: int) -> int:
    """How many notes from here form a group of triplets: until their sum is free of thirds; 0 where none begins."""
    if lengths[position].denominator % 3:
        return 0
    total, count = Fraction(0), 0
    for length in lengths[position : position + 64]:
        total += length
        count += 1
        if total.denominator % 3:
            break
    return count


def _length(length: Fraction) -> str:
    above, below = length.numerator, length.denominator
    return ("" if above == 1 else str(above)) + ("" if below == 1 else f"/{below}")


def _words(notes: Sequence[Note]) -> list[str]:
    """The `w:` lines under a line of music, one a verse."""
    verses = max((note.lyric.count("\n") + 1 for note in notes if note.lyric), default=0)
    lines = []
    for verse in range(verses):
        words = [(note.lyric.split("\n") + [""] * verses)[verse] for note in notes]
        lines.append("w: " + join_words(words, trimmed=verses == 1))
    return lines
