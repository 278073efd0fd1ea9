"""The songs that are measured: fifteen genres, words that stand in no example, as the product makes them."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.sound.features import Grid, one_channel, spectrogram
from engine.control import Uncontrolled
from engine.score import Timeline, timeline
from engine.sketch.compose import compose
from engine.sketch.performance import Performance, perform
from engine.sketch.sampler import Sampler
from engine.sketch.style import read_style
from engine.sketch.voice.network import SungNetwork
from engine.sketch.voice.singer import Singer
from engine.speech.phonemes import Phonemiser

RATE_HZ: Final = 48_000
SONG_SECONDS: Final = 100.0  # two verses and two choruses, whole in most genres
PORTRAIT_SECONDS: Final = 40.0  # what tells a genre is heard by then
GENRES: Final = (
    "folk",
    "pop",
    "rock",
    "ballad",
    "waltz",
    "jazz",
    "blues",
    "electronic",
    "hip hop",
    "orchestral",
    "bossa nova",
    "metal",
    "reggae",
    "country",
    "lullaby",
)
LYRICS: Final = (
    "[Verse]\nThe kettle sings at half past five\nThe frost is on the gate\nI fold your letter into mine\nThe morning train is late\n"
    "[Chorus]\nRun with me over the fields of gold\nRun till the night turns blue\nEvery road that I ever rode\nWas leading me back to you\n"
    "[Verse]\nThe garden keeps your muddy boots\nThe robin keeps the tree\nI count the miles on every map\nThat hangs from you to me\n"
    "[Chorus]\nRun with me over the fields of gold\nRun till the night turns blue\nEvery road that I ever rode\nWas leading me back to you\n",
    "[Verse]\nA paper boat along the drain\nA penny in my shoe\nThe city hums beneath the rain\nAnd I am humming too\n"
    "[Chorus]\nHold the light a little higher\nHold it for a friend\nWe were sparks before the fire\nWe shall glow again\n"
    "[Verse]\nThe baker leaves his window wide\nThe bread is warm and brown\nI carry half of all I have\nAcross the sleeping town\n"
    "[Chorus]\nHold the light a little higher\nHold it for a friend\nWe were sparks before the fire\nWe shall glow again\n",
    "[Verse]\nWe built a house of cards and string\nWe gave the roof a name\nThe wind came by to hear us sing\nAnd no one was to blame\n"
    "[Chorus]\nTell me now what the river said\nTell it soft and slow\nAll the words that I left unsaid\nAre the ones you know\n"
    "[Verse]\nThe summer wrote in yellow ink\nThe winter wrote in smoke\nI never learned the way to think\nOf you as far away\n"
    "[Chorus]\nTell me now what the river said\nTell it soft and slow\nAll the words that I left unsaid\nAre the ones you know\n",
)


@dataclass(frozen=True, slots=True)
class Song:
    """A song as it was made: its score in time, and what is heard."""

    genre: str
    score: Timeline
    tempo_bpm: float
    performance: Performance

    @property
    def samples(self) -> NDArray[np.float32]:
        """The mix (N, 2) at 48 kHz."""
        return self.performance.samples

    @property
    def grid(self) -> Grid:
        """The spectrogram of both channels together."""
        return spectrogram(one_channel(self.samples))

    @property
    def voice(self) -> NDArray[np.float32]:
        """The singer alone (N,) at 48 kHz. Raises ValueError where nobody sings."""
        if self.performance.voice is None:
            raise ValueError(f"nobody sings in this {self.genre}")
        return self.performance.voice

    def lyrics(self, seconds: float) -> str:
        """The words that are sung within so many seconds, in order."""
        return " ".join(word.text for word in self.performance.words if word.end <= seconds)


class Studio:
    """Makes songs as the built-in band does; owner of its sampler and its singer."""

    def __init__(self) -> None:
        self._sampler = Sampler()
        self._singer = Singer(SungNetwork(), Phonemiser())

    def song(self, genre: str, number: int, seconds: float = SONG_SECONDS) -> Song:
        """The song of that genre and number, which says its words and its seeds."""
        score = compose(genre, LYRICS[number % len(LYRICS)], 100 + number, seconds)
        played = timeline(score)
        performance = perform(
            played, read_style(genre), 100 + number, self._sampler, self._singer, Uncontrolled(), seconds
        )
        return Song(genre, played, score.tempo_bpm, performance)
