"""Parts of a score."""

import pytest

from engine.errors import InvalidRequest
from engine.score import Score, Section, excerpt, parse, strip_chords, strip_lyrics, timeline, write
from tests.engine.score.tunes import EXAMPLE, heard, tune


def song() -> Score:
    return parse(tune('% intro\n"C"C8|[Q:60][M:3/4][K:G]D6-|\n% verse\nD6|"G"z2"Am"E4-|E6|'))


def test_excerpt_keeps_what_is_in_force() -> None:
    cut = excerpt(song(), 3, 2)

    assert (cut.meter, cut.tempo_bpm, cut.key, cut.bar_count) == ((3, 4), 60, "G", 2)
    assert cut.sections == (Section("verse", 0),)
    assert [(chord.text, str(chord.offset)) for chord in cut.voices[0].bars[0].chords] == [("C", "0")]
    assert [bar.meter or bar.key or bar.tempo_bpm for bar in cut.voices[0].bars] == [None, None]
    assert heard(cut) == [(62, 0, 3), (64, 4, 6)]
    assert not cut.voices[0].bars[-1].notes[-1].tie


def test_excerpt_from_a_change_begins_with_it() -> None:
    cut = excerpt(song(), 2, 99)

    assert (cut.bar_count, cut.meter, cut.voices[0].bars[0].meter) == (4, (3, 4), None)
    assert cut.sections == (Section("intro", 0), Section("verse", 1))


def test_excerpt_of_everything_is_the_song_as_played() -> None:
    score = parse(EXAMPLE.read_text())

    assert excerpt(score, 1, 34) == score
    assert timeline(excerpt(score, 9, 4)).duration == 8


def test_bars_count_as_played() -> None:
    score = parse(tune("|:C8|D8:|E8|"))

    assert [midi for midi, *_ in heard(excerpt(score, 2, 2))] == [60, 62]
    assert heard(excerpt(score, 5, 1)) == [(64, 0, 2)]


def test_the_chord_that_holds_is_the_last_one_of_any_voice() -> None:
    score = parse(tune('[V:1]"C"C8|C8|C8|\n[V:2]"F"C4"G"C4|C8|"Am"C8|'))
    cut = excerpt(score, 2)

    assert [[chord.text for chord in voice.bars[0].chords] for voice in cut.voices] == [["G"], []]
    assert [chord.text for chord in timeline(cut).chords] == ["G", "Am"]


def test_of_two_chords_at_one_instant_the_first_voice_has_the_say() -> None:
    cut = excerpt(parse(tune('[V:1]"C"C8|C8|\n[V:2]"F"C8|C8|')), 2)

    assert [chord.text for chord in timeline(cut).chords] == ["C"]


def test_a_chord_that_begins_with_the_excerpt_needs_none_before_it() -> None:
    cut = excerpt(parse(tune('[V:1]"C"C8|C8|\n[V:2]C8|"F"C8|')), 2)

    assert [[chord.text for chord in voice.bars[0].chords] for voice in cut.voices] == [[], ["F"]]


def test_voice_in_another_key_states_it_at_the_start() -> None:
    cut = excerpt(parse(tune("[V:1]C8|C8|\n[V:2][K:F]B8|B8|")), 2, 1)

    assert (cut.key, cut.voices[0].bars[0].key, cut.voices[1].bars[0].key) == ("C", None, "F")
    assert heard(parse(write(cut))) == [(60, 0, 2), (70, 0, 2)]


@pytest.mark.parametrize(
    ("from_bar", "bars", "field"),
    [(0, 1, "from_bar"), (6, 1, "from_bar"), (-1, 1, "from_bar"), (1, 0, "bars")],
)
def test_range_without_bars_is_refused(from_bar: int, bars: int, field: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        excerpt(song(), from_bar, bars)

    assert refusal.value.field == field


def test_empty_score_has_no_excerpt() -> None:
    with pytest.raises(InvalidRequest):
        excerpt(Score(()), 1, 1)


def test_score_without_chords_or_words() -> None:
    score = parse(tune('"C"C4 "G"D4|\nw: a b'))

    assert write(strip_chords(score)).endswith("C4D4|\nw: a b\n")
    assert write(strip_lyrics(score)).endswith('"C"C4"G"D4|\n')
