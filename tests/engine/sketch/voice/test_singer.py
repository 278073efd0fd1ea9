"""The whole way from notes with words to sound, listened to."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.score.model import TimedNote
from engine.sketch.notes import RATE_HZ
from engine.sketch.voice import Singer, Sung
from tests.engine.sketch.voice.songs import SECONDS, SONG, cents, heard_hertz, level, melody


def _held(
    notes: list[TimedNote], after: float = 0.08, before: float = 0.12
) -> Iterator[tuple[TimedNote, float]]:
    """Instants at which a vowel is held, each with its note."""
    for note in notes:
        for instant in np.arange(note.start + after, note.end - before, 0.02):
            yield note, float(instant)


def _errors(sung: Sung, notes: list[TimedNote]) -> list[float]:
    heard = [(note, heard_hertz(sung.samples, instant)) for note, instant in _held(notes)]
    return [cents(hertz, note.midi) for note, hertz in heard if hertz]


def test_the_voice_keeps_the_scores_pitch(sung: Sung) -> None:
    errors = np.abs(_errors(sung, SONG))
    assert len(errors) > 100
    assert np.median(errors) <= 8  # with the vibrato of what is held
    assert np.mean(errors <= 30) >= 0.9


def test_a_vowel_begins_on_its_note_and_its_consonant_before(sung: Sung) -> None:
    lates = []
    for note in SONG:
        if note.lyric in ("cap-", "tain", "sees", "ship", "sea", "Take", "to", "top"):
            grid = np.arange(note.start - 0.09, note.start + 0.09, 0.004)
            loud = np.array([_ring(sung, instant) for instant in grid])
            lates.append(grid[np.argmax(loud > 0.35 * loud.max())] - note.start)
            assert level(sung.samples, note.start - 0.15, note.start - 0.03) > 1e-3
    assert np.abs(np.median(lates)) <= 0.025
    assert np.mean(np.abs(lates) <= 0.04) >= 0.75


def _ring(sung: Sung, instant: float) -> float:
    """How loud the lower harmonics are, which only a voice has."""
    middle = round(instant * RATE_HZ)
    frame = sung.samples[middle - 480 : middle + 480] * np.hanning(960)
    return float(np.abs(np.fft.rfft(frame))[2:20].max())


def test_what_is_not_sung_is_silent(sung: Sung) -> None:
    assert level(sung.samples, 0.0, 0.1) < 1e-3
    assert level(sung.samples, 3.8, 3.95) < 1e-3
    assert level(sung.samples, 7.3, 7.5) < 1e-3
    assert level(sung.samples, 0.6, 3.5) > 0.03


def test_words_are_told_in_order_and_where_their_notes_are(sung: Sung) -> None:
    assert [word.text for word in sung.words][:3] == ["The", "captain", "sees"]
    assert all(before.end <= after.start + 1e-9 for before, after in pairwise(sung.words))
    starts = {note.start for note in SONG}
    assert all(word.start in starts for word in sung.words)
    assert sung.words[1].end == SONG[2].end


@pytest.mark.parametrize("last", ["gate", "boots", "five", "rain", "top", "bread", "cold"])
def test_the_last_vowel_of_a_line_lasts_as_long_as_its_note(singer: Singer, last: str) -> None:
    line = melody(f"I see the {last}", [54, 56, 57, 54], [0.3, 0.4, 0.3, 1.1])
    heard = singer.sing(line, 3.0, seed=2).samples
    note = line[-1]
    instants = np.arange(note.start + 0.05, note.end, 0.02)
    voiced = [instant for instant in instants if heard_hertz(heard, float(instant))]
    assert max(voiced) >= note.end - 0.2
    assert len(voiced) >= 0.75 * len(instants)


def test_only_long_notes_tremble(sung: Sung) -> None:
    def swing(note: TimedNote) -> float:
        heard = [
            cents(hertz, note.midi)
            for instant in np.arange(note.start + 0.08, note.end - 0.25, 0.01)
            if (hertz := heard_hertz(sung.samples, instant))
        ]
        return float(np.percentile(heard, 95) - np.percentile(heard, 5)) if len(heard) > 3 else 0.0

    long = [note for note in SONG if note.end - note.start >= 1.0]
    assert all(20 < swing(note) < 70 for note in long)
    short = [note for note in SONG[1:7] if note.lyric != "cap-"]
    assert np.median([swing(note) for note in short]) < 25


def test_the_same_seed_gives_the_same_samples_and_another_one_others(singer: Singer, sung: Sung) -> None:
    again = singer.sing(SONG, SECONDS, seed=1)
    other = singer.sing(SONG, SECONDS, seed=2)
    assert np.array_equal(again.samples, sung.samples)
    assert not np.array_equal(other.samples, sung.samples)


def test_samples_are_as_many_as_asked_for(singer: Singer) -> None:
    cut = singer.sing(SONG, 1.5, seed=1)
    assert len(cut.samples) == 1.5 * RATE_HZ
    assert all(word.start < 1.5 and word.end <= 1.5 for word in cut.words)
    assert level(cut.samples, 1.3, 1.5) > 0.03
    assert len(singer.sing([], 0.0, seed=1).samples) == 0


def test_words_in_a_script_the_voice_cannot_read_are_left_to_others(singer: Singer) -> None:
    notes = melody("Hel- lo . 你 好", [60] * 5, [0.4] * 5)
    sung = singer.sing(notes, 3.0, seed=1)
    assert [word.text for word in sung.words] == ["Hello"]
    assert sung.notes == tuple(notes[:2])
    assert level(sung.samples, 1.8, 2.4) < 1e-3


def test_a_song_far_below_or_above_is_sung_in_the_voices_octave(singer: Singer) -> None:
    for key, octaves in ((40, 1), (79, -2)):
        notes = melody("La la", [key, key], [0.5, 0.6])
        sung = singer.sing(notes, 2.0, seed=1)
        errors = [cents(heard_hertz(sung.samples, 1.0 + offset), key + 12 * octaves) for offset in (0.2, 0.3)]
        assert np.abs(errors).max() < 30
        assert sung.notes == tuple(notes)


def test_a_rest_within_a_word_is_silent(singer: Singer) -> None:
    notes = melody("win- . dow", [60, 60, 62], [0.5, 0.8, 0.6])
    sung = singer.sing(notes, 3.0, seed=1)
    assert [word.text for word in sung.words] == ["window"]
    assert level(sung.samples, 1.25, 1.5) < 0.01 < level(sung.samples, 0.6, 0.9)


def test_a_long_syllable_keeps_its_pitch_over_all_seams(singer: Singer) -> None:
    sung = singer.sing([TimedNote("Vocal", 57, 0.3, 8.3, 0, "ah")], 9.0, seed=1)
    heard = [heard_hertz(sung.samples, instant) for instant in np.arange(1.0, 8.0, 0.25)]
    assert np.abs([cents(hertz, 57) for hertz in heard]).max() < 40
    steps = np.abs(np.diff(sung.samples))
    assert steps.max() < 0.25


class Stop(Exception):
    pass


def test_a_check_that_raises_stops_the_song(singer: Singer) -> None:
    left = iter(range(5))

    def check() -> None:
        if next(left, None) is None:
            raise Stop

    with pytest.raises(Stop):
        singer.sing(SONG, SECONDS, 1, check)


def test_progress_goes_from_nothing_to_all(singer: Singer) -> None:
    told: list[float] = []
    singer.sing(SONG, SECONDS, 1, report=told.append)
    assert told[0] == 0.0
    assert told == sorted(told)
    assert told[-1] == 1.0


LYRICS = st.sampled_from(
    [
        "hel-",
        "lo",
        "_",
        "*",
        "",
        "-",
        "--",
        "99",
        "1969-",
        "$5",
        "don't",
        "WE",
        "xqzv",
        "hmm",
        "shh",
        "...",
        "日本",
        "при-",
        "of the",
        "é",
        "strengths",
        "I",
        "—",
        "(oh)",
        "x" * 300,
        "9" * 80,
        "\u0301",
        "🎵",
        "AT&T",
        "mm-",
    ]
)


@st.composite
def tunes(draw: st.DrawFn) -> list[TimedNote]:
    start, notes = 0.0, []
    for _ in range(draw(st.integers(1, 6))):
        length = draw(st.sampled_from([0.0, 0.01, 0.03, 0.075, 0.15, 0.3, 0.8]))
        notes.append(TimedNote("Vocal", draw(st.integers(0, 127)), start, start + length, 0, draw(LYRICS)))
        start += length * draw(st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.6]))
    return notes


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tunes(), st.integers(-(2**70), 2**70))
def test_any_notes_and_words_are_sung(singer: Singer, notes: list[TimedNote], seed: int) -> None:
    sung = singer.sing(notes, 2.0, seed)
    assert sung.samples.shape == (2 * RATE_HZ,)
    assert np.isfinite(sung.samples).all()
    assert np.abs(sung.samples).max() < 4
    assert all(before.start <= after.start for before, after in pairwise(sung.words))
