"""The songs that are measured: fifteen genres, words that stand in no example, as the product makes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from bench.sound.features import Grid, one_channel, spectrogram
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.request import read_song
from engine.score import Timeline, parse, timeline

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
    """A song as it was made: what was asked, its score in time, its sound, and when its words are sung."""

    genre: str
    lyrics: str
    score: Timeline
    tempo_bpm: float
    samples: NDArray[np.float32]  # (N, 2)
    rate: int
    words: tuple[tuple[str, float, float], ...]

    @property
    def grid(self) -> Grid:
        """Its spectrogram, of both channels together."""
        return spectrogram(one_channel(self.samples))


def requests(seeds: int) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Genre and request of every song, in the order of the genres, each with so many seeds and as many lyrics."""
    for genre in GENRES:
        for seed in range(seeds):
            yield (
                genre,
                {
                    "style": genre,
                    "lyrics": LYRICS[seed % len(LYRICS)],
                    "model": "sketch",
                    "duration": 75,
                    "lm_seed": 100 + seed,
                    "seed": 100 + seed,
                },
            )


def made(catalogue: Catalogue, genre: str, asked: dict[str, JsonValue]) -> Song:
    """One song, made as the server makes it."""
    request = read_song(asked)
    track = next(iter(catalogue.model(request.model).generate(request, Uncontrolled())))
    score = parse(str(track.replay["abc"]))
    return Song(
        genre,
        request.lyrics,
        timeline(score),
        score.tempo_bpm,
        track.samples,
        track.sample_rate_hz,
        tuple(_words(track.replay)),
    )


def _words(replay: dict[str, JsonValue]) -> Iterator[tuple[str, float, float]]:
    words = replay.get("words")
    for word in words if isinstance(words, list) else []:
        match word:
            case {"word": str(text), "start": float() | int() as start, "end": float() | int() as end}:
                yield text, float(start), float(end)
