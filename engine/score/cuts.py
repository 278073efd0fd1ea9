"""Parts of a score: an excerpt of some bars, a score without its chord symbols or words."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from engine.errors import InvalidRequest
from engine.score.model import Bar, ChordSymbol, Note, Score, Section, Voice
from engine.score.repeats import unroll
from engine.score.states import keys_along, meters_along, tempos_along


def excerpt(score: Score, from_bar: int, bars: int | None = None) -> Score:
    """`bars` bars (fewer at the end, all without a number) of the score as played, from bar `from_bar` (from 1) on.

    Meter, tempo, key, section and chord that hold there are stated at the start; ties out of the excerpt are dropped.
    Raises InvalidRequest where the range holds no bar.
    """
    played = unroll(score)
    count = played.bar_count
    if not 1 <= from_bar <= count:
        raise InvalidRequest(
            "from_bar", f"Choose from_bar between 1 and {count}, the bars of the score as played."
        )
    if bars is not None and bars < 1:
        raise InvalidRequest("bars", "Choose at least one bar.")
    first, after = from_bar - 1, count if bars is None else min(from_bar - 1 + bars, count)
    key = keys_along(played, played.voices[0])[first]
    leader, *others = (_cut_voice(played, voice, first, after, key) for voice in played.voices)
    return Score(
        (_opened_with(_chord_before(played, first), leader, others), *others),
        played.title,
        meters_along(played)[first],
        played.unit,
        tempos_along(played)[first],
        key,
        _cut_sections(played.sections, first, after),
    )


def _cut_voice(score: Score, voice: Voice, first: int, after: int, key: str) -> Voice:
    bars = list(voice.bars[first:after])
    own_key = keys_along(score, voice)[first]
    bars[0] = replace(bars[0], meter=None, tempo_bpm=None, key=None if own_key == key else own_key)
    if bars[-1].notes:
        last = replace(bars[-1].notes[-1], tie=False)
        bars[-1] = replace(bars[-1], notes=(*bars[-1].notes[:-1], last))
    return replace(voice, bars=tuple(bars))


def _chord_before(score: Score, first: int) -> str:
    """The chord that holds at the start of bar `first`; of two at one instant the first voice's, "" for none."""
    placed = [
        (bar, chord.offset, -rank, chord.text)
        for rank, voice in enumerate(score.voices)
        for bar, content in enumerate(voice.bars[:first])
        for chord in content.chords
    ]
    return max(placed)[3] if placed else ""


def _opened_with(chord: str, leader: Voice, others: Sequence[Voice]) -> Voice:
    """The first voice with that chord at its start, unless a voice brings one there itself."""
    opening = [symbol for voice in (leader, *others) for symbol in voice.bars[0].chords]
    if not chord or any(symbol.offset == 0 for symbol in opening):
        return leader
    stated = (ChordSymbol(chord, Fraction(0)), *leader.bars[0].chords)
    return replace(leader, bars=(replace(leader.bars[0], chords=stated), *leader.bars[1:]))


def _cut_sections(sections: Sequence[Section], first: int, after: int) -> tuple[Section, ...]:
    within = [
        Section(section.name, section.bar - first) for section in sections if first < section.bar < after
    ]
    before = [Section(section.name, 0) for section in sections if section.bar <= first]
    return (*before[-1:], *within)


def strip_chords(score: Score) -> Score:
    """The score without chord symbols."""
    return _with_bars(score, lambda bar: replace(bar, chords=()))


def strip_lyrics(score: Score) -> Score:
    """The score without words under its notes."""

    def silent(note: Note) -> Note:
        return replace(note, lyric="") if note.lyric else note

    return _with_bars(score, lambda bar: replace(bar, notes=tuple(map(silent, bar.notes))))


def _with_bars(score: Score, change: Callable[[Bar], Bar]) -> Score:
    return score.with_voices(
        tuple(replace(voice, bars=tuple(map(change, voice.bars))) for voice in score.voices)
    )
