"""What songs, speech and transcripts are like: `python -m bench.sound [--full]`.

Prints a table, keeps the numbers in bench/results/ and draws the pictures of docs/sound.md into docs/pictures/. Songs are
of fifteen genres, with words that stand in no example; what is sung and said is written down again by our own
transcription, of each song its first minute. Voices alone are followed and listened to in eight genres, with `--full` in
all, and more songs of each genre are compared. Everything is drawn from fixed seeds: the same code gives the same files.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.report import Bar, Row, begin, end, is_full
from bench.sound.features import balance
from bench.sound.genres import separation, told_apart
from bench.sound.measures import (
    bar_similarity,
    beats_with_onset,
    hook_recurrence,
    loudness,
    portrait,
    section_contrast,
)
from bench.sound.pictures import (
    balance_picture,
    genre_picture,
    pitch_picture,
    similarity_picture,
    words_picture,
)
from bench.sound.singing import (
    cents_off,
    people_understood,
    phrase_errors,
    talk_understood,
    tracked,
    understood,
    understood_alone,
)
from bench.sound.songs import GENRES, PORTRAIT_SECONDS, RATE_HZ, Song, Studio
from engine.catalogue import Catalogue, open_catalogue
from engine.transcription_model import TranscriptionModel

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
FOLLOWED = ("folk", "pop", "rock", "jazz", "waltz", "ballad", "hip hop", "lullaby")
MOVED_SECONDS = 0.05  # so far off the beat a song must not pass
ALONE, MIXED = "words understood, voice alone", "words understood, in the mix"
BARS = {
    "notes off the score, median": Bar(5.0),
    f"{ALONE}, worst genre": Bar(60.0, at_most=False),
    f"{MIXED}, worst genre": Bar(60.0, at_most=False),
    "beats at which something begins": Bar(85.0, at_most=False),
    "the same, of beats moved by 50 ms": Bar(20.0),
    "how far from the beat, median": Bar(12.0),
    "bars alike, in sections of one name": Bar(0.5, at_most=False),
    "bars alike, in verse and chorus": Bar(0.3),
    "chorus that comes back": Bar(50.0, at_most=False),
    "songs nearest to their own genre": Bar(80.0, at_most=False),
    "loudness, furthest from -14 LUFS": Bar(0.5),
    "word errors, said and written down": Bar(3.0),
    "word errors, what people say": Bar(5.0),
    "beginnings of phrases off, mean": Bar(60.0),
}
Samples = dict[str, list[float]]


def main() -> int:
    """Measure songs, then genres, then speech."""
    full = is_full(__doc__ or "")
    report = begin("sound", "songs with words of their own, listened to by the product's transcription")
    PICTURES.mkdir(exist_ok=True)
    studio, catalogue = Studio(), open_catalogue(None)
    samples: Samples = {}
    samples |= of_songs(studio, catalogue.transcription(""), GENRES if full else FOLLOWED)
    samples |= of_genres(studio, 5 if full else 3)
    samples |= of_speech(catalogue)
    return report.conclude(list(rows(samples)), samples)


def of_songs(studio: Studio, listener: TranscriptionModel, followed: Sequence[str]) -> Samples:
    """Beats, form, loudness and words of a song of each genre, in order; of those followed also the voice alone.

    Draws the first one's pitch and form.
    """
    found: Samples = {}
    for number, genre in enumerate(GENRES):
        song = studio.song(genre, number)
        one = of_form(song) | {"mixed": [100 * understood(listener, song).recognised]}
        if genre in followed:
            track = tracked(song)
            one["cents"] = list(np.abs(cents_off(song, track)))
            one["alone"] = [100 * understood_alone(listener, song).recognised]
            if not number:
                _keep("pitch", pitch_picture(song, track))
        if not number:
            _keep("similarity", similarity_picture(song, bar_similarity(song)))
        for name, values in one.items():
            found.setdefault(name, []).extend(values)
    return found


def of_form(song: Song) -> Samples:
    """What its sound and its score tell of beat, sections, hook and loudness."""
    same, other = section_contrast(song)
    share, distance = beats_with_onset(song)
    return {
        "beats": [100 * share],
        "moved beats": [100 * beats_with_onset(song, MOVED_SECONDS)[0]],
        "distance": [distance],
        "same": [same],
        "other": [other],
        "hook": [100 * hook_recurrence(song.score)],
        "loudness": [loudness(song)[0]],
    }


def of_genres(studio: Studio, songs: int) -> Samples:
    """How genres are told apart; draws their map and their balance."""
    genres, portraits, balances = [], [], {}
    for genre in GENRES:
        made = [studio.song(genre, number, PORTRAIT_SECONDS) for number in range(songs)]
        genres += [genre] * songs
        portraits += [portrait(song) for song in made]
        balances[genre] = np.mean([balance(song.grid, RATE_HZ) for song in made], axis=0)
    all_ = np.array(portraits)
    _keep("genres", genre_picture(all_, genres))
    _keep("balance", balance_picture(balances))
    shares = told_apart(all_, genres)
    return {
        "told apart": [100 * float(np.mean(list(shares.values())))],
        "separation": [separation(all_, genres)],
        **{f"told apart: {genre}": [100 * share] for genre, share in shares.items()},
    }


def of_speech(catalogue: Catalogue) -> Samples:
    """Speech written down again, recordings of people, and when phrases begin; draws the words."""
    speaker, listener = catalogue.speech(""), catalogue.transcription("")
    phrases = phrase_errors(speaker, listener)
    _keep("words", words_picture(phrases.sound, speaker.sample_rate_hz, phrases.heard))
    return {
        "word errors": [100 * talk_understood(speaker, listener).error],
        "people word errors": [100 * people_understood(listener).error],
        "phrases": [1000 * error for error in phrases.errors],
    }


def _keep(name: str, picture: str) -> None:
    (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")


def rows(samples: Samples) -> Iterator[Row]:
    """The table; medians of songs, and what is worst among them where each has to do."""
    values = {
        "notes off the score, median": (_median(samples["cents"]), "cents"),
        "notes within 20 cents": (100 * float(np.mean(np.array(samples["cents"]) <= 20)), "%"),
        ALONE: (float(np.mean(samples["alone"])), "%"),
        f"{ALONE}, worst genre": (min(samples["alone"]), "%"),
        MIXED: (float(np.mean(samples["mixed"])), "%"),
        f"{MIXED}, worst genre": (min(samples["mixed"]), "%"),
        **{f"{MIXED}: {genre}": (share, "%") for genre, share in zip(GENRES, samples["mixed"], strict=True)},
        "beats at which something begins": (_median(samples["beats"]), "%"),
        "the same, of beats moved by 50 ms": (_median(samples["moved beats"]), "%"),
        "how far from the beat, median": (_median(samples["distance"]), "ms"),
        "bars alike, in sections of one name": (_median(samples["same"]), ""),
        "bars alike, in verse and chorus": (_median(samples["other"]), ""),
        "chorus that comes back": (_median(samples["hook"]), "%"),
        "loudness, furthest from -14 LUFS": (max(abs(one + 14) for one in samples["loudness"]), "LU"),
        "songs nearest to their own genre": (samples["told apart"][0], "%"),
        "genres apart, by songs of one": (samples["separation"][0], "x"),
        "word errors, said and written down": (samples["word errors"][0], "%"),
        "word errors, what people say": (samples["people word errors"][0], "%"),
        "beginnings of phrases off, mean": (float(np.mean(samples["phrases"])), "ms"),
        "beginnings of phrases off, most": (max(samples["phrases"]), "ms"),
    }
    for name, (value, unit) in values.items():
        yield Row(name, value, unit, BARS.get(name))


def _median(values: Sequence[float]) -> float:
    return float(np.nanmedian(values))


if __name__ == "__main__":
    end(main)
