"""ABC text to `Score`: the lines of the body, handed to the drafts of the voices.

Reads ABC 2.1 as people write it and the dialect of YuE2. Known limits: `D.C.`, `D.S.` and the play order of a `P:` header are
not played, macros (`m:`) are not expanded, a change of meter or tempo inside a bar holds from the next bar on, and a tie inside
a bracket chord holds for all its notes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from engine.control import Check, unchecked
from engine.errors import ScoreError
from engine.score.clock import clock_of
from engine.score.draft import DraftVoice
from engine.score.fields import FREE_METER, VoiceField, read_meter, read_tempo, read_unit, read_voice
from engine.score.header import Header, read_header
from engine.score.keys import Key, Staff, read_key
from engine.score.lexer import TokenKind, tokens
from engine.score.lines import Line, LineKind, tune_lines
from engine.score.lyrics import align
from engine.score.model import Score, Section, Voice
from engine.score.music import Music
from engine.score.place import MAX_NOTES, MAX_VOICES, Place, most_bars, short
from engine.score.repeats import play_order
from engine.score.sections import section_of_comment
from engine.score.states import in_force
from engine.score.transposition import shift_voice


def parse(text: str, check: Check = unchecked) -> Score:
    """The first tune of an ABC text; raises ScoreError, with line and column, for any text that is none.

    The bounds of `place` are kept: such as 2,000 bars, 20,000 notes and 20 minutes, repeats played out. `check` is
    called for every line, token and bar and stops the work by raising.
    """
    return _read(text, check).finish()


def word_faults(text: str, check: Check = unchecked) -> tuple[ScoreError, ...]:
    """Where `w:` lines have more or fewer syllables than their notes, which `parse` lets pass; raises as it does."""
    return tuple(_read(text, check).word_faults)


def _read(text: str, check: Check) -> "_Body":
    header = read_header(tune_lines(text), check)
    body = _Body(header, check)
    for line in header.body:
        body.take(line)
    return body


class _Body:
    """Reads the lines after the header; owner of the drafts of all voices and of the sections."""

    def __init__(self, header: Header, check: Check) -> None:
        self._header = header
        self.word_faults: list[ScoreError] = []
        self._check = check
        self._voices: dict[str, DraftVoice] = {}
        self._music = Music()
        self._sections: dict[int, str] = {}
        self._line = 0  # counts lines of music; a continued line goes on with the same number
        self._continues = False
        self._last = Place(1, 1)
        for field, place in header.voices:
            self._voice_named(field, place)
        self._voice = next(iter(self._voices.values()), None)
        self._has_sections = {"Vocal", "Ins"} <= self._voices.keys()

    def take(self, line: Line) -> None:
        """Read one line."""
        self._check()
        self._last = line.place
        if line.kind is LineKind.COMMENT:
            if name := section_of_comment(line.text, known_only=not self._has_sections):
                self._start_section(name)
        elif line.kind is LineKind.MUSIC:
            self._read_music(line)
        else:
            self._read_field(line.name, line.text, line.place)

    def _read_music(self, line: Line) -> None:
        self._line += not self._continues
        self._continues = line.text.rstrip().endswith("\\")
        for token in tokens(line.text, line.place):
            self._check()
            if token.kind is TokenKind.FIELD:
                self._read_field(token.text[1], token.text[3:-1], token.place.after(3))
            else:
                self._current().start_line(self._line)
                self._music.read(self._current(), token)
        self._music.end_line()

    def _read_field(self, name: str, text: str, place: Place) -> None:
        if name == "V":
            self._leave_voice()
            self._voice = self._voice_named(read_voice(text, place), place)
        elif name == "w":
            if miscount := align(self._current(), text, place):
                self.word_faults.append(place.fault(miscount))
        elif name == "P":
            self._start_section(short(text, place))
        elif name == "K":
            self._change_key(*read_key(text, place))
        elif name == "L":
            self._current().unit = read_unit(text, place)
        elif name == "M":
            self._change_meter(read_meter(text, place) or FREE_METER)
        elif name == "Q":
            self._change_tempo(read_tempo(text, self._current().unit, place))

    def _change_key(self, key: Key | None, staff: Staff) -> None:
        voice = self._current()
        if key is not None:
            voice.accidentals.change_key(key.signature)
            voice.changes.key = key.text
        voice.adopt(staff)

    def _change_meter(self, meter: tuple[int, int]) -> None:
        self._current().meter = meter
        self._current().changes.meter = meter

    def _change_tempo(self, tempo_bpm: float | None) -> None:
        if tempo_bpm is not None:
            self._current().changes.tempo_bpm = tempo_bpm

    def _current(self) -> DraftVoice:
        if self._voice is None:
            self._voice = self._voice_named(VoiceField("1", None, None, Staff()), Place(1, 1))
        return self._voice

    def _leave_voice(self) -> None:
        """A full bar ends with the turn of its voice even where no bar line is written."""
        self._music.leave_voice()
        if self._voice is not None and self._voice.bar.notes and self._voice.ends_full:
            self._voice.close_bar()

    def _voice_named(self, field: VoiceField, place: Place) -> DraftVoice:
        voice = self._voices.get(field.id)
        if voice is None:
            if len(self._voices) >= MAX_VOICES:
                raise place.fault(f"Use at most {MAX_VOICES} voices.")
            voice = DraftVoice(field.id, self._header.key, self._header.meter, self._header.unit)
            voice.adopt(self._header.staff)
            self._voices[field.id] = voice
        voice.name = voice.name if field.name is None else field.name
        voice.short_name = voice.short_name if field.short_name is None else field.short_name
        voice.adopt(field.staff)
        return voice

    def _start_section(self, name: str) -> None:
        self._leave_voice()
        if name:
            self._sections[len(self._voice.bars) if self._voice else 0] = name

    def finish(self) -> Score:
        """The finished score; raises ScoreError where there is no music or too much of it."""
        self._leave_voice()
        for draft in self._voices.values():
            draft.close_bar()
        drafts = list(self._voices.values())
        meters = in_force(self._header.meter, [[bar.meter for bar in draft.bars] for draft in drafts])
        if not meters:
            raise self._last.fault("Write some music after the key.")
        _check_bars(drafts)
        full_bars = [Fraction(*meter) for meter in meters]
        voices = tuple(
            shift_voice(voice, draft.staff.semitones)
            for draft in drafts
            for voice in draft.finish(full_bars, self._check)
        )
        sections = sorted((bar, name) for bar, name in self._sections.items() if bar < len(meters))
        score = Score(
            _with_own_ids(voices),
            self._header.title,
            self._header.meter,
            self._header.unit,
            self._header.tempo_bpm,
            self._header.key.text,
            tuple(Section(name, bar) for bar, name in sections),
        )
        self._check_size(score)
        return score

    def _check_size(self, score: Score) -> None:
        sizes = [0] * score.bar_count
        for voice in score.voices:
            for index, bar in enumerate(voice.bars):
                sizes[index] += sum(max(1, len(note.pitches)) + len(note.grace) for note in bar.notes)
        order = play_order(score.voices)
        if sum(sizes[played.index] for played in order) > MAX_NOTES:
            raise self._last.fault(
                f"Shorten the score to {MAX_NOTES} notes, repeats counted each time they are played."
            )
        clock_of(score, order)


def _check_bars(drafts: Sequence[DraftVoice]) -> None:
    most = most_bars(sum(1 + draft.layers for draft in drafts))
    for draft in drafts:
        if len(draft.bars) > most:
            raise draft.bars[most].notes[0].place.fault(f"Shorten each voice to {most} bars.")


def _with_own_ids(voices: Iterable[Voice]) -> tuple[Voice, ...]:
    """The voices with the ids of overlays changed where a voice already has them."""
    taken: set[str] = set()
    unique = []
    for voice in voices:
        identifier = voice.id
        while identifier in taken:
            identifier += "&"
        taken.add(identifier)
        unique.append(replace(voice, id=identifier))
    return tuple(unique)
