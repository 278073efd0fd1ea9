"""What is measured of one song, beside how well its words are understood."""

from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.sound.features import (
    Grid,
    balance,
    by_spans,
    centroid,
    cepstra,
    chroma,
    onset_strength,
    onsets,
    similarity,
)
from bench.sound.songs import RATE_HZ, Song
from engine.audio.loudness import integrated_loudness
from engine.score import Timeline

ON_THE_BEAT_SECONDS: Final = 0.025
VOCAL: Final = "Vocal"
PLACES: Final = 16  # a bar's rhythm is told in so many
HOP: Final = 512

Pairs = list[tuple[int, int]]
Notes = list[tuple[int, float]]


def beats_with_onset(song: Song, moved: float = 0.0) -> tuple[float, float]:
    """The share of the beats at which something begins, and the median distance of all beats to an onset in ms.

    `moved` seconds later than they are, the beats show what a song off the beat would get. Onsets are found in steps
    of 10.7 ms.
    """
    heard = onsets(song.grid, RATE_HZ)
    beats = np.asarray(song.score.beats) + moved
    nearest = np.abs(beats[:, None] - heard[None, :]).min(axis=1)
    return float((nearest <= ON_THE_BEAT_SECONDS).mean()), 1000 * float(np.median(nearest))


def bar_similarity(song: Song) -> Grid:
    """How alike the bars sound (bars, bars): harmony and timbre together, −1 to 1."""
    spans, grid = list(song.score.bars), song.grid
    harmony = np.log1p(chroma(grid, RATE_HZ))
    timbre = cepstra(grid, RATE_HZ)
    return (similarity(by_spans(harmony, RATE_HZ, spans)) + similarity(by_spans(timbre, RATE_HZ, spans))) / 2


def section_contrast(song: Song) -> tuple[float, float]:
    """How alike bars are at the same place of sections of one name, and of sections of different names, on average."""
    alike = bar_similarity(song)
    same, other = _pairs(song.score, of_one_name=True), _pairs(song.score, of_one_name=False)
    return _mean(alike, same), _mean(alike, other)


def _pairs(score: Timeline, *, of_one_name: bool) -> Pairs:
    """Bars at the same place of two sections."""
    found: Pairs = []
    for (one, first), (other, second) in combinations(_section_bars(score), 2):
        if (one == other) is of_one_name:
            found += zip(first, second, strict=False)
    return found


def _section_bars(score: Timeline) -> list[tuple[str, list[int]]]:
    """The bars of every section that is sung."""
    return [
        (
            name.split()[0].lower(),
            [number for number, (begin, _) in enumerate(score.bars) if start - 0.01 <= begin < end - 0.01],
        )
        for name, start, end in score.sections
        if name.split()[0].lower() in ("verse", "chorus")
    ]


def _mean(alike: Grid, pairs: Pairs) -> float:
    return float(np.mean([alike[pair] for pair in pairs])) if pairs else float("nan")


def hook_recurrence(score: Timeline) -> float:
    """The share of the first chorus's melody that comes back, note for note and in time, in the later ones."""
    choruses = [
        _melody(score, start, end) for name, start, end in score.sections if name.lower().startswith("chorus")
    ]
    if len(choruses) < 2 or not choruses[0]:
        return float("nan")
    first, later = choruses[0], choruses[1:]
    return float(np.mean([_again(first, one) for one in later]))


def _again(first: Notes, later: Notes) -> float:
    """The share of the notes that are there again, within a tenth of a beat."""
    kept = [any(key == other and abs(at - then) < 0.1 for other, then in later) for key, at in first]
    return sum(kept) / len(kept)


def _melody(score: Timeline, start: float, end: float) -> Notes:
    """The singer's notes in a section, or the first voice's where nobody sings: key, and beats from its start.

    Beats, since the last section may slow down.
    """
    voices = list(dict.fromkeys(note.voice for note in score.notes))
    sung = VOCAL if VOCAL in voices else voices[0] if voices else ""
    beats = np.asarray(score.beats)

    def beat(seconds: float) -> float:
        return float(np.interp(seconds, beats, np.arange(len(beats))))

    return [
        (note.midi, beat(note.start) - beat(start))
        for note in score.notes
        if note.voice == sung and start - 0.01 <= note.start < end - 0.01
    ]


def loudness(song: Song) -> tuple[float, float]:
    """Integrated loudness in LUFS, and the highest sample in dBFS."""
    peak = 20 * np.log10(float(np.abs(song.samples).max()) + 1e-9)
    return integrated_loudness(song.samples, RATE_HZ), float(peak)


def rhythm(song: Song) -> NDArray[np.float64]:
    """Where in a bar things begin (16,): the mean strength of onsets at each sixteenth of it, together 1."""
    strength = onset_strength(song.grid)
    times = np.arange(len(strength)) * HOP / RATE_HZ
    found = np.zeros(PLACES)
    for start, end in song.score.bars:
        inside = (times >= start) & (times < end)
        place = ((times[inside] - start) / (end - start) * PLACES + 0.5).astype(int) % PLACES
        np.add.at(found, place, strength[inside])
    return found / max(1e-9, float(found.sum()))


def portrait(song: Song) -> NDArray[np.float64]:
    """What tells a genre (46,): tempo, density of onsets, rhythm in a bar, timbre and its change, balance."""
    grid = song.grid
    timbre = cepstra(grid, RATE_HZ)
    density = len(onsets(grid, RATE_HZ)) / song.score.duration
    heads = [np.log2(song.tempo_bpm), density, np.log2(centroid(grid, RATE_HZ))]
    return np.concatenate(
        [heads, 10 * rhythm(song), timbre.mean(axis=1), timbre.std(axis=1)[:10], balance(grid, RATE_HZ) / 5]
    )
