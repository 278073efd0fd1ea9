"""The form of a song: which passages it has, how their lines fall into phrases of whole bars, and how it fits a time.

Where time is short, the intro and outro that nobody asked for go first; then parts without words shrink, words are
sung faster, parts without words go altogether, short lines are given a single bar, and only then are words left out,
from the last line up. Where headings tell times, there are no such intro and outro, and sections are as long as that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import ceil

from engine.control import Check, unchecked
from engine.sketch.lyrics import Line, LyricSection, Syllable, is_upbeat
from engine.sketch.rhythm import FASTEST_RATE, HURRIED_RATE, LONG_BAR_SECONDS, Grid
from engine.sketch.shapes import SONG, Shape
from engine.sketch.sharing import shared_out

LONGEST_SECONDS = 1000.0
LONGEST_OUTRO = 4
SHORT_LINES = 0.7  # share of a kind's lines that must fit a length for its phrases to have it
LONGEST_INTRO_SECONDS = 5.0  # before a singer whom nobody asked to wait
SHORT_INTRO_SECONDS, FEW_LINES = 3.0, 4  # where there is little to sing; such a song is not filled up either


@dataclass(frozen=True, slots=True)
class Phrase:
    """A breath of music: so many bars, the syllables sung to them (none where an instrument plays)."""

    bars: int
    syllables: tuple[Syllable, ...] = ()
    upbeat: bool = False
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A section of the song; passages of one `kind` share their music, and `kind` may be borrowed (an intro's hook)."""

    name: str
    kind: str
    phrases: tuple[Phrase, ...]

    @property
    def bars(self) -> int:
        """Length in bars."""
        return sum(phrase.bars for phrase in self.phrases)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much room a song takes: shares of the shape's lengths, and at most so many bars.

    `framing` is of an intro or outro nobody asked for, `played` of a passage without words; `filled` passages are whole
    periods.
    """

    framing: float
    played: float
    most: int
    filled: bool = False
    hurried: bool = False


EXTENTS = (
    Extent(1, 1, 64, filled=True),
    Extent(0.5, 1, 64, filled=True),
    Extent(0.5, 0.5, 16, filled=True),
    Extent(0, 0.5, 8, filled=True),
    Extent(0, 0.5, 4),
    Extent(0, 0.25, 2),
    Extent(0, 0.25, 2, hurried=True),
    Extent(0, 0, 0, hurried=True),
)
WHOLE_EXTENTS, SHORT_FORM_EXTENTS = EXTENTS[:1], EXTENTS[:5]
UNFRAMED = Extent(0, 1, 64, filled=True)
WORDS_ALONE = Extent(0, 0.25, 2)


@dataclass(frozen=True, slots=True)
class Form:
    """The passages of a song, and what became of its words."""

    passages: tuple[Passage, ...]
    hurried: bool = False  # lines are sung faster than by their own music, or left out
    left_out: int = 0  # lines for which there was no time
    bars_for_all: int = 0  # with which none is left out; nothing where none is

    @property
    def bars(self) -> int:
        """Length in bars."""
        return sum(passage.bars for passage in self.passages)


def plan_form(
    sections: Sequence[LyricSection],
    grid: Grid,
    seconds: float,
    check: Check = unchecked,
    shape: Shape = SONG,
) -> Form:
    """The form of a song of at most `seconds`, but of one bar at least.

    The roomiest extent that fits is taken; where none does, the song stops after the last phrase that fits.
    """
    budget = max(1, int(min(seconds, LONGEST_SECONDS) / grid.bar_seconds + 1e-9))
    heard = _within(sections, budget)
    form = _timed(heard, grid, budget, shape) if any(section.seconds for section in heard) else Form(())
    if form.passages and form.bars <= budget:
        return form
    for extent, passages in _drafts(heard, grid, shape):
        check()
        form = Form(passages, extent.hurried)
        if form.bars <= budget:
            return form
    for rate in (FASTEST_RATE, HURRIED_RATE):
        tight = _tightened(form.passages, grid, budget, rate)
        if tight.bars <= budget and len(heard) == len(sections):
            return tight
    cut = _cut(form.passages, grid, budget)
    lines = sum(len(section.lines) for section in sections)
    sung = sum(phrase.ends_line for passage in cut for phrase in passage.phrases)
    return Form(cut, hurried=True, left_out=lines - sung, bars_for_all=_bars_for_all(sections, grid, shape))


def _timed(sections: Sequence[LyricSection], grid: Grid, budget: int, shape: Shape) -> Form:
    """The sections as long as their headings say, in whole bars, but not shorter than their words.

    Of those that say nothing the length is the usual one. Lines are hurried before a section is too long or goes; the
    form is longer than the budget only where even so the words are.
    """
    usual = _draft(sections, grid, UNFRAMED, shape)
    wanted = [
        passage.bars if section.seconds is None else section.seconds / grid.bar_seconds
        for passage, section in zip(usual, sections, strict=True)
    ]
    sung = _words_alone(sections, grid, shape)
    form = next((form for form in _hurrying(sung, grid, budget) if form.bars <= budget), Form(sung))
    bars = shared_out(wanted, [passage.bars for passage in form.passages], budget)
    filled = (_filled_up(passage, count) for passage, count in zip(form.passages, bars, strict=True))
    return replace(form, passages=tuple(filled))


def _words_alone(sections: Sequence[LyricSection], grid: Grid, shape: Shape) -> tuple[Passage, ...]:
    """A passage for each section, as long as its words; of one bar where it has none."""
    passages = _draft(sections, grid, WORDS_ALONE, shape)
    return tuple(
        passage if section.lines else replace(passage, phrases=(Phrase(1),))
        for passage, section in zip(passages, sections, strict=True)
    )


def bars_of_words(sections: Sequence[LyricSection], grid: Grid, shape: Shape = SONG) -> tuple[int, ...]:
    """How many bars each section has at least, unless its words are hurried."""
    return tuple(passage.bars for passage in _words_alone(sections, grid, shape)) if sections else ()


def _hurrying(passages: tuple[Passage, ...], grid: Grid, budget: int) -> Iterator[Form]:
    yield Form(passages)
    for rate in (FASTEST_RATE, HURRIED_RATE):
        yield _tightened(passages, grid, budget, rate)


def _filled_up(passage: Passage, bars: int) -> Passage:
    """A passage of so many bars: the instruments answer the lines, or play all of it where there are none."""
    lines = [line for line in _by_line(passage.phrases) if line[0].syllables]
    spare = bars - sum(phrase.bars for line in lines for phrase in line)
    if not lines:
        return replace(passage, phrases=tuple(_played(bars)))
    phrases = list[Phrase]()
    answers = spare // 2
    for place, line in enumerate(lines, start=1):
        before, after = answers * (place - 1) // len(lines), answers * place // len(lines)
        phrases += (*line, *_played(2 * (after - before)))
    return replace(passage, phrases=(*phrases, *_played(spare % 2)))


def _by_line(phrases: Iterable[Phrase]) -> list[list[Phrase]]:
    lines: list[list[Phrase]] = [[]]
    for phrase in phrases:
        lines[-1].append(phrase)
        if phrase.ends_line:
            lines.append([])
    return [line for line in lines if line]


def _bars_for_all(sections: Sequence[LyricSection], grid: Grid, shape: Shape) -> int:
    return Form(_draft(sections, grid, EXTENTS[-1], shape)).bars if sections else 1


def _tightened(passages: Sequence[Passage], grid: Grid, budget: int, rate: float) -> Form:
    """The passages with as many of their lines in a single bar as the budget asks for, the shortest lines first."""
    room = grid.room(1, rate)
    phrases = [phrase for passage in passages for phrase in passage.phrases]
    short = [place for place, phrase in enumerate(phrases) if 0 < len(phrase.syllables) <= room]
    missing = sum(phrase.bars for phrase in phrases) - budget
    for place in sorted(short, key=lambda place: (len(phrases[place].syllables), -place)):
        if missing <= 0:
            break
        missing -= phrases[place].bars - 1
        phrases[place] = replace(phrases[place], bars=1)
    following = iter(phrases)
    tight = (replace(passage, phrases=tuple(islice(following, len(passage.phrases)))) for passage in passages)
    return Form(tuple(tight), hurried=True)


def _within(sections: Sequence[LyricSection], bars: int) -> list[LyricSection]:
    """The sections up to the first line that so many bars cannot hold: a line takes a bar or more."""
    kept, left = list[LyricSection](), bars + 1
    for section in sections:
        if left <= 0:
            break
        kept.append(replace(section, lines=section.lines[:left]))
        left -= len(section.lines)
    return kept


def _drafts(
    sections: Sequence[LyricSection], grid: Grid, shape: Shape
) -> Iterator[tuple[Extent, tuple[Passage, ...]]]:
    if sections:
        yield from ((extent, _draft(sections, grid, extent, shape)) for extent in EXTENTS)
        return
    for form in shape.forms:
        extents = WHOLE_EXTENTS if len(form) > 2 else SHORT_FORM_EXTENTS
        parts = [LyricSection(name, kind) for name, kind in form]
        yield from ((extent, _draft(parts, grid, extent, shape)) for extent in extents)


def _draft(sections: Sequence[LyricSection], grid: Grid, extent: Extent, shape: Shape) -> tuple[Passage, ...]:
    if not extent.played:
        sections = [section for section in sections if section.lines] or sections
    lines = sum(len(section.lines) for section in sections)
    if 0 < lines <= FEW_LINES:
        extent = replace(extent, filled=False)
    rooms = {kind: _phrase_bars(kind, sections, grid, extent, shape) for kind in {s.kind for s in sections}}
    hook = "chorus" if any(section.kind == "chorus" for section in sections) else sections[0].kind
    passages = [_passage(section, grid, extent, shape, rooms[section.kind], hook) for section in sections]
    framing = _framing(lines, grid, extent, shape)
    if framing:
        frame = tuple(_played(framing))
        if sections[0].kind != "intro":
            passages.insert(0, Passage("intro", hook, frame))
        if sections[-1].kind != "outro":
            passages.append(Passage("outro", hook, frame[: LONGEST_OUTRO // 2]))
    return tuple(passages)


def _framing(lines: int, grid: Grid, extent: Extent, shape: Shape) -> int:
    """Bars of the intro: few seconds where somebody is to sing, but one bar at least."""
    if not lines or not extent.framing:
        return _share(shape.intro, extent.framing, extent.most)
    longest = SHORT_INTRO_SECONDS if lines <= FEW_LINES else LONGEST_INTRO_SECONDS
    bars = min(max(int(longest * extent.framing / grid.bar_seconds), 1), shape.intro)
    return bars if bars < 3 else bars // 2 * 2


def _share(bars: int, share: float, most: int) -> int:
    """A share of so many bars, even and at most `most`."""
    return min(int(bars * share), most) // 2 * 2


def _passage(
    section: LyricSection, grid: Grid, extent: Extent, shape: Shape, phrase_bars: int, hook: str
) -> Passage:
    if not section.lines:
        framing = section.kind in ("intro", "outro", "interlude")
        bars = _share(shape.length(section.kind), extent.played, extent.most)
        bars = max(min(4, bars) if framing else bars, 2)
        return Passage(section.name, hook if framing else section.kind, tuple(_played(bars)))
    lines = [_phrases(line, phrase_bars, grid, extent) for line in section.lines]
    phrases = [phrase for line in lines for phrase in line]
    missing = -sum(phrase.bars for phrase in phrases) % shape.period if extent.filled else 0
    return Passage(section.name, section.kind, (*phrases, *_played(missing)))


def _phrase_bars(
    kind: str, sections: Iterable[LyricSection], grid: Grid, extent: Extent, shape: Shape
) -> int:
    texts = [section.lines for section in sections if section.kind == kind and section.lines]
    lines = [len(line.syllables) for text in texts for line in text]
    if shape.tercets and extent.filled and all(len(text) == 3 for text in texts):
        return 4

    def fitting(bars: int) -> float:
        return sum(count <= grid.capacity(bars) for count in lines) / max(len(lines), 1)

    if (
        fitting(1) >= SHORT_LINES
        if grid.flowing
        else grid.bar_seconds >= LONG_BAR_SECONDS and fitting(1) == 1
    ):
        return 1
    return 2 if extent.hurried or grid.flowing or fitting(2) >= SHORT_LINES else 4


def _played(bars: int) -> Iterator[Phrase]:
    yield from (Phrase(min(2, bars - start)) for start in range(0, bars, 2))


def _phrases(line: Line, bars: int, grid: Grid, extent: Extent) -> Iterator[Phrase]:
    """The line cut into phrases of as many syllables as so many bars hold, at word ends where there are any.

    A line of a flow that one bar does not hold has two.
    """
    left = line.syllables
    if grid.flowing and len(left) > grid.capacity(bars, hurried=extent.hurried):
        bars = 2
    room = grid.capacity(bars, hurried=extent.hurried)
    while left:
        even = ceil(len(left) / ceil(len(left) / room))
        ends = [count for count in range(1, min(room, len(left)) + 1) if left[count - 1].ends_word]
        cut = min(ends, key=lambda count: abs(count - even), default=min(room, len(left)))
        upbeat = is_upbeat(left[0].text) and left[0].ends_word and cut < room + (not grid.flowing)
        yield Phrase(bars, left[:cut], upbeat, ends_line=cut == len(left))
        left = left[cut:]


def _cut(passages: Sequence[Passage], grid: Grid, budget: int) -> tuple[Passage, ...]:
    kept: list[tuple[Passage, Phrase]] = []
    left = budget
    for passage in passages:
        for phrase in passage.phrases:
            if phrase.bars > left:
                return _gathered(kept) if kept else (_stump(passage, phrase, grid, left),)
            kept.append((passage, phrase))
            left -= phrase.bars
    return _gathered(kept)


def _gathered(kept: Sequence[tuple[Passage, Phrase]]) -> tuple[Passage, ...]:
    runs = [list(run) for _, run in groupby(kept, key=lambda pair: id(pair[0]))]
    return tuple(replace(run[0][0], phrases=tuple(phrase for _, phrase in run)) for run in runs)


def _stump(passage: Passage, phrase: Phrase, grid: Grid, bars: int) -> Passage:
    room = grid.capacity(bars, hurried=True)
    return replace(
        passage,
        phrases=(
            replace(
                phrase,
                bars=bars,
                syllables=phrase.syllables[:room],
                upbeat=False,
                ends_line=phrase.ends_line and len(phrase.syllables) <= room,
            ),
        ),
    )
