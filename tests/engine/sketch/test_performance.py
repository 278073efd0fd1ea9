"""A song performed: the singer in the band's time, within the limit, heard in front of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.control import Check, Uncontrolled, unchecked
from engine.score import TimedNote, Timeline, parse, timeline
from engine.sketch.performance import Performance, perform
from engine.sketch.sampler import Sampler
from engine.sketch.style import read_style
from engine.words import Word

RATE = 48_000
ABC = 'X:1\nM:4/4\nL:1/8\nQ:1/4=120\nK:C\nV:Vocal\n"C"CDEF GABc|"F"cBAG FEDC|"G"C8|\nw: la la la la la la la la lo lo lo lo lo lo lo lo end\n'


@dataclass(frozen=True, slots=True)
class Whistled:
    samples: NDArray[np.float32]
    words: tuple[Word, ...]
    notes: tuple[TimedNote, ...]


class Whistler:
    """A singer that keeps what it was asked for, and leaves out every note after its `most` first."""

    def __init__(self, most: int = 99) -> None:
        self._most = most
        self.notes: tuple[TimedNote, ...] = ()
        self.seconds = 0.0

    def sing(
        self,
        notes: Sequence[TimedNote],
        seconds: float,
        seed: int,
        check: Check = unchecked,
        report: Callable[[float], None] = lambda done: None,
    ) -> Whistled:
        self.notes, self.seconds = tuple(notes), seconds
        sung = self.notes[: self._most]
        samples = np.zeros(round(seconds * RATE), np.float32)
        for note in sung:
            part = samples[round(note.start * RATE) : round(note.end * RATE)]
            part += np.float32(0.2) * np.sin(np.arange(len(part), dtype=np.float32) * np.float32(0.06))
        words = tuple(Word(note.lyric, note.start, note.end) for note in sung)
        return Whistled(samples, words, sung)

    def unload(self) -> None:
        """Nothing is held."""


def song() -> Timeline:
    return timeline(parse(ABC))


def performed(sampler: Sampler, style: str, whistler: Whistler | None, limit: float = 60) -> Performance:
    return perform(song(), read_style(style), 1, sampler, whistler, Uncontrolled(), limit)


@pytest.mark.parametrize(("style", "second"), [("pop", 0.25), ("jazz", 0.3)])
def test_the_singer_swings_with_the_band(sampler: Sampler, style: str, second: float) -> None:
    whistler = Whistler()
    made = performed(sampler, style, whistler)
    assert [note.start for note in whistler.notes[:3]] == pytest.approx([0, second, 0.5], abs=0.02)
    assert made.notes == whistler.notes
    assert [word.start for word in made.words] == [note.start for note in made.notes]


def test_nothing_is_sung_beyond_the_limit(sampler: Sampler) -> None:
    whistler = Whistler()
    made = performed(sampler, "pop", whistler, limit=2.1)
    assert max(note.start for note in whistler.notes) < 2.1
    assert whistler.seconds == 2.1
    assert len(made.samples) == round(2.1 * RATE)


def test_what_the_singer_leaves_out_is_played(sampler: Sampler) -> None:
    made = performed(sampler, "pop", Whistler(most=8))
    assert len(made.notes) == 8
    silent = performed(sampler, "pop", None)
    assert silent.voice is None
    assert not silent.words
    assert made.samples.shape == silent.samples.shape


def test_the_voice_is_heard_well_above_the_band(sampler: Sampler) -> None:
    """The level of the whistled tone in the middle against all the rest beside it."""
    made = performed(sampler, "folk", Whistler())
    middle = made.samples.mean(axis=1)[RATE : 3 * RATE].astype(np.float64)
    voice = made.voice
    assert voice is not None
    tone = voice[RATE : 3 * RATE].astype(np.float64)
    share = float(middle @ tone / (tone @ tone))
    rest = middle - share * tone
    assert 20 * np.log10(share * tone.std() / rest.std()) > 2
