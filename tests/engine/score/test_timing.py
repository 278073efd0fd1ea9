"""Scores in seconds; the example's times are worked out by hand (a bar lasts 2 s) and agree with abc2midi's."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings

from engine.score import Bar, Score, Timeline, Voice, beat_of, parse, timeline
from tests.engine.score.strategies import dialect_scores
from tests.engine.score.tunes import EXAMPLE, tune


def timed(body: str, **header: str) -> Timeline:
    return timeline(parse(tune(body, **header)))


def notes(body: str, **header: str) -> list[tuple[int, float, float]]:
    """Pitch, start and end of each note."""
    return [(note.midi, round(note.start, 4), round(note.end, 4)) for note in timed(body, **header).notes]


def test_example_of_the_dialect_in_time() -> None:
    line = timeline(parse(EXAMPLE.read_text()))

    assert line.duration == 68
    assert len(line.notes) == 136
    assert line.bars == tuple((2.0 * bar, 2.0 * bar + 2) for bar in range(34))
    assert line.beats == tuple(0.5 * beat for beat in range(136))
    assert line.sections == (("intro", 0, 16), ("verse", 16, 40), ("chorus", 40, 56), ("outro", 56, 68))
    assert [(note.midi, note.start, note.end, note.bar) for note in line.notes[:4]] == [
        (76, 2.0, 2.25, 1),
        (71, 2.25, 2.5, 1),
        (79, 2.5, 2.75, 1),
        (71, 2.75, 3.0, 1),
    ]
    sung = [(note.midi, note.start, note.end, note.bar) for note in line.notes if note.voice == "Vocal"]
    assert sung[:7] == [
        (76, 16.25, 16.75, 8),
        (71, 16.75, 17.0, 8),
        (76, 17.0, 17.25, 8),
        (71, 17.25, 17.5, 8),
        (76, 17.5, 17.75, 8),
        (71, 17.75, 18.0, 8),
        (75, 18.0, 18.5, 9),
    ]
    assert (71, 21.75, 22.25, 10) in sung  # B4-|B4 over the bar line
    assert (76, 27.75, 28.5, 13) in sung  # e4-|e8 over a bar line after chord symbols
    assert [(note.midi, note.start, note.end) for note in line.notes[-1:]] == [(76, 64.0, 68.0)]


def test_example_chords_last_until_the_next_one() -> None:
    chords = timeline(parse(EXAMPLE.read_text())).chords

    assert [(chord.text, chord.start, chord.end, chord.bar) for chord in chords[:3]] == [
        ("Em", 1.75, 2.0, 0),
        ("Em", 2.0, 4.0, 1),
        ("B", 4.0, 6.0, 2),
    ]
    assert (chords[7].text, chords[7].root, chords[7].intervals, chords[7].bass) == (
        "Cmaj7",
        0,
        (0, 4, 7, 11),
        0,
    )
    assert all(before.end == after.start for before, after in pairwise(chords))
    assert chords[-1].end == 68


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("C4 E4|", [(60, 0, 1), (64, 1, 2)]),
        ("C4-C4|", [(60, 0, 2)]),
        ("C8-|C8-|C4 C4|", [(60, 0, 5), (60, 5, 6)]),
        ("[CE]4-[CG]4|", [(60, 0, 2), (64, 0, 1), (67, 1, 2)]),
        ("C4-E4|", [(60, 0, 1), (64, 1, 2)]),
        ("C4-z4|C8|", [(60, 0, 1), (60, 2, 4)]),
        ("^C4-_D4|", [(61, 0, 2)]),
        ("^C8-|C4 C4|", [(61, 0, 3), (60, 3, 4)]),
        ("C8-|", [(60, 0, 2)]),
        ("|:C8|D8-:|D8|", [(60, 0, 2), (62, 2, 4), (60, 4, 6), (62, 6, 10)]),
        ("|:C8-:|", [(60, 0, 4)]),
        ("(3CDE F2 z4|", [(60, 0, 0.1667), (62, 0.1667, 0.3333), (64, 0.3333, 0.5), (65, 0.5, 1)]),
        ("C>D z4|", [(60, 0, 0.375), (62, 0.375, 0.5)]),
        ("[CC]8|", [(60, 0, 2)]),
        ("Z2|C8|", [(60, 4, 6)]),
        ("{g}C4 D4|", [(79, 0, 0.06), (60, 0.06, 1), (62, 1, 2)]),
        ("{ga}C4|", [(79, 0, 0.06), (81, 0.06, 0.12), (60, 0.12, 1)]),
        (
            "{gagaga}C|",
            [
                (79, 0, 0.0208),
                (81, 0.0208, 0.0417),
                (79, 0.0417, 0.0625),
                (81, 0.0625, 0.0833),
                (79, 0.0833, 0.1042),
                (81, 0.1042, 0.125),
                (60, 0.125, 0.25),
            ],
        ),
        ("C4-{g}C4|", [(60, 0, 2)]),
    ],
)
def test_notes_in_time(body: str, expected: list[tuple[int, float, float]]) -> None:
    assert notes(body) == expected


@pytest.mark.parametrize(
    ("body", "header", "starts"),
    [
        ("C4D4|", {"tempo": "1/4=60"}, [0, 2]),
        ("CDE FGA|", {"meter": "6/8", "tempo": "3/8=80"}, [0, 0.25, 0.5, 0.75, 1, 1.25]),
        ("C4D4|[Q:1/4=60]E4F4|G8", {}, [0, 1, 2, 4, 6]),
        ("C8|[Q:1/4=240]D8|[Q:120]E8|F8", {}, [0, 2, 3, 5]),
        ("|:C8|[Q:1/4=240]D8:|", {}, [0, 2, 3, 5]),
    ],
)
def test_tempo(body: str, header: dict[str, str], starts: list[float]) -> None:
    assert [note.start for note in timed(body, **header).notes] == pytest.approx(starts)


def test_note_tied_over_a_change_of_tempo_has_both_parts() -> None:
    assert notes("C8-|[Q:1/4=60]C8|") == [(60, 0, 6)]


def test_voices_share_their_bars_and_a_short_one_waits() -> None:
    line = timed("[V:1]C8|D8|\n[V:2]E4|F8|")

    assert [(note.voice, note.midi, note.start, note.bar) for note in line.notes] == [
        ("1", 60, 0, 0),
        ("2", 64, 0, 0),
        ("1", 62, 2, 1),
        ("2", 65, 2, 1),
    ]


@pytest.mark.parametrize(
    ("meter", "body", "beats"),
    [
        ("4/4", "C8|D8|", [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]),
        ("3/4", "C6|", [0, 0.5, 1]),
        ("2/2", "C8|", [0, 1]),
        ("6/8", "C6|C6|", [0, 0.75, 1.5, 2.25]),
        ("12/8", "C12|", [0, 0.75, 1.5, 2.25]),
        ("9/8", "C9|", [0, 0.75, 1.5]),
        ("6/4", "C12|", [0, 0.5, 1, 1.5, 2, 2.5]),
        ("3/8", "C3|", [0, 0.25, 0.5]),
        ("5/8", "C5|", [0, 0.25, 0.5, 0.75, 1]),
        ("4/4", "C2|D8|", [0, 0.5, 1, 1.5, 2]),
        ("4/4", "C3|D8|", [0.25, 0.75, 1.25, 1.75, 2.25]),
        ("6/8", "C|D6|", [0.25, 1]),
        ("4/4", "C8|D3|E8|", [0, 0.5, 1, 1.5, 2, 2.5, 2.75, 3.25, 3.75, 4.25]),
        ("4/4", "C10|", [0, 0.5, 1, 1.5, 2]),
    ],
)
def test_beats_follow_the_meter(meter: str, body: str, beats: list[float]) -> None:
    assert list(timed(body, meter=meter).beats) == pytest.approx(beats)


@pytest.mark.parametrize(
    ("meter", "beat"),
    [
        ((4, 4), "1/4"),
        ((6, 8), "3/8"),
        ((12, 16), "3/16"),
        ((3, 8), "1/8"),
        ((6, 4), "1/4"),
        ((2, 2), "1/2"),
        ((15, 8), "3/8"),
    ],
)
def test_beat_of_a_meter(meter: tuple[int, int], beat: str) -> None:
    assert beat_of(meter) == Fraction(beat)


def test_meter_of_each_bar_as_played() -> None:
    line = timed("|:C8|[M:3/4]D6:|[M:6/8]E6|")

    assert line.meters == ((4, 4), (3, 4), (4, 4), (3, 4), (6, 8))
    assert line.bars == ((0, 2), (2, 3.5), (3.5, 5.5), (5.5, 7), (7, 8.5))
    assert line.duration == 8.5


def test_no_chord_ends_a_chord() -> None:
    line = timed('z8|"C"C4 D2 "N.C."E2|"G7"F4 "N.C."z4|')

    assert [(chord.text, chord.start, chord.end, chord.bar) for chord in line.chords] == [
        ("C", 2, 3.5, 1),
        ("G7", 4, 5, 2),
    ]


def test_chords_of_all_voices_count_and_the_first_voice_wins() -> None:
    line = timed('[V:1]"C"C8|D8|\n[V:2]"F"E4"G/B"E4|"Am"E8|')

    assert [(chord.text, chord.start, chord.end, chord.root, chord.bass) for chord in line.chords] == [
        ("C", 0, 1, 0, 0),
        ("G/B", 1, 2, 7, 11),
        ("Am", 2, 4, 9, 9),
    ]


def test_sections_as_played() -> None:
    line = timed("C8|\n% verse\n|:D8|\n% chorus\nE8:|")

    assert line.sections == (("verse", 2, 4), ("chorus", 4, 6), ("verse", 6, 8), ("chorus", 8, 10))


def test_words_go_with_their_notes() -> None:
    line = timed("|:C4 D4-|D4 z4:|\nw: hel-lo\nw: good- bye")

    assert [(note.lyric, note.start, note.end) for note in line.notes] == [
        ("hel-", 0, 1),
        ("lo", 1, 3),
        ("good-", 4, 5),
        ("bye", 5, 7),
    ]


def test_score_without_bars_lasts_no_time() -> None:
    line = timeline(Score(()))

    assert (line.duration, line.notes, line.chords, line.bars, line.beats, line.sections) == (
        0,
        (),
        (),
        (),
        (),
        (),
    )


def test_bars_without_notes_last_no_time() -> None:
    assert timeline(Score((Voice("1", (Bar(), Bar())),))).bars == ((0, 0), (0, 0))


@settings(max_examples=12, deadline=None)
@given(dialect_scores())
def test_times_are_in_order_and_within_the_song(score: Score) -> None:
    line = timeline(score)

    assert list(line.notes) == sorted(line.notes, key=lambda note: (note.start, note.midi))
    assert all(0 <= note.start < note.end <= line.duration + 1e-9 for note in line.notes)
    assert all(line.bars[note.bar][0] <= note.start < line.bars[note.bar][1] for note in line.notes)
    assert [start for start, _ in line.bars[1:]] == [end for _, end in line.bars[:-1]]
    assert list(line.beats) == sorted(set(line.beats))


def test_timing_is_stopped_by_its_check() -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 180:
            raise KeyError

    score = parse(tune('"Am"C"G"D|' * 40))

    with pytest.raises(KeyError):
        timeline(score, check)
    assert calls == 180
