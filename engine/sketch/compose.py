"""Composes a lead sheet from a style and lyrics: melody with words, a second voice, chords.

Passages of one kind share harmony and musical ideas, so verses differ only by their words and a chorus comes back as
it was. The idea of the chorus is the song's hook: interludes and outro play it, an intro the very notes that are sung.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil
from random import Random

from engine.control import Check, unchecked
from engine.score import Bar, ChordSymbol, Score, Section, Voice
from engine.sketch.engrave import Tone, engrave
from engine.sketch.form import LONGEST_SECONDS, Form, Passage, Phrase, bars_of_words, plan_form
from engine.sketch.harmony import Cadence, Chord, Key, bar_numerals, read_chord, read_key
from engine.sketch.lyrics import LyricSection, Syllable, read_lyrics
from engine.sketch.melody import PLAYED_RANGE, RANGES, Motif, chord_positions, draw_motif, pitch_line, spelled
from engine.sketch.pacing import Times, pace, shortened
from engine.sketch.rhythm import EIGHTH, Grid, anticipated, lengths, onsets
from engine.sketch.style import FASTEST_BPM, SLOWEST_BPM, Style, names_tempo, read_style

KEYS = {
    "major": ("C", "D", "Eb", "E", "F", "G", "A", "Bb"),
    "minor": ("Cm", "C#m", "Dm", "Em", "F#m", "Gm", "Am", "Bm"),
}
HEIGHTS = {"verse": 0.38, "pre-chorus": 0.5, "chorus": 0.6, "bridge": 0.55}
IDEA_ORDER = (0, 1, 0, 2)  # a phrase, its answer, the phrase again, another answer
SLOWING = (0.88, 0.72)  # the tempo of the last bars
SLOWING_BARS = sum(1 / factor - 1 for factor in SLOWING)  # what it adds to a song
FEWEST_SLOWING_BARS = 10
FILL_CHANCE = 0.5
FILL_ROOM = 6  # steps of rest a fill needs
MOST_FILL_TONES = 4


@dataclass(frozen=True, slots=True)
class Music:
    """What all passages of one kind share."""

    progression: str
    motifs: tuple[Motif, ...]
    notes: int  # in a phrase of two bars without words


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for the whole song; each genre and purpose has dice of its own, so that no choice disturbs another."""

    style: Style
    key: Key
    grid: Grid
    seed: int

    def dice(self, purpose: str) -> Random:
        """A fresh source of chance for one purpose."""
        return Random(f"{self.seed}:{self.style.genre.name}:{purpose}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a style and lyrics ask for; `slows` says whether the song may get slower at its end."""

    style: Style
    sections: tuple[LyricSection, ...]
    slows: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where a phrase stands: its bars within a passage's chords, and how it ends."""

    setting: Setting
    chords: Sequence[Chord]
    first_bar: int
    bars: int
    cadence: Cadence

    @property
    def start(self) -> int:
        """The phrase's first step within the passage."""
        return self.first_bar * self.setting.grid.bar

    def chord(self, step: int) -> Chord:
        """What sounds `step` steps into the phrase."""
        return self.chords[self.first_bar + step // self.setting.grid.bar]


@dataclass(frozen=True, slots=True)
class Written:
    """One passage as music; tones in steps from its own start, chords one a bar."""

    chords: tuple[Chord, ...]
    vocal: tuple[Tone, ...]
    ins: tuple[Tone, ...]


def compose(
    style: str,
    lyrics: str,
    seed: int,
    duration_seconds: float,
    chords: bool = True,
    check: Check = unchecked,
) -> Score:
    """A song for any style and any lyrics, the same for the same arguments.

    It lasts at most `duration_seconds`, but one bar at least; where time is short, what nobody asked for goes first,
    then parts without words, then the last words: as many lines are sung as fit. `check` is called every few
    milliseconds and stops the work by raising.
    Where the style asks for no singer, the instrument plays the sections. `chords` writes chord symbols over the voice.
    """
    read = _read(style, lyrics, duration_seconds, check)
    setting = Setting(read.style, _key(read.style, seed), _grid(read.style), seed)
    form, slows = _planned(read, duration_seconds, check)
    passages = form.passages
    kinds = {passage.kind for passage in passages}
    music = {kind: _music(kind, setting) for kind in kinds}
    written = [
        _write(passage, music[passage.kind], setting, _cadence(passage, passages), check)
        for passage in passages
    ]
    written = [_hooked(place, passages, written, setting.grid) for place in range(len(passages))]
    score = _score(passages, written, setting, chords=chords, check=check)
    return _slowed(score) if slows else score


def left_out(
    style: str, lyrics: str, duration_seconds: float, check: Check = unchecked
) -> tuple[int, int, float]:
    """How many lines such a song leaves out for want of time, of how many, and the seconds that would hold them all."""
    read = _read(style, lyrics, duration_seconds, check)
    form, _ = _planned(read, duration_seconds, check)
    lines = sum(len(section.lines) for section in read.sections)
    return form.left_out, lines, form.bars_for_all * _grid(read.style).bar_seconds


@dataclass(frozen=True, slots=True)
class Outlined:
    """A section of a song that is not written yet: its name, its length, and how many lines are sung in it."""

    name: str
    seconds: float
    lines: int


def outline(
    style: str, lyrics: str, duration_seconds: float, check: Check = unchecked
) -> tuple[Outlined, ...]:
    """The sections of the song that `compose` would write, in order; arguments as there."""
    read = _read(style, lyrics, duration_seconds, check)
    form, slows = _planned(read, duration_seconds, check)
    bar = _grid(read.style).bar_seconds
    sections = [
        Outlined(passage.name, passage.bars * bar, sum(phrase.ends_line for phrase in passage.phrases))
        for passage in form.passages
    ]
    if slows:
        sections[-1] = replace(sections[-1], seconds=sections[-1].seconds + SLOWING_BARS * bar)
    return tuple(sections)


def _read(style: str, lyrics: str, duration_seconds: float, check: Check) -> Reading:
    """What was asked for; where headings tell times and no tag tells a tempo, at the near one whose bars fill them."""
    read = read_style(style)
    sections = read_lyrics(lyrics, check)
    if read.instrumental:
        sections = tuple(replace(section, lines=()) for section in sections)
    grid, told = _grid(read), _told(sections)
    needed = bars_of_words(sections, grid, read.genre.shape) if told else ()
    slows = _slows(read, told, needed, duration_seconds)
    if told and not names_tempo(style):
        seconds = min(sum(told), duration_seconds, LONGEST_SECONDS)
        times = Times(told, needed, seconds, SLOWING_BARS if slows else 0.0)
        # Never slower than that, so that the last bar still fits.
        tempo = ceil(read.tempo_bpm * pace(times, grid.bar_seconds) * 100) / 100
        read = replace(read, tempo_bpm=min(max(tempo, SLOWEST_BPM), FASTEST_BPM))
    return Reading(read, sections, slows)


def _told(sections: Sequence[LyricSection]) -> tuple[float, ...]:
    """The times of all sections; nothing unless all tell theirs."""
    told = tuple(section.seconds for section in sections if section.seconds is not None)
    return told if len(told) == len(sections) else ()


def _slows(style: Style, told: Sequence[float], needed: Sequence[int], duration_seconds: float) -> bool:
    """Whether a song of that length gets slower at its end, words and a last section's own time permitting."""
    if not style.genre.shape.slows:
        return False
    seconds = min(sum(told), duration_seconds) if told else duration_seconds
    bars = seconds / _grid(style).bar_seconds
    if told and told[-1] / sum(told) * bars < max(len(SLOWING), needed[-1]) + SLOWING_BARS:
        return False
    return bars >= FEWEST_SLOWING_BARS


def _grid(style: Style) -> Grid:
    return Grid(style.meter, style.tempo_bpm, style.genre.shape.flowing, style.genre.offbeat)


def _planned(read: Reading, duration_seconds: float, check: Check) -> tuple[Form, bool]:
    """The form, and whether it gets slower at its end: in genres that do, where the words have the time."""
    grid, shape = _grid(read.style), read.style.genre.shape
    seconds = min(duration_seconds, LONGEST_SECONDS)
    if read.slows:
        slowing = SLOWING_BARS * grid.bar_seconds
        form = plan_form(_giving_up(read.sections, slowing), grid, seconds - slowing, check, shape)
        if not form.hurried:
            return form, True
    return plan_form(read.sections, grid, seconds, check, shape), False


def _giving_up(sections: Sequence[LyricSection], seconds: float) -> tuple[LyricSection, ...]:
    """The sections, where all tell their times the last one without so many seconds of it."""
    told = _told(sections)
    if not told:
        return tuple(sections)
    lengths = shortened(told, seconds)
    return tuple(replace(part, seconds=length) for part, length in zip(sections, lengths, strict=True))


def _slowed(score: Score) -> Score:
    """The same song with its last two bars slower and slower."""

    def bars(voice: Voice) -> tuple[Bar, ...]:
        kept = len(voice.bars) - len(SLOWING)
        tempi = zip(voice.bars[kept:], SLOWING, strict=True)
        return (
            *voice.bars[:kept],
            *(replace(bar, tempo_bpm=round(score.tempo_bpm * f, 2)) for bar, f in tempi),
        )

    if score.bar_count <= len(SLOWING):
        return score
    return score.with_voices(tuple(replace(voice, bars=bars(voice)) for voice in score.voices))


def _key(style: Style, seed: int) -> Key:
    return read_key(style.key or Random(f"{seed}:{style.genre.name}:key").choice(KEYS[style.mode]))


def _music(kind: str, setting: Setting) -> Music:
    dice = setting.dice(kind)
    choices = setting.style.progressions
    progressions = {
        "verse": choices.verse,
        "chorus": choices.chorus,
        "pre-chorus": choices.bridge,
        "bridge": choices.bridge,
    }
    height = HEIGHTS.get(kind, 0.45)
    motifs = [draw_motif(dice, setting.grid, height) for _ in range(max(IDEA_ORDER) + 1)]
    if kind == "chorus":  # one rhythm throughout makes the hook
        motifs = [replace(motif, weights=motifs[0].weights, pushes=motifs[0].pushes) for motif in motifs]
    return Music(dice.choice(progressions.get(kind, choices.verse)), tuple(motifs), dice.randint(5, 8))


def _cadence(passage: Passage, passages: Sequence[Passage]) -> Cadence:
    if passage is passages[-1]:
        return "end"
    has_chorus = any(other.kind == "chorus" for other in passages)
    leads_on = passage.kind in ("bridge", "pre-chorus") or (passage.kind == "verse" and has_chorus)
    if passage.name == "intro" and _sung_alike(passage, passages) is not None:
        return "open"
    return "half" if leads_on or passage.name == "intro" else "full"


def _sung_alike(passage: Passage, passages: Sequence[Passage]) -> int | None:
    """Which passage is the first of the same music that begins with words; none for one that is sung itself."""
    if any(phrase.syllables for phrase in passage.phrases):
        return None
    alike = (place for place, other in enumerate(passages) if other.kind == passage.kind)
    return next((place for place in alike if passages[place].phrases[0].syllables), None)


def _hooked(place: int, passages: Sequence[Passage], written: Sequence[Written], grid: Grid) -> Written:
    """The passage as it was written, but an intro begins with what is sung to its music first, an octave higher."""
    passage, music = passages[place], written[place]
    model = _sung_alike(passage, passages) if passage.name == "intro" else None
    if model is None:
        return music
    end = min(passages[model].phrases[0].bars, passage.bars) * grid.bar
    hook = [
        replace(tone, octave=tone.octave + 1, lyric="", span=min(tone.span, end - tone.start))
        for tone in written[model].vocal
        if tone.start < end
    ]
    return replace(music, ins=(*hook, *(tone for tone in music.ins if tone.start >= end)))


def _write(passage: Passage, music: Music, setting: Setting, cadence: Cadence, check: Check) -> Written:
    numerals = bar_numerals(music.progression, passage.bars, cadence, setting.style.mode)
    chords = tuple(read_chord(numeral, setting.key) for numeral in numerals)
    vocal: list[Tone] = []
    ins: list[Tone] = []
    bar = 0
    for index, phrase in enumerate(passage.phrases):
        check()
        closing = index == len(passage.phrases) - 1
        motif = music.motifs[IDEA_ORDER[index % len(IDEA_ORDER)]]
        place = Place(setting, chords, bar, phrase.bars, cadence if closing else "open")
        if phrase.syllables:
            sung = _sing(phrase, motif, place)
            vocal += sung
            ins += [] if closing else _fill(sung[-1], place, setting.dice(f"{passage.kind}:fill:{index}"))
        else:
            ins += _play(music.notes, motif, place)
        bar += phrase.bars
    return Written(chords, tuple(vocal), tuple(ins))


def _sing(phrase: Phrase, motif: Motif, place: Place) -> list[Tone]:
    bounds = RANGES[place.setting.style.register]
    words = [_lyric(syllable) for syllable in phrase.syllables]
    return _line(words, motif, place, bounds, phrase)


def _play(notes: int, motif: Motif, place: Place) -> list[Tone]:
    wanted = notes * place.bars // 2 - (0 if place.cadence == "open" else 2)
    count = min(max(wanted, 1), place.setting.grid.capacity(place.bars))
    return _line([""] * count, motif, place, PLAYED_RANGE, Phrase(place.bars))


def _line(
    words: Sequence[str], motif: Motif, place: Place, bounds: tuple[int, int], phrase: Phrase
) -> list[Tone]:
    grid, key = place.setting.grid, place.setting.key
    closing = place.cadence != "open"
    stresses = [syllable.stress for syllable in phrase.syllables]
    starts = onsets(
        grid, len(words), place.bars, motif.weights, upbeat=phrase.upbeat, closing=closing, stresses=stresses
    )
    starts = anticipated(grid, starts, motif.pushes, closing=closing)
    joined = [not syllable.ends_word for syllable in phrase.syllables]
    spans = lengths(grid, starts, place.bars, hold=place.cadence == "end", joined=joined)
    goal = key.tonic if place.cadence in ("full", "end") else ""
    line = pitch_line(motif, grid, starts, spans, place.chord, bounds, goal)
    return [
        Tone(place.start + start, span, *spelled(position, place.chord(start), key), word)
        for start, span, position, word in zip(starts, spans, line, words, strict=True)
    ]


def _lyric(syllable: Syllable) -> str:
    return syllable.text if syllable.ends_word else f"{syllable.text}-"


def _fill(last: Tone, place: Place, dice: Random) -> list[Tone]:
    """A run through the chord while the singer breathes, or nothing."""
    grid = place.setting.grid
    silent = last.start + last.span - place.start
    begin = -(-silent // grid.beat) * grid.beat
    count = min((place.bars * grid.bar - begin) // EIGHTH, MOST_FILL_TONES)
    room = place.bars * grid.bar - silent
    if room < FILL_ROOM or (dice.random() > FILL_CHANCE and room <= grid.bar):
        return []
    rising, first = dice.random() < 0.5, dice.randrange(2)
    tones: list[Tone] = []
    for index in range(count):
        start = begin + index * EIGHTH
        chord = place.chord(start)
        ladder = chord_positions(chord, PLAYED_RANGE)
        rung = first + index
        turned = min(rung, 2 * (len(ladder) - 1) - rung)  # at the last rung it comes back
        position = ladder[turned if rising else -1 - turned]
        tones.append(Tone(place.start + start, EIGHTH, *spelled(position, chord, place.setting.key)))
    return tones


def _score(
    passages: Sequence[Passage], written: Sequence[Written], setting: Setting, *, chords: bool, check: Check
) -> Score:
    grid, key = setting.grid, setting.key
    *offsets, bars = accumulate((passage.bars for passage in passages), initial=0)
    placed = [(part, offset * grid.bar) for part, offset in zip(written, offsets, strict=True)]
    sung = [replace(tone, start=tone.start + steps) for part, steps in placed for tone in part.vocal]
    played = [replace(tone, start=tone.start + steps) for part, steps in placed for tone in part.ins]
    symbols = [
        (ChordSymbol(chord.text, Fraction(0)),) if chords else () for part in written for chord in part.chords
    ]
    vocal = tuple(map(Bar, engrave(sung, bars, grid.bar, key.signature, check), symbols))
    ins = tuple(map(Bar, engrave(played, bars, grid.bar, key.signature, check)))
    return Score(
        voices=(Voice("Vocal", vocal, "Vocal Melody", "Vocal"), Voice("Ins", ins, "Ins Melody", "Inst.")),
        meter=grid.meter,
        unit=Fraction(1, 16),
        tempo_bpm=grid.tempo_bpm,
        key=key.name,
        sections=tuple(
            Section(passage.name, offset) for passage, offset in zip(passages, offsets, strict=True)
        ),
    )
