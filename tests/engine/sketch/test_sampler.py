"""The score in the sound: every note at its pitch and its time; loudness, seams, seeds, progress, stopping."""

import math

import numpy as np
import pyloudnorm
import pytest

from engine.audio import integrated_loudness
from engine.control import Uncontrolled
from engine.errors import InvalidRequest
from engine.score import Timeline, timeline
from engine.sketch.arrangement import arrange
from engine.sketch.compose import compose
from engine.sketch.sampler import CEILING_DBFS, TAIL_SECONDS, Sampler, sounding_seconds
from engine.sketch.style import read_style
from tests.engine.sketch.sounds import RATE, cents_off, example, melody, note, song

FOLK = read_style("folk, acoustic guitar, drums, bass, flute")
EXACT = read_style("edm, saw lead, electric piano")


def stem(
    sampler: Sampler, score: Timeline, style: str, voice: str
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """One voice of a score alone, as mono (n,)."""
    samples = sampler.render(
        score, read_style(style), 1, Uncontrolled(), voices=[voice], accompaniment=False, room=False
    )
    return np.asarray(samples.mean(axis=1), dtype=np.float32)


@pytest.mark.parametrize(
    ("style", "limit"),
    [("folk, flute lead, steel guitar", 5.0), ("jazz, tenor sax, piano", 5.0)],
)
@pytest.mark.parametrize("voice", ["Vocal", "Ins"])
def test_every_note_of_the_score_sounds_at_its_pitch(
    sampler: Sampler, style: str, limit: float, voice: str
) -> None:
    score = example()
    sound = stem(sampler, score, style, voice)
    notes = [one for one in score.notes if one.voice == voice]
    off = {
        (one.bar, one.midi): cents_off(
            sound[round((one.start + 0.03) * RATE) : round(one.end * RATE)], one.midi
        )
        for one in notes
    }
    assert len(notes) > 60
    assert {place: cents for place, cents in off.items() if abs(cents) > limit} == {}


@pytest.mark.parametrize("voice", ["Vocal", "Ins"])
def test_every_note_of_the_score_sounds_at_its_time(sampler: Sampler, voice: str) -> None:
    score = example()
    notes = [one for one in score.notes if one.voice == voice]
    late = []
    # Every second note apart, so that each comes out of silence.
    for part in (notes[0::2], notes[1::2]):
        sound = np.abs(
            stem(
                sampler,
                Timeline(tuple(part), (), score.bars, score.beats, (), score.duration, score.meters),
                "edm, saw lead, electric piano",
                voice,
            )
        )
        for one in part:
            start = round(one.start * RATE)
            first = max(start - RATE // 20, 0)
            loudest = sound[start : start + RATE // 10].max()
            onset = first + int(np.argmax(sound[first : start + RATE // 10] > 0.02 * loudest))
            late.append((onset - start) / RATE)
    assert len(late) == len(notes)
    assert max(map(abs, late)) < 0.005


def test_a_note_ends_when_the_score_ends_it(sampler: Sampler) -> None:
    sound = np.abs(stem(sampler, melody(note(69, 0.1, 0.6), note(69, 1.5, 1.6)), "edm, saw lead", "Vocal"))
    held = sound[round(0.4 * RATE) : round(0.59 * RATE)].max()
    assert sound[round(0.85 * RATE) : round(1.4 * RATE)].max() < 0.03 * held


def test_the_mix_has_its_loudness_and_stays_under_the_ceiling(sampler: Sampler) -> None:
    samples = sampler.render(song(), FOLK, 1, Uncontrolled())
    assert samples.dtype == np.float32
    assert samples.shape == (round((4 + TAIL_SECONDS) * RATE), 2)
    assert pyloudnorm.Meter(RATE).integrated_loudness(np.ascontiguousarray(samples)) == pytest.approx(
        -14, abs=0.5
    )
    assert np.abs(samples).max() <= 10 ** (CEILING_DBFS / 20)


@pytest.mark.parametrize(
    "style",
    [
        *(pytest.param(style, marks=pytest.mark.runtime) for style in ("hip hop", "soul", "lullaby", "folk")),
        "metal",
    ],
)
def test_the_lead_stands_a_little_above_the_band(sampler: Sampler, style: str) -> None:
    words = "The morning light is on the sea\n"
    score = timeline(compose(style, f"[Verse]\n{words}[Chorus]\n{words}", 7, 25))
    parts = arrange(score, read_style(style), 1)
    sounds = []
    for exact in (True, False):
        mix = np.zeros((2, round((score.duration + 2) * RATE)), dtype=np.float32)
        some = tuple(part for part in parts if part.exact is exact)
        sampler.mix(some, mix, np.zeros_like(mix[0]), len(score.bars), Uncontrolled())
        sounds.append(integrated_loudness(mix.T, RATE))
    assert sounds[0] - sounds[1] == pytest.approx(1, abs=1.5)


def test_the_mix_begins_and_ends_in_silence_and_is_wide(sampler: Sampler) -> None:
    samples = sampler.render(song(), FOLK, 1, Uncontrolled())
    assert np.abs(samples[0]).max() < 1e-3
    assert np.abs(samples[-1]).max() == 0
    assert np.abs(samples[: RATE // 2]).max() > 0.05
    sides, middle = samples[:, 0] - samples[:, 1], samples.sum(axis=1)
    assert 0.1 < np.sqrt(np.square(sides).mean() / np.square(middle).mean()) < 0.6
    assert abs(10 * np.log10(np.square(samples[:, 0]).mean() / np.square(samples[:, 1]).mean())) < 2


def test_the_same_seed_gives_the_same_samples_and_another_seed_others(sampler: Sampler) -> None:
    first = sampler.render(song(2), FOLK, 7, Uncontrolled())
    assert np.array_equal(first, sampler.render(song(2), FOLK, 7, Uncontrolled()))
    assert np.array_equal(first, Sampler().render(song(2), FOLK, 7, Uncontrolled()))
    assert not np.array_equal(first, sampler.render(song(2), FOLK, 8, Uncontrolled()))


def test_a_melody_without_chords_has_its_band(sampler: Sampler) -> None:
    played = sampler.render(song(2, chords=False), EXACT, 1, Uncontrolled())
    alone = sampler.render(song(2), EXACT, 1, Uncontrolled(), accompaniment=False)
    assert not np.array_equal(played, alone)


def test_an_empty_score_is_silence(sampler: Sampler) -> None:
    samples = sampler.render(
        Timeline((), (), ((0.0, 1.0),), (0.0,), (), 1.0, ((4, 4),)), FOLK, 1, Uncontrolled()
    )
    assert not samples.any()


def test_a_limit_shortens_the_song_and_fades_it(sampler: Sampler) -> None:
    samples = sampler.render(song(), FOLK, 1, Uncontrolled(), limit_seconds=1.7)
    assert len(samples) == round(1.7 * RATE)
    assert np.abs(samples[-1]).max() == 0


@pytest.mark.parametrize("seconds", [3.1, 5, 29, 60.05, 241, 600])
@pytest.mark.parametrize("style", ["folk", "ambient, slow", "techno"])
def test_a_song_whose_sections_tell_their_times_is_as_long_to_the_sample(style: str, seconds: float) -> None:
    ended, count = seconds - TAIL_SECONDS, max(int(seconds / 60), 1)
    score = compose(style, f"[Verse, {ended / count:.3f} s]\n" * count, 3, ended)
    assert sounding_seconds(timeline(score).duration, seconds) == seconds


def test_only_what_rounding_takes_away_is_given_back() -> None:
    assert sounding_seconds(7.7, 10) == 7.7 + TAIL_SECONDS
    assert sounding_seconds(7.799, 10) == sounding_seconds(9, 10) == 10
    assert sounding_seconds(9, math.inf) == 9 + TAIL_SECONDS


def test_music_that_is_cut_fades_for_three_seconds_or_a_third(sampler: Sampler) -> None:
    score = song(12)
    whole = sampler.render(score, FOLK, 1, Uncontrolled(), limit_seconds=11)
    level = [float(np.abs(whole[round(at * RATE) : round((at + 0.5) * RATE)]).max()) for at in (7, 10, 10.5)]
    assert level[0] > 3.5 * level[1] > 7 * level[2] > 0
    short = sampler.render(score, FOLK, 1, Uncontrolled(), limit_seconds=0.3)
    assert np.abs(short[: RATE // 5]).max() > 0.3


def test_scores_over_twenty_minutes_are_refused(sampler: Sampler) -> None:
    with pytest.raises(InvalidRequest, match="at most 1200 s") as refused:
        sampler.render(melody(note(60, 0, 1300)), FOLK, 1, Uncontrolled())
    assert refused.value.field == "abc"


def test_keys_beyond_an_instrument_are_played_by_the_nearest_sample(sampler: Sampler) -> None:
    sound = stem(sampler, melody(note(110, 0, 0.5)), "violin", "Vocal")
    assert abs(cents_off(sound[2_000:20_000], 110)) < 20


class Witness:
    """A control that notes all and asks to stop at the check of a given number."""

    class StopAsked(Exception):
        pass

    def __init__(self, stop_at: float = math.inf) -> None:
        self.stop_at = stop_at
        self.checks = 0
        self.reports: list[tuple[str, float, int]] = []

    def check_cancelled(self) -> None:
        self.checks += 1
        if self.checks >= self.stop_at:
            raise self.StopAsked

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.reports.append((phase, fraction, counters["bars"]))

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        raise AssertionError("the caller knows the length before the sampler does")


def test_progress_rises_to_the_end_bar_by_bar(sampler: Sampler) -> None:
    witness = Witness()
    sampler.render(song(), FOLK, 1, witness)
    fractions = [fraction for _, fraction, _ in witness.reports]
    assert {phase for phase, _, _ in witness.reports} == {"rendering"}
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert {0, 1, 2, 3, 4} == {bars for _, _, bars in witness.reports}


def test_a_limit_spares_the_work_behind_it(sampler: Sampler) -> None:
    witness, whole = Witness(), Witness()
    sampler.render(song(40), FOLK, 1, witness, limit_seconds=2)
    sampler.render(song(4), FOLK, 1, whole)
    assert witness.checks < whole.checks


def test_long_notes_are_checked_within(sampler: Sampler) -> None:
    witness = Witness()
    sampler.render(melody(note(60, 0, 30.5)), FOLK, 1, witness, accompaniment=False, room=False)
    assert witness.checks > 2 * 30


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_the_work_stops_at_the_check_that_asks_for_it(sampler: Sampler, share: float) -> None:
    witness = Witness()
    sampler.render(song(), FOLK, 1, witness)
    stopped = Witness(max(round(witness.checks * share), 1))
    with pytest.raises(Witness.StopAsked):
        sampler.render(song(), FOLK, 1, stopped)
    assert stopped.checks == stopped.stop_at
