"""Genres are complete and their harmony can be read."""

from collections import Counter

from engine.sketch.genres import GENRE_BY_NAME, GENRES
from engine.sketch.grooves import GROOVES
from engine.sketch.harmony import read_chord, read_key
from engine.sketch.vocabulary import METERS


def test_there_are_many_genres_and_no_word_names_two() -> None:
    words = Counter(word for genre in GENRES for word in genre.words)
    assert len(GENRE_BY_NAME) == len(GENRES) >= 16
    assert max(words.values()) == 1
    assert all(word == word.lower() and "-" not in word for word in words)


def test_every_genre_has_a_groove_a_meter_and_a_sane_tempo() -> None:
    assert all(genre.groove in GROOVES for genre in GENRES)
    assert all(genre.meter in METERS and 40 <= genre.tempo_bpm <= 220 for genre in GENRES)


def test_every_numeral_is_a_chord_in_its_mode() -> None:
    chords = [
        read_chord(numeral, read_key(key))
        for genre in GENRES
        for key, harmony in (("C", genre.major), ("Am", genre.minor))
        for progression in (*harmony.verse, *harmony.chorus, *harmony.bridge)
        for numeral in progression.split()
    ]
    assert all(len(chord.tones) >= 3 for chord in chords)
