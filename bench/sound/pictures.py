"""The pictures of docs/sound.md, drawn from what was measured."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.sound.features import BAND_NAMES, BANDS_HZ, Grid
from bench.sound.genres import Portraits, on_a_map
from bench.sound.singing import Track
from bench.sound.songs import Song
from bench.sound.svg import FAINT, GROUND, INK, SERIES, Axes, Picture, mixed
from engine.transcription_model import Transcript

KEY_NAMES: Final = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
PITCH_SECONDS: Final = 10.0
SHOWN_SECONDS: Final = 12.0
NAME_HEIGHT: Final = 13
LETTER_WIDTH: Final = 6.5
POINT_ROOM: Final = 8
CELL_WIDTH: Final = 122
MOST_DECIBELS: Final = 8.0  # beyond it a cell gets no darker
DARK: Final = 0.55  # of a colour: from there on white is read on it
MORE: Final = (16, 54, 110)
LESS: Final = (150, 62, 12)

Place = tuple[float, float]


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
            picture.box(110 + column * cell, 20 + row * cell, cell + 0.3, cell + 0.3, mixed(MORE, share))
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
    """Songs as points, near to each other where they sound alike, joined to the middle of their genre, which is named."""
    places = on_a_map(portraits)
    picture = Picture(760, 500, "Genres by tempo, rhythm, timbre and balance")
    low, high = places.min(axis=0) - 0.7, places.max(axis=0) + 0.7
    axes = Axes(picture, (40, 15, 745, 450), (low[0], high[0]), (low[1], high[1]))
    middles: dict[str, tuple[float, float]] = {}
    for name in dict.fromkeys(genres):
        own = places[[genre == name for genre in genres]]
        middles[name] = axes.place(*own.mean(axis=0))
        for place in own:
            x, y = axes.place(*place)
            picture.line(*middles[name], x, y, FAINT)
            picture.dot(x, y, SERIES[0])
    points = [axes.place(*place) for place in places]
    for name, (x, y) in apart(middles, points).items():
        picture.text(x, y, name, "middle", 12)
    picture.text(
        392,
        472,
        "the direction in which the songs differ most",
        "middle",
    )
    picture.upright(24, 232, "the direction in which they differ most besides")
    return picture.written()


def apart(middles: Mapping[str, Place], points: Sequence[Place] = ()) -> dict[str, Place]:
    """Where each name is written: above its place, or as near above or below as it covers no other name and no point."""
    found: dict[str, Place] = {}
    for name, (x, y) in sorted(middles.items(), key=lambda pair: (pair[1][1], pair[0])):
        shifts = sorted(range(-120, 121, 3), key=abs)
        free = (shift for shift in shifts if not _covers(name, (x, y - 8 + shift), found, points))
        found[name] = x, y - 8 + next(free, 0)
    return found


def _covers(name: str, place: Place, others: Mapping[str, Place], points: Sequence[Place]) -> bool:
    (x, y), half = place, LETTER_WIDTH * (len(name) + 1) / 2
    return any(
        abs(y - there) < NAME_HEIGHT and abs(x - across) < half + LETTER_WIDTH * (len(other) + 1) / 2
        for other, (across, there) in others.items()
    ) or any(abs(y - 4 - down) < POINT_ROOM and abs(x - across) < half for across, down in points)


def balance_picture(shares: Mapping[str, NDArray[np.float64]]) -> str:
    """For each genre, by how many decibels each band is louder or softer than in all genres on average."""
    usual = np.mean(list(shares.values()), axis=0)
    picture = Picture(760, 110 + 22 * len(shares), "Spectral balance by genre, against the mean of all")
    for place, (name, (low, high)) in enumerate(zip(BAND_NAMES, BANDS_HZ, strict=True)):
        middle = 130 + CELL_WIDTH * (place + 0.5)
        picture.text(middle, 18, name, "middle")
        picture.text(middle, 32, f"{low} to {high} Hz", "middle", 10)
    for row, (genre, decibels) in enumerate(shares.items()):
        top = 40 + 22 * row
        picture.text(122, top + 15, genre, "end")
        for place, more in enumerate(decibels - usual):
            _cell(picture, 130 + CELL_WIDTH * place, top, float(more))
    bottom = 40 + 22 * len(shares)
    picture.text(122, bottom + 17, "mean of all", "end")
    for place, level in enumerate(usual):
        picture.text(130 + CELL_WIDTH * (place + 0.5), bottom + 17, f"{level:.0f} dB", "middle", 10)
    picture.text(
        440,
        bottom + 45,
        "decibels more (blue) or less (orange) than all have on average; the mean is below the whole song",
        "middle",
    )
    return picture.written()


def _cell(picture: Picture, left: float, top: float, decibels: float) -> None:
    strength = min(1.0, abs(decibels) / MOST_DECIBELS)
    colour = mixed(MORE if decibels > 0 else LESS, strength)
    picture.box(left, top, CELL_WIDTH - 2, 20, colour)
    ink = GROUND if strength > DARK else INK
    told = f"{decibels:+.0f}" if round(decibels) else "0"
    picture.text(left + CELL_WIDTH / 2, top + 14, told, "middle", 10, ink)


def words_picture(sound: NDArray[np.float32], rate: int, heard: Transcript) -> str:
    """A recording's loudness in time, and the words that were heard in it."""
    picture = Picture(760, 190, "Words heard in a recording, and when")
    axes = Axes(picture, (20, 15, 745, 145), (0.0, SHOWN_SECONDS), (0.0, 1.0))
    axes.mark_x([(at, f"{at}") for at in range(int(SHOWN_SECONDS) + 1)], "seconds")
    step = rate // 50
    parts = np.abs(sound[: int(SHOWN_SECONDS * rate) // step * step]).reshape(-1, step).max(axis=1)
    for number, level in enumerate(parts / max(1e-6, float(parts.max()))):
        x, y = axes.place(number / 50, 0.7 * float(level))
        picture.box(x, y, 1.2, axes.place(0, 0)[1] - y, "#5b9bd0")
    for number, word in enumerate(word for segment in heard.segments for word in segment.words):
        if word.end > SHOWN_SECONDS:
            break
        left, top = axes.place(word.start, 0.98 - 0.1 * (number % 3))
        right, _ = axes.place(word.end, 0.0)
        picture.box(left, top, right - left, 2.5, SERIES[1])
        picture.text(left, top - 2, word.text, size=9)
    return picture.written()
