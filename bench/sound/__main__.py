"""What songs, speech and transcripts are like: `python -m bench.sound [--full]`.

Prints a table, keeps the numbers in bench/results/ and draws the pictures of docs/sound.md into docs/pictures/. Songs are
of fifteen genres, with words that stand in no example; what is sung and said is written down again by our own
transcription. With `--full` every genre's words are listened to, and more songs of each are compared.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.report import Bar, Row, begin, end, is_full
from bench.sound.features import balance
from bench.sound.genres import separation, told_apart
from bench.sound.matching import NOTHING, Match
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
from bench.sound.singing import cents_off, phrase_errors, talk_understood, tracked, understood
from bench.sound.songs import GENRES, PORTRAIT_SECONDS, RATE_HZ, Studio
from engine.catalogue import Catalogue, open_catalogue

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
LISTENED = ("folk", "pop", "rock", "jazz", "waltz")
BARS = {
    "notes off the score, median": Bar(5.0),
    "words understood, voice alone": Bar(60.0, at_most=False),
    "words understood, in the mix": Bar(40.0, at_most=False),
    "beats at which something begins": Bar(70.0, at_most=False),
    "bars alike, in sections of one name": Bar(0.5, at_most=False),
    "chorus that comes back": Bar(50.0, at_most=False),
    "songs nearest to their own genre": Bar(80.0, at_most=False),
    "word errors, said and written down": Bar(3.0),
    "beginnings of phrases off, mean": Bar(60.0),
    "loudness, furthest from -14 LUFS": Bar(0.5),
}
Samples = dict[str, list[float]]


def main() -> int:
    """Measure songs, then genres, then speech."""
    full = is_full(__doc__ or "")
    report = begin("sound", "songs with words of their own, listened to by the product's transcription")
    PICTURES.mkdir(exist_ok=True)
    studio, catalogue = Studio(), open_catalogue(None)
    samples: Samples = {}
    samples |= of_songs(studio, catalogue, GENRES if full else LISTENED)
    samples |= of_genres(studio, 5 if full else 3)
    samples |= of_speech(catalogue)
    return report.conclude(list(rows(samples)), samples)


def of_songs(studio: Studio, catalogue: Catalogue, genres: Sequence[str]) -> Samples:
    """Notes, words, beats, sections, hook and loudness of a song of each genre; draws the first one's pitch and form."""
    found: Samples = {}
    alone, mixed = NOTHING, NOTHING
    for number, genre in enumerate(genres):
        song = studio.song(genre, number)
        track = tracked(song)
        heard = understood(catalogue.transcription(""), song)
        alone, mixed = alone + heard[0], mixed + heard[1]
        same, other = section_contrast(song)
        share, offset = beats_with_onset(song)
        one = {
            "beats": 100 * share,
            "onset offset": offset,
            "same": same,
            "other": other,
            "hook": 100 * hook_recurrence(song.score),
            "loudness": loudness(song)[0],
        }
        for name, value in one.items():
            found.setdefault(name, []).append(value)
        found.setdefault("cents", []).extend(np.abs(cents_off(song, track)))
        if not number:
            _keep("pitch", pitch_picture(song, track))
            _keep("similarity", similarity_picture(song, bar_similarity(song)))
    return found | {"alone": _told(alone), "mixed": _told(mixed)}


def _told(match: Match) -> list[float]:
    return [100 * match.recognised]


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
    """Speech written down again, and when phrases begin; draws the words."""
    speaker, listener = catalogue.speech(""), catalogue.transcription("")
    phrases = phrase_errors(speaker, listener)
    _keep("words", words_picture(phrases.sound, speaker.sample_rate_hz, phrases.heard))
    return {
        "word errors": [100 * talk_understood(speaker, listener).error],
        "phrases": [1000 * error for error in phrases.errors],
    }


def _keep(name: str, picture: str) -> None:
    (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")


def rows(samples: Samples) -> Iterator[Row]:
    """The table: medians of songs, sums over words."""
    values = {
        "notes off the score, median": (_median(samples["cents"]), "cents"),
        "notes within 20 cents": (100 * float(np.mean(np.array(samples["cents"]) <= 20)), "%"),
        "words understood, voice alone": (samples["alone"][0], "%"),
        "words understood, in the mix": (samples["mixed"][0], "%"),
        "beats at which something begins": (_median(samples["beats"]), "%"),
        "how far from the beat": (_median(samples["onset offset"]), "ms"),
        "bars alike, in sections of one name": (_median(samples["same"]), ""),
        "bars alike, in verse and chorus": (_median(samples["other"]), ""),
        "chorus that comes back": (_median(samples["hook"]), "%"),
        "loudness, furthest from -14 LUFS": (max(abs(one + 14) for one in samples["loudness"]), "LU"),
        "songs nearest to their own genre": (samples["told apart"][0], "%"),
        "genres apart, by songs of one": (samples["separation"][0], "x"),
        "word errors, said and written down": (samples["word errors"][0], "%"),
        "beginnings of phrases off, mean": (float(np.mean(samples["phrases"])), "ms"),
        "beginnings of phrases off, most": (max(samples["phrases"]), "ms"),
    }
    for name, (value, unit) in values.items():
        yield Row(name, value, unit, BARS.get(name))


def _median(values: Sequence[float]) -> float:
    return float(np.nanmedian(values))


if __name__ == "__main__":
    end(main)
