"""The pictures of docs/sound.md, drawn from what was measured."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.sound.features import BAND_NAMES, Grid
from bench.sound.genres import Portraits, on_a_map
from bench.sound.singing import Track
from bench.sound.songs import Song
from bench.sound.svg import FAINT, INK, SERIES, Axes, Picture, shade
from engine.transcription_model import Transcript

KEY_NAMES: Final = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
PITCH_SECONDS: Final = 10.0
SHOWN_SECONDS: Final = 12.0
BAND_COLOURS: Final = ("#14365f", "#1f5fa8", "#5b9bd0", "#e0a33a", "#c8511b")


def pitch_picture(song: Song, track: Track) -> str:
    """The voice's pitch over the notes of the score, the octave that was sung."""
    notes = song.performance.notes
    begin = notes[0].start - 0.3
    shown = [note for note in notes if note.start < begin + PITCH_SECONDS]
    octaves = _octaves(song, track)
    keys = [note.midi + octaves for note in shown]
    picture = Picture(760, 300, "Pitch of the voice over the notes of the score")
    axes = Axes(
        picture,
        (60, 20, 745, 250),
        (begin, begin + PITCH_SECONDS),
        (min(keys) - 2.5, max(keys) + 2.5),
    )
    axes.mark_y([(key, KEY_NAMES[key % 12] + str(key // 12 - 1)) for key in sorted(set(keys))])
    axes.mark_x([(begin + at, f"{at}") for at in range(int(PITCH_SECONDS) + 1)], "seconds")
    for number, (note, key) in enumerate(zip(shown, keys, strict=True)):
        left, top = axes.place(note.start, key + 0.4)
        right, bottom = axes.place(min(note.end, begin + PITCH_SECONDS), key - 0.4)
        picture.box(left, top, right - left, bottom - top, "#a9c7e8")
        picture.text(left + 2, bottom + 10 if number % 2 else top - 3, note.lyric or "", size=9)
    heard = [
        (float(at), 69 + 12 * float(np.log2(hertz / 440)))
        for at, hertz in zip(track.seconds, track.hertz, strict=True)
        if begin <= at < begin + PITCH_SECONDS
        and min(keys) - 2.5 < 69 + 12 * np.log2(hertz / 440) < max(keys) + 2.5
    ]
    axes.curve(heard, SERIES[1], 0.03)
    return picture.written()


def _octaves(song: Song, track: Track) -> int:
    """By how many semitones, in whole octaves, the singer has moved the song."""
    moved = [
        69 + 12 * float(np.log2(np.nanmedian(found) / 440)) - note.midi
        for note in song.performance.notes
        if len(found := track.hertz[(track.seconds > note.start) & (track.seconds < note.end)]) > 3
        and not np.isnan(found).all()
    ]
    return 12 * round(float(np.median(moved)) / 12)


def similarity_picture(song: Song, alike: Grid) -> str:
    """How alike each two bars of a song sound, its sections beside them."""
    count, side = len(alike), 420
    cell = side / count
    picture = Picture(side + 130, side + 80, "How alike the bars of a song sound")
    for row in range(count):
        for column in range(count):
            share = (float(alike[row, column]) + 0.3) / 1.3
            picture.box(110 + column * cell, 20 + row * cell, cell + 0.3, cell + 0.3, shade(share))
    for name, start, end in song.score.sections:
        inside = [bar for bar, (begin, _) in enumerate(song.score.bars) if start - 0.01 <= begin < end - 0.01]
        if inside:
            _name_section(picture, name, 20 + inside[0] * cell, (inside[-1] + 1 - inside[0]) * cell, cell)
    picture.text(
        110 + side / 2,
        side + 50,
        "bar against bar: the darker, the more alike in harmony and timbre",
        "middle",
    )
    return picture.written()


def _name_section(picture: Picture, name: str, top: float, height: float, cell: float) -> None:
    picture.line(100, top, 530, top, INK, 0.7)
    picture.line(90 + top, 20, 90 + top, 445, INK, 0.7)
    if height >= min(11.0, 2 * cell):
        picture.text(100, top + height / 2 + 4, name, "end", 10)


def genre_picture(portraits: Portraits, genres: Sequence[str]) -> str:
    """Songs as points, near to each other where they sound alike; each genre's name in their middle."""
    places = on_a_map(portraits)
    picture = Picture(760, 470, "Genres by tempo, rhythm, timbre and balance")
    low, high = places.min(axis=0) - 0.7, places.max(axis=0) + 0.7
    axes = Axes(picture, (20, 15, 745, 440), (low[0], high[0]), (low[1], high[1]))
    names = list(dict.fromkeys(genres))
    for number, name in enumerate(names):
        own = places[[genre == name for genre in genres]]
        middle = axes.place(*own.mean(axis=0))
        for place in own:
            x, y = axes.place(*place)
            picture.line(*middle, x, y, FAINT)
            picture.dot(x, y, SERIES[number % len(SERIES)])
        picture.text(middle[0], middle[1] - 6, name, "middle", 12)
    picture.text(382, 460, "the two directions in which the songs differ most", "middle")
    return picture.written()


def balance_picture(shares: Mapping[str, NDArray[np.float64]]) -> str:
    """For each genre, what each band has of the loudness, in dB below the whole."""
    picture = Picture(760, 60 + 24 * len(shares), "Spectral balance by genre")
    for place, name in enumerate(BAND_NAMES):
        picture.box(130 + 115 * place, 12, 12, 12, BAND_COLOURS[place])
        picture.text(147 + 115 * place, 22, name)
    for row, (genre, decibels) in enumerate(shares.items()):
        top, left = 40 + 24 * row, 130.0
        picture.text(122, top + 13, genre, "end")
        heights = np.maximum(0.0, decibels + 45)
        for place, width in enumerate(610 * heights / heights.sum()):
            picture.box(left, top, float(width), 18, BAND_COLOURS[place])
            picture.text(
                left + float(width) / 2,
                top + 13,
                f"{decibels[place]:.0f}",
                "middle",
                9,
                "#ffffff" if place != 3 else INK,
            )
            left += float(width)
    return picture.written()


def words_picture(sound: NDArray[np.float32], rate: int, heard: Transcript) -> str:
    """A recording's loudness in time, and the words that were heard in it."""
    picture = Picture(760, 190, "Words heard in a recording, and when")
    axes = Axes(picture, (20, 15, 745, 145), (0.0, SHOWN_SECONDS), (0.0, 1.0))
    axes.mark_x([(at, f"{at}") for at in range(int(SHOWN_SECONDS) + 1)], "seconds")
    step = rate // 50
    parts = np.abs(sound[: int(SHOWN_SECONDS * rate) // step * step]).reshape(-1, step).max(axis=1)
    for number, level in enumerate(parts / max(1e-6, float(parts.max()))):
        x, y = axes.place(number / 50, 0.75 * float(level))
        picture.box(x, y, 1.2, axes.place(0, 0)[1] - y, "#5b9bd0")
    for number, word in enumerate(word for segment in heard.segments for word in segment.words):
        if word.end > SHOWN_SECONDS:
            break
        left, top = axes.place(word.start, 0.98 if number % 2 else 0.88)
        right, _ = axes.place(word.end, 0.0)
        picture.box(left, top, right - left, 2.5, SERIES[1])
        picture.text(left, top - 2, word.text, size=9)
    return picture.written()
