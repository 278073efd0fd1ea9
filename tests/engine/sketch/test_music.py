"""What composed songs are like as music: a hook that comes back, sections that repeat, genres that are told apart."""

import io
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from bench.sound.features import balance
from bench.sound.genres import told_apart
from bench.sound.matching import match
from bench.sound.measures import beats_with_onset, loudness, portrait, section_contrast
from bench.sound.songs import GENRES, LYRICS, RATE_HZ, Song
from engine.control import Uncontrolled
from engine.request import read_song
from engine.score import TimedNote, Timeline, timeline
from engine.sketch.compose import compose
from engine.sketch.performance import perform
from engine.sketch.pipeline import SketchModel
from engine.sketch.sampler import Sampler
from engine.sketch.style import read_style
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription_request import read_transcription

# The share of the energy below 120 Hz, to 500, to 2 kHz, to 6 kHz and above, in dB: no band of a mix is missing or alone.
LEAST_DB, MOST_DB = (-19, -11, -16, -24, -50), (-2, -1, -2, -3, -11)


def played(sampler: Sampler, genre: str, number: int, seconds: float) -> Song:
    """A song without its singer."""
    score = compose(genre, LYRICS[number % len(LYRICS)], 100 + number, seconds)
    time = timeline(score)
    made = perform(time, read_style(genre), 100 + number, sampler, None, Uncontrolled(), seconds)
    return Song(genre, time, score.tempo_bpm, made)


def sung(score: Timeline, start: float, end: float) -> Sequence[TimedNote]:
    return [note for note in score.notes if note.voice == "Vocal" and start - 0.01 <= note.start < end - 0.01]


def in_beats(score: Timeline, start: float, notes: Sequence[TimedNote]) -> set[tuple[int, float]]:
    """Keys, and beats from the start of the section; a bar's tempo may differ."""
    beats = np.asarray(score.beats)
    at = [float(np.interp(note.start, beats, np.arange(len(beats)))) for note in notes]
    first = float(np.interp(start, beats, np.arange(len(beats))))
    return {(note.midi, round(place - first, 2)) for note, place in zip(notes, at, strict=True)}


@pytest.mark.parametrize("genre", GENRES)
def test_the_hook_comes_back_note_for_note(genre: str) -> None:
    score = timeline(compose(genre, LYRICS[0], 5, 300))
    choruses = [
        in_beats(score, start, sung(score, start, end))
        for name, start, end in score.sections
        if name == "chorus"
    ]
    assert len(choruses) == 2
    first, later = choruses
    assert len(first & later) / len(first) > 0.8
    verse = next((start, end) for name, start, end in score.sections if name == "verse")
    other = in_beats(score, verse[0], sung(score, *verse))
    assert len(first & other) / len(first) < 0.6


@pytest.mark.parametrize("genre", GENRES)
def test_lines_breathe(genre: str) -> None:
    score = timeline(compose(genre, LYRICS[1], 6, 300))
    notes = [note for note in score.notes if note.voice == "Vocal"]
    rests = [after.start - before.end for before, after in pairwise(notes)]
    lines = sum(not line.startswith("[") for line in LYRICS[1].splitlines())
    assert sum(rest >= 0.25 for rest in rests) >= 0.8 * (lines - 1)


def test_beats_are_heard(sampler: Sampler) -> None:
    share, off_ms = beats_with_onset(played(sampler, "pop", 0, 14))
    assert share > 0.9
    assert off_ms < 12


@pytest.mark.runtime
@pytest.mark.parametrize("genre", GENRES)
def test_sections_of_one_kind_are_more_alike_than_others(sampler: Sampler, genre: str) -> None:
    song = played(sampler, genre, 0, 90)
    same, other = section_contrast(song)
    # Reggae has a fuller band in its second verse, an orchestra holds its chords over some beats; others come to 0.6 and 0.8.
    assert same > 0.4
    assert other < same - 0.4
    share, off_ms = beats_with_onset(song)
    assert share > 0.6
    assert off_ms < 15


@pytest.mark.runtime
def test_genres_are_told_apart_and_well_balanced(sampler: Sampler) -> None:
    genres, portraits = [], []
    shares: dict[tuple[str, int], NDArray[np.float64]] = {}
    for genre in GENRES:
        for number in range(3):
            song = played(sampler, genre, number, 28)
            genres.append(genre)
            portraits.append(portrait(song))
            shares[genre, number] = balance(song.grid, RATE_HZ)
            lufs, peak_db = loudness(song)
            assert lufs == pytest.approx(-14, abs=0.5)
            assert peak_db < -1.9
    outside = {
        place: found.round(1)
        for place, found in shares.items()
        if (found < LEAST_DB).any() or (found > MOST_DB).any()
    }
    assert outside == {}
    assert mean(told_apart(np.array(portraits), genres).values()) >= 0.9


@pytest.mark.runtime
def test_words_are_understood_in_the_mix(sampler: Sampler) -> None:
    model, listener = SketchModel(), WhisperTranscription()
    model._sampler = sampler
    shares = []
    for number, genre in enumerate(GENRES[::3]):
        lyrics = LYRICS[number % len(LYRICS)].split("[Verse]")[1]
        asked = {
            "style": genre,
            "lyrics": f"[Verse]{lyrics}",
            "lm_seed": 40 + number,
            "seed": 1,
            "duration": 70,
        }
        (track,) = model.generate(read_song(asked), Uncontrolled())
        audio = io.BytesIO()
        soundfile.write(audio, track.samples, track.sample_rate_hz, format="WAV")
        audio.seek(0)
        heard = listener.transcribe(audio, read_transcription({"language": "en"}), Uncontrolled())
        said = " ".join(line for line in lyrics.splitlines() if not line.startswith("["))
        shares.append(match(said, " ".join(part.text for part in heard.segments)).recognised)
    assert min(shares) >= 0.6
    assert mean(shares) >= 0.8
