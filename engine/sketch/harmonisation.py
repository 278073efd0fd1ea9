"""Chords for a score that has none: one triad of the key a bar, the one that the bar's notes fit best."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from engine.score import STEPS, TimedChord, TimedNote, Timeline, key_named
from engine.score.model import SEMITONES

_DEGREES = (0, 4, 3, 5, 1, 2, 6)  # what is taken first where the notes do not decide
_NAMES = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_DOWNBEAT, _ROOT_SHARE, _RANK_COST, _HOME = 1.5, 0.3, 0.02, 0.6
Triad = tuple[int, int]  # pitch class of the root, semitones of the third


def harmonised(timeline: Timeline) -> Timeline:
    """The same song with a chord over every bar; unchanged where it has chords already, or nothing sounds."""
    if timeline.chords or not timeline.notes:
        return timeline
    return replace(timeline, chords=tuple(_chords(timeline)))


def _chords(timeline: Timeline) -> Iterator[TimedChord]:
    heard = {
        bar: list(notes)
        for bar, notes in groupby(sorted(timeline.notes, key=lambda n: n.bar), key=lambda n: n.bar)
    }
    triad: Triad | None = None
    for bar, (start, end) in enumerate(timeline.bars):
        triads = _triads(timeline.keys[bar] if bar < len(timeline.keys) else "C")
        home = bar in (0, len(timeline.bars) - 1)
        if bar in heard or triad is None:
            triad = _best(triads, _weights(heard.get(bar, []), start, end), home=home)
        root, third = triad
        if end > start:
            name = _NAMES[root] + ("m" if third == 3 else "")
            yield TimedChord(name, root, (0, third, 7), root, start, end, bar)


def _triads(key: str) -> list[Triad]:
    """The major and minor triads of a key, its tonic first; a minor key's dominant comes in major too."""
    tonic = STEPS.find(key[:1])
    signature = key_named(key).signature
    steps = (STEPS[(max(tonic, 0) + degree) % 7] for degree in range(7))
    scale = [(SEMITONES[step] + signature.get(step, 0)) % 12 for step in steps]
    shapes = [(scale[d], *((scale[(d + up) % 7] - scale[d]) % 12 for up in (2, 4))) for d in _DEGREES]
    triads = [(root, third) for root, third, fifth in shapes if fifth == 7]
    return [*triads, (scale[4], 4)] if (scale[2] - scale[0]) % 12 == 3 else triads


def _weights(notes: Sequence[TimedNote], start: float, end: float) -> list[float]:
    """Seconds that each pitch class sounds in a bar; what falls on the bar line counts for more."""
    weights = [0.0] * 12
    for note in notes:
        seconds = min(note.end, end) - note.start
        weights[note.midi % 12] += seconds * (_DOWNBEAT if note.start - start < 1e-6 else 1.0)
    return weights


def _best(triads: Sequence[Triad], weights: Sequence[float], *, home: bool) -> Triad:
    total = sum(weights) or 1.0

    def fit(rank: int) -> float:
        root, third = triads[rank]
        inside = weights[root] * (1 + _ROOT_SHARE) + weights[(root + third) % 12] + weights[(root + 7) % 12]
        return inside / total - _RANK_COST * rank + (_HOME if home and rank == 0 else 0.0)

    return triads[max(range(len(triads)), key=fit)]
