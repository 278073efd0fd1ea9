"""Scores of the dialect at random, spelled as a reader would find them."""

from fractions import Fraction

from hypothesis import strategies as st

from engine.score import Bar, ChordSymbol, Note, Pitch, Score, Section, Voice
from engine.score.keys import Accidentals, key_named

_HEAD = st.tuples(st.sampled_from("CDEFGAB"), st.integers(3, 6), st.none() | st.integers(-2, 2))
_WORDS = st.sampled_from(["", "", "la", "hel-", "lo", "_", "of the", "well-known", "über"])
_CHORDS = st.sampled_from(["Em", "Cmaj7", "F#m7b5", "Am7/G", "N.C.", "Bb"])


@st.composite
def _lengths(draw: st.DrawFn, full: int) -> list[int]:
    """Lengths in units that fill a bar of `full` units."""
    left = full
    lengths: list[int] = []
    while left:
        lengths.append(draw(st.integers(1, min(left, 16)) if len(lengths) < 6 else st.just(left)))
        left -= lengths[-1]
    return lengths


@st.composite
def _bars(draw: st.DrawFn, count: int, full: int, unit: Fraction, key: str, vocal: bool) -> tuple[Bar, ...]:
    accidentals, bars = Accidentals(key_named(key).signature), []
    for _ in range(count):
        if draw(st.booleans()):
            bars.append(Bar((Note((), full * unit),)))
            accidentals.leave(Note((), unit))
            continue
        notes, chords, offset = [], [], Fraction(0)
        for length in draw(_lengths(full)):
            pitches = []
            for step, octave, written in draw(st.lists(_HEAD, max_size=2, unique_by=lambda head: head[:2])):
                if written is not None:
                    accidentals.mark(step, octave, written)
                pitches.append(Pitch(step, octave, accidentals.expected(step, octave), written))
            note = Note(
                tuple(pitches),
                length * unit,
                tie=bool(pitches) and draw(st.booleans()),
                lyric=draw(_WORDS) if pitches and vocal else "",
            )
            if vocal and draw(st.booleans()):
                chords.append(ChordSymbol(draw(_CHORDS), offset))
            accidentals.leave(note)
            notes.append(note)
            offset += note.duration
        accidentals.start_bar()
        bars.append(Bar(tuple(notes), tuple(chords)))
    return tuple(bars)


@st.composite
def dialect_scores(draw: st.DrawFn) -> Score:
    """A score of two equally long voices whose bars are full."""
    unit = Fraction(1, draw(st.sampled_from([16, 32])))
    meter = draw(st.sampled_from([(4, 4), (3, 4), (6, 8)]))
    full = int(Fraction(*meter) / unit)
    count = draw(st.integers(1, 6))
    key = draw(st.sampled_from(["Em", "C", "Bbm", "Ddor", "F#"]))
    names = draw(
        st.dictionaries(st.integers(0, count - 1), st.sampled_from(["intro", "verse 2", "Guitar solo"]))
    )
    return Score(
        (
            Voice("Vocal", draw(_bars(count, full, unit, key, True)), "Vocal Melody", "Vocal"),
            Voice("Ins", draw(_bars(count, full, unit, key, False)), "Ins Melody", "Inst."),
        ),
        title=draw(st.sampled_from(["", "A song", "100% you"])),
        meter=meter,
        unit=unit,
        tempo_bpm=draw(st.sampled_from([120.0, 93.5, 100 / 3])),
        key=key,
        sections=tuple(Section(name, bar) for bar, name in sorted(names.items())),
    )
