"""The rhythm section: every chord heard at its instant, the groove's steps, the drums' place."""

from dataclasses import replace

import pytest

from engine.score import Timeline
from engine.sketch.accompaniment import bass_line, chord_pads, chord_strokes
from engine.sketch.drumming import drum_hits
from engine.sketch.grooves import GROOVES
from engine.sketch.percussion import CRASH, HAT, KICK, OPEN_HAT
from engine.sketch.strikes import Strike
from tests.engine.sketch.sounds import song


def keys_at(strikes: list[Strike], instant: float) -> set[int]:
    return {
        strike.key % 12 for strike in strikes if strike.start - 0.06 <= instant < strike.start + strike.length
    }


@pytest.mark.parametrize("groove", ["pop", "folk", "fingerpicking", "swing", "sustained"])
def test_chords_are_heard_where_the_score_has_them(groove: str) -> None:
    score = song()
    strokes = chord_strokes(score, GROOVES[groove])
    for chord in score.chords:
        tones = {(chord.root + interval) % 12 for interval in chord.intervals}
        heard = keys_at(strokes, chord.start + 0.01)
        assert heard
        assert heard <= tones
        assert groove == "fingerpicking" or heard == tones
    assert {strike.bar for strike in strokes} == {0, 1, 2, 3}


def test_a_change_between_the_strokes_is_played_too() -> None:
    score = song(1)
    chord = score.chords[0]
    late = replace(chord, root=9, start=0.83, end=1.0)
    score = replace(score, chords=(replace(chord, end=0.83), late))
    strokes = chord_strokes(score, GROOVES["sustained"])
    assert {strike.start for strike in strokes if strike.start > 0.7} == {0.83}
    basses = bass_line(score, GROOVES["sustained"])
    assert [round(strike.start, 2) for strike in basses] == [0.0, 0.83]


def test_the_bass_begins_each_chord_with_its_written_bass() -> None:
    score = song(2)
    over = replace(score.chords[1], bass=7)
    steps = bass_line(replace(score, chords=(score.chords[0], over)), GROOVES["pop"])
    first = {strike.bar: strike.key % 12 for strike in sorted(steps, key=lambda strike: -strike.start)}
    assert first == {0: 4, 1: 7}


def test_a_chord_that_stays_is_held_by_the_pad() -> None:
    score = song(2)
    same = replace(score.chords[0], start=1.0, end=2.0, bar=1)
    pads = chord_pads(replace(score, chords=(score.chords[0], same)))
    assert {(strike.start, strike.length) for strike in pads} == {(0.0, 2.0)}
    assert len(pads) == 3


def test_power_chords_are_root_fifth_and_octave() -> None:
    strokes = chord_strokes(song(1), GROOVES["rock"], power=True)
    assert {strike.key for strike in strokes} == {40, 47, 52}


def test_drums_play_their_grid_and_open_sections_with_a_crash() -> None:
    hits = drum_hits(song(), GROOVES["rock"])
    kicks = sorted(strike.start for strike in hits if strike.key == KICK and strike.bar == 0)
    assert kicks == pytest.approx([0.0, 0.5, 0.625])
    assert [strike.start for strike in hits if strike.key == CRASH] == [2.0, 3.0]


def test_drums_wait_for_the_first_chord_and_end_with_the_last() -> None:
    score = song()
    hits = drum_hits(replace(score, chords=score.chords[1:3]), GROOVES["pop"])
    assert {strike.bar for strike in hits} == {1, 2}


@pytest.mark.parametrize("groove", ["pop", "rock", "swing", "four on the floor", "metal", "train"])
def test_the_band_ends_on_one_hit_and_one_held_chord(groove: str) -> None:
    score = song()
    hits = [strike for strike in drum_hits(score, GROOVES[groove]) if strike.bar == 3]
    assert {strike.start for strike in hits} == {3.0}
    assert {strike.key for strike in hits} <= {KICK, CRASH}
    (bass,) = [strike for strike in bass_line(score, GROOVES[groove]) if strike.bar == 3]
    assert (bass.start, bass.key % 12) == (3.0, score.chords[3].root)
    chord = [strike for strike in chord_strokes(score, GROOVES[groove]) if strike.bar == 3]
    assert {strike.start for strike in chord} == {3.0}
    assert all(strike.start + strike.length == 5.0 for strike in [*chord, bass])


def test_a_change_in_the_last_bar_is_heard() -> None:
    score = song(2)
    early, late = replace(score.chords[1], end=1.5), replace(score.chords[0], start=1.5, end=2.0, bar=1)
    score = replace(score, chords=(score.chords[0], early, late))
    assert {strike.start for strike in bass_line(score, GROOVES["pop"]) if strike.bar == 1} == {1.0, 1.5}


def test_music_that_is_cut_and_a_single_bar_have_no_ending() -> None:
    cut = replace(song(), duration=9.0)
    assert len({strike.start for strike in drum_hits(cut, GROOVES["pop"]) if strike.bar == 3}) > 4
    assert len({strike.start for strike in drum_hits(song(1), GROOVES["pop"])}) > 4


def test_an_open_hat_is_choked_by_the_next_stroke() -> None:
    hits = drum_hits(song(1), GROOVES["four on the floor"])
    hats = sorted(
        (strike for strike in hits if strike.key in (HAT, OPEN_HAT)), key=lambda strike: strike.start
    )
    opened = next(place for place, strike in enumerate(hats) if strike.key == OPEN_HAT)
    assert hats[opened].start + hats[opened].length == pytest.approx(
        next(hat.start for hat in hats if hat.start > hats[opened].start + 0.02)
    )


def test_an_upbeat_is_left_to_the_melody() -> None:
    score = song()
    bars = ((0.0, 0.25), *((start + 0.25, end + 0.25) for start, end in score.bars))
    shifted = Timeline(
        score.notes, score.chords, bars, score.beats, (), score.duration + 0.25, ((4, 4),) * len(bars)
    )
    assert 0 not in {strike.bar for strike in drum_hits(shifted, GROOVES["pop"])}


def test_the_bass_steps_into_the_next_chord() -> None:
    score = replace(song(3), keys=("Em",) * 3)
    for groove, gaps in (("pop", {1, 2}), ("swing", {1})):
        steps = sorted(bass_line(score, GROOVES[groove]), key=lambda strike: strike.start)
        ends = [[strike.key for strike in steps if strike.bar == bar] for bar in range(3)]
        assert abs(ends[0][-1] - ends[1][0]) in gaps
        assert ends[0][-1] % 12 in {0, 2, 4, 6, 7, 9, 11} or groove == "swing"


def test_a_bass_under_a_chord_that_stays_goes_to_its_fifth() -> None:
    score = song(3)
    same = tuple(replace(score.chords[0], start=float(bar), end=bar + 1.0, bar=bar) for bar in range(3))
    steps = sorted(bass_line(replace(score, chords=same), GROOVES["pop"]), key=lambda strike: strike.start)
    assert [strike.key % 12 for strike in steps if strike.bar == 0][-1] == 11


def test_a_breakdown_has_one_long_bass_note_a_bar_and_a_verse_less_background() -> None:
    score = replace(song(4), sections=(("breakdown", 0.0, 2.0), ("chorus", 2.0, 4.0)))
    basses = bass_line(score, GROOVES["rock"])
    assert [sum(strike.bar == bar for strike in basses) for bar in (0, 2)] == [1, 8]
    pads = chord_pads(song())
    assert {strike.weight for strike in pads if strike.start < 2} == {0.6}
    assert {strike.weight for strike in pads if strike.start >= 2} == {1.0}
