"""Turns placed tones into bars of notes: rests between them, ties over bar lines, accidentals as they are written."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.control import Check, unchecked
from engine.score import Note, Pitch
from engine.sketch.rhythm import STEPS_PER_WHOLE

HOLD = "_"  # under a note that goes on with the syllable before it
LENGTHS = (24, 16, 12, 8, 6, 4, 3, 2, 1)  # steps one note head can show, with a dot at most


@dataclass(frozen=True, slots=True)
class Tone:
    """A sounding note at `start` for `span` steps (sixteenths from the start of the song)."""

    start: int
    span: int
    step: str
    octave: int
    alter: int
    lyric: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What of a tone (or of a rest, with none) one note head shows."""

    span: int
    tone: Tone | None = None
    first: bool = True
    tie: bool = False


def engrave(
    tones: Sequence[Tone],
    bars: int,
    bar_steps: int,
    signature: Mapping[str, int],
    check: Check = unchecked,
) -> tuple[tuple[Note, ...], ...]:
    """The notes of each of `bars` bars; `tones` are in order and do not overlap. `check` is called for every bar."""
    engraved = []
    for bar in range(bars):
        check()
        engraved.append(tuple(_notes(_pieces(tones, bar * bar_steps, (bar + 1) * bar_steps), signature)))
    return tuple(engraved)


def _pieces(tones: Sequence[Tone], start: int, end: int) -> Iterator[_Piece]:
    earliest = bisect_right(tones, start, key=lambda tone: tone.start + tone.span)
    inside = tones[earliest : bisect_left(tones, end, key=lambda tone: tone.start)]
    if not inside:
        yield _Piece(end - start)  # a bar's rest, however long the bar
        return
    place = start
    for tone in inside:
        yield from (_Piece(span) for span in _heads(tone.start - place))
        begin, finish = max(tone.start, start), min(tone.start + tone.span, end)
        place = begin
        for span in _heads(finish - begin):
            first, place = place == tone.start, place + span
            yield _Piece(span, tone, first, tie=place < tone.start + tone.span)
    yield from (_Piece(span) for span in _heads(end - place))


def _heads(steps: int) -> Iterator[int]:
    while steps > 0:
        longest = next(length for length in LENGTHS if length <= steps)
        yield longest
        steps -= longest


def _notes(pieces: Iterator[_Piece], signature: Mapping[str, int]) -> Iterator[Note]:
    """Notes of one bar. An accidental is written wherever another octave's could be taken to hold, too."""
    sounding: dict[str, dict[int, int]] = {}
    for piece in pieces:
        duration = Fraction(piece.span, STEPS_PER_WHOLE)
        tone = piece.tone
        if tone is None:
            yield Note((), duration)
            continue
        heard = sounding.setdefault(tone.step, {})
        usual = signature.get(tone.step, 0)
        clear = {heard.get(tone.octave, usual), *(heard.values() or [usual])} == {tone.alter}
        heard[tone.octave] = tone.alter
        pitch = Pitch(tone.step, tone.octave, tone.alter, None if clear else tone.alter)
        lyric = tone.lyric if piece.first or not tone.lyric else HOLD
        yield Note((pitch,), duration, tie=piece.tie, lyric=lyric)
