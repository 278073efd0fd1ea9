"""The score dialect of YuE2: what it asks of a score, and a score brought into its shape."""

from dataclasses import replace
from fractions import Fraction

from engine.errors import ScoreError
from engine.score.model import Bar, ChordSymbol, Note, Score, Voice
from engine.score.repeats import unroll
from engine.score.states import meters_along
from engine.score.writer import DIALECT_VOICES

_NAMES = {"Vocal": ("Vocal Melody", "Vocal"), "Ins": ("Ins Melody", "Inst.")}


def validate(score: Score) -> None:
    """Check a score against the dialect; raises ScoreError at the first fault.

    Two voices, `Vocal` and `Ins`, with equally many bars, every bar as long as the meter says, no repeat signs.
    Notes must lie in MIDI's range.
    """
    ids = tuple(voice.id for voice in score.voices)
    if ids != DIALECT_VOICES:
        raise ScoreError(
            f"Write two voices, V: Vocal and V: Ins; the score has {', '.join(ids) or 'none'}.", 1, 1
        )
    vocal, instruments = score.voices
    if not vocal.bars:
        raise ScoreError("Write at least one bar.", 1, 1)
    if len(vocal.bars) != len(instruments.bars):
        longer, shorter = sorted(score.voices, key=lambda voice: -len(voice.bars))
        counts = f"{len(longer.bars)} bars in {longer.id}, {len(shorter.bars)} in {shorter.id}"
        raise _fault_at(
            longer.bars[len(shorter.bars)], f"Give both voices the same number of bars; there are {counts}."
        )
    for voice in score.voices:
        for index, (bar, meter) in enumerate(zip(voice.bars, meters_along(score), strict=True)):
            _check_bar(voice, index, bar, meter)


def _check_bar(voice: Voice, index: int, bar: Bar, meter: tuple[int, int]) -> None:
    where = f"bar {index + 1} of {voice.id}"
    if bar.repeat_start or bar.repeat_end or bar.ending:
        raise _fault_at(bar, f"Write repeated bars out; {where} has a repeat sign.")
    full = Fraction(*meter)
    if bar.duration != full:
        raise _fault_at(bar, _miscounted(where, bar.duration, meter))
    for note in bar.notes:
        if any(not 0 <= pitch.midi <= 127 for pitch in (*note.pitches, *note.grace)):
            raise ScoreError(
                f"Move the note in {where} into the range of MIDI.", note.line or 1, note.column or 1
            )


def _miscounted(where: str, duration: Fraction, meter: tuple[int, int]) -> str:
    beats = duration * meter[1]
    counted = f"{beats}/{meter[1]}" if beats.denominator == 1 else f"{duration}"
    fits = f"{counted} where {meter[0]}/{meter[1]} fit"
    if duration > Fraction(*meter):
        return f"Shorten {where}, which is too long: {fits}."
    return f"Fill {where}, which is too short, if only with a rest: {fits}."


def _fault_at(bar: Bar, message: str) -> ScoreError:
    note = bar.notes[0] if bar.notes else None
    return ScoreError(message, (note and note.line) or 1, (note and note.column) or 1)


def to_dialect(score: Score) -> Score:
    """Any score in the dialect's shape: repeats played out, first voice as `Vocal`, second (or rests) as `Ins`.

    Short bars are filled with rests, before the music in the first bar (a pick-up), after it elsewhere. Chord symbols of
    all voices go to `Vocal`. Raises ScoreError where there is no music or a bar is longer than its meter.
    """
    played = unroll(score)
    if not played.bar_count:
        raise ScoreError("Write at least one bar.", 1, 1)
    meters = meters_along(played)
    by_id = {voice.id: voice for voice in played.voices}
    if set(DIALECT_VOICES) <= by_id.keys():
        sources = [by_id[name] for name in DIALECT_VOICES]
    else:
        sources = list(played.voices[:2])
    silent = Voice("", tuple(Bar((Note((), bar.duration),)) for bar in sources[0].bars))
    chords = [_chords_at(played, index) for index in range(played.bar_count)]
    voices = []
    for name, voice in zip(DIALECT_VOICES, [*sources, silent], strict=False):
        bars = [
            replace(bar, chords=row if name == "Vocal" else ())
            for bar, row in zip(voice.bars, chords, strict=True)
        ]
        filled = (
            _filled(bar, Fraction(*meter), bar is bars[0]) for bar, meter in zip(bars, meters, strict=True)
        )
        voices.append(Voice(name, tuple(filled), *_NAMES[name]))
    shaped = played.with_voices(tuple(voices))
    validate(shaped)
    return shaped


def _chords_at(score: Score, index: int) -> tuple[ChordSymbol, ...]:
    """The chord symbols of a bar, from the first voice that has any there."""
    return next((voice.bars[index].chords for voice in score.voices if voice.bars[index].chords), ())


def _filled(bar: Bar, full: Fraction, pick_up: bool) -> Bar:
    missing = full - bar.duration
    if missing <= 0:
        return bar
    if all(note.is_rest for note in bar.notes):
        return replace(bar, notes=(Note((), full),))
    rest = Note((), missing)
    if not pick_up:
        return replace(bar, notes=(*bar.notes, rest))
    chords = tuple(ChordSymbol(chord.text, chord.offset + missing) for chord in bar.chords)
    return replace(bar, notes=(rest, *bar.notes), chords=chords)
