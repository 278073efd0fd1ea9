"""Repeats played out."""

import pytest

from engine.errors import ScoreError
from engine.score import parse, unroll
from engine.score.repeats import Played, play_order
from tests.engine.score.tunes import tune


def played(body: str) -> str:
    """The letters of the first note of each bar as played."""
    bars = unroll(parse(tune(body))).voices[0].bars
    return "".join(bar.notes[0].pitches[0].step for bar in bars)


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ("C|D|E|", "CDE"),
        ("|:C|D:|E|", "CDCDE"),
        ("C|D:|E|F:|G", "CDCDEFEFG"),
        ("C|D::E:|", "CDCDEE"),
        ("|:C::|D", "CCCD"),
        ("C|:D:|E", "CDDE"),
        ("|:C|1D:|2E|]F", "CDCEF"),
        ("|:C|1D:|2E:|F", "CDCEF"),
        ("|:C|1D:|E|", "CDCE"),
        ("|:C|[1,3D:|[2E:|[4F|]G", "CDCECDCFG"),
        ("|:C|[1-3D:|[4E|]", "CDCDCDCE"),
        ("|:C|1D|2E|]", "CDCE"),
        ("|:C|1D|E:|2F|G||A|B:|", "CDECFGABAB"),
        ("|:C|1D:|2E|:F|1G:|2A|]", "CDCEFGFA"),
        ("|:C|D|:E:|", "CDEE"),
        ("C|[2D|E|", "CDE"),
        ("[1C||D:|", "CDD"),
        ("|:C|[1D||[2E||F:|", "CDFF"),
    ],
)
def test_order_of_playing(body: str, order: str) -> None:
    assert played(body) == order


def test_played_bars_know_their_index_and_pass() -> None:
    assert play_order(parse(tune("|:C|1D:|2E")).voices) == [
        Played(0, 1),
        Played(1, 1),
        Played(0, 2),
        Played(2, 2),
    ]


def test_signs_of_one_voice_hold_for_all_and_short_voices_rest() -> None:
    score = unroll(parse(tune("[V:1]|:C4:|D2|\n[V:2]E2|")))

    assert [bar.duration for bar in score.voices[0].bars] == [0.5, 0.5, 0.25]
    assert [bar.duration for bar in score.voices[1].bars] == [0.25, 0.25, 0.25]
    assert [bar.notes[0].is_rest for bar in score.voices[1].bars] == [False, False, True]


def test_nothing_is_left_to_repeat() -> None:
    score = unroll(parse(tune("|:C|1D:|2E|]")))

    assert all(not bar.repeat_start and not bar.repeat_end and not bar.ending for bar in score.voices[0].bars)
    assert unroll(score) == score


def test_changes_are_stated_again_where_the_music_jumps_back() -> None:
    bars = unroll(parse(tune("|:C8|[M:3/4][Q:60][K:G]C6:|C6|"))).voices[0].bars

    assert [bar.meter for bar in bars] == [None, (3, 4), (4, 4), (3, 4), None]
    assert [bar.tempo_bpm for bar in bars] == [None, 60, 120, 60, None]
    assert [bar.key for bar in bars] == [None, "G", "C", "G", None]


def test_each_pass_has_its_verse() -> None:
    bars = unroll(parse(tune("|:C8|D8:|E8|\nw: one two three\nw: four five"))).voices[0].bars

    assert [bar.notes[0].lyric for bar in bars] == ["one", "two", "four", "five", "three"]


def test_sections_begin_again_with_the_repeat() -> None:
    score = unroll(parse(tune("% intro\nC|\n% verse\n|:D|E|\n% chorus\nF:|G|\n% outro\nA|")))

    assert [(section.name, section.bar) for section in score.sections] == [
        ("intro", 0),
        ("verse", 1),
        ("chorus", 3),
        ("verse", 4),
        ("chorus", 6),
        ("outro", 8),
    ]


def test_jump_into_a_section_begins_it_again() -> None:
    score = unroll(parse(tune("% verse\nC|:D|\n% chorus\nE:|")))

    assert [(section.name, section.bar) for section in score.sections] == [
        ("verse", 0),
        ("chorus", 2),
        ("verse", 3),
        ("chorus", 4),
    ]


def test_too_many_bars_are_a_fault_with_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.score.place.MAX_BARS", 6)

    assert played("|:C|D|E:|") == "CDECDE"
    with pytest.raises(ScoreError, match="Shorten") as fault:
        parse(tune("|:C|D|E:|F"))
    assert (fault.value.line, fault.value.column) == (7, 10)


def test_more_bars_of_all_voices_than_the_bound_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.score.place.MAX_CELLS", 12)

    score = parse(tune("[V:1]|:C|D|E:|\n[V:2]F"))

    assert [len(voice.bars) for voice in unroll(score).voices] == [6, 6]
    with pytest.raises(ScoreError, match="each voice to 4 bars"):
        parse(tune("[V:1]|:C|D|E:|\n[V:2]F\n[V:3]G"))


def test_playing_out_is_stopped_by_its_check() -> None:
    def check() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        unroll(parse(tune("C")), check)
