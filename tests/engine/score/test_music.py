"""Notes, lengths, bar lines and what else a line of music holds. Pitches and times agree with abc2midi's."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score import parse
from engine.score.music import read_length, read_passes
from engine.score.place import Place
from tests.engine.score.tunes import bars_of, lengths, midis, tune


@pytest.mark.parametrize(
    ("digits", "slashes", "below", "length"),
    [
        ("", "", "", "1"),
        ("3", "", "", "3"),
        ("", "/", "", "1/2"),
        ("", "//", "", "1/4"),
        ("3", "/", "2", "3/2"),
        ("", "/", "4", "1/4"),
        ("3", "/", "", "3/2"),
    ],
)
def test_length(digits: str, slashes: str, below: str, length: str) -> None:
    assert str(read_length(digits, slashes, below, Place(1, 1))) == length


@pytest.mark.parametrize(("slashes", "below"), [("//", "2"), ("/" * 11, ""), ("/", "0")])
def test_bad_length_is_a_fault(slashes: str, below: str) -> None:
    with pytest.raises(ScoreError):
        read_length("1", slashes, below, Place(1, 1))


@pytest.mark.parametrize(
    ("text", "passes"), [("1", (1,)), ("1,3", (1, 3)), ("1-3", (1, 2, 3)), ("2,1", (1, 2)), ("1,", (1,))]
)
def test_passes_of_an_ending(text: str, passes: tuple[int, ...]) -> None:
    assert read_passes(text, Place(1, 1)) == passes


@pytest.mark.parametrize("text", ["", "0", "17", "1--2", "3-1", "-", "1-99"])
def test_bad_passes_are_a_fault(text: str) -> None:
    with pytest.raises(ScoreError):
        read_passes(text, Place(1, 1))


@pytest.mark.parametrize(
    ("body", "key", "pitches"),
    [
        ("C D E F G A B c", "C", [60, 62, 64, 65, 67, 69, 71, 72]),
        ("C,, C, C c c' c''", "C", [36, 48, 60, 72, 84, 96]),
        ("^C ^^C =C _D __D", "C", [61, 62, 60, 61, 60]),
        ("A B c d e f g a", "A mix", [69, 71, 73, 74, 76, 78, 79, 81]),
        ("A B c d e f g a", "Cb", [68, 70, 71, 73, 75, 76, 78, 80]),
        ("A B c d e f g a", "D exp _b ^g", [69, 70, 72, 74, 76, 77, 80, 81]),
        ("A B c d e f g a", "D =c", [69, 71, 72, 74, 76, 78, 79, 81]),
        ("^F F f|F", "C", [66, 66, 77, 65]),
        ("=F F|F", "G", [65, 65, 66]),
        ("^A8-|A4 A4", "D", [70, 70, 69]),
        ("^A8-|A8-|A4 A4", "D", [70, 70, 70, 69]),
        ("_B8-|B8-|B4 B4", "D", [70, 70, 70, 71]),
        ("^^F F|F", "D", [67, 67, 66]),
        ("[K:Ebm]e g|[K:C]e", "C", [75, 78, 76]),
        ("^c [K:F]c B", "C", [73, 73, 70]),
        ("[ceg] [^CE]", "C", [72, 61]),
        ("{^g}A g", "C", [69, 80]),
        ("C", "C clef=treble-8", [48]),
        ("C", "C octave=1", [72]),
        ("C [K:bass octave=-1] C", "C", [60, 48]),
        ("C E", "C transpose=3", [63, 67]),
        ("z x Z", "C", [-1, -1, -1]),
    ],
)
def test_pitches(body: str, key: str, pitches: list[int]) -> None:
    assert midis(body, key=key) == pitches


@pytest.mark.parametrize(
    ("body", "meter", "durations"),
    [
        ("C C2 C/2 C/ C// C3/2 C/4", "4/4", ["1/8", "1/4", "1/16", "1/16", "1/32", "3/16", "1/32"]),
        ("A>B", "4/4", ["3/16", "1/16"]),
        ("A<B", "4/4", ["1/16", "3/16"]),
        ("A>>B", "4/4", ["7/32", "1/32"]),
        ("A<<<B", "4/4", ["1/64", "15/64"]),
        ("A > B", "4/4", ["3/16", "1/16"]),
        ("A2>B2", "4/4", ["3/8", "1/8"]),
        ("[AC]>z", "4/4", ["3/16", "1/16"]),
        ('A>"G"{g}B', "4/4", ["3/16", "1/16"]),
        ("A>B<C", "4/4", ["3/16", "1/32", "3/16"]),
        ("(3ABc d", "4/4", ["1/12", "1/12", "1/12", "1/8"]),
        ("(3A2Bc2", "4/4", ["1/6", "1/12", "1/6"]),
        ("(2AB", "6/8", ["3/16", "3/16"]),
        ("(4ABcd", "6/8", ["3/32"] * 4),
        ("(5ABcde", "4/4", ["1/20"] * 5),
        ("(5ABcde", "6/8", ["3/40"] * 5),
        ("(7ABcdefg", "4/4", ["1/28"] * 7),
        ("(6ABcdef", "4/4", ["1/24"] * 6),
        ("(3:2:2A2B c", "4/4", ["1/6", "1/12", "1/8"]),
        ("(3:4:2AB c", "4/4", ["1/6", "1/6", "1/8"]),
        ("(3::2AB c", "4/4", ["1/12", "1/12", "1/8"]),
        ("(3:2AB c d", "4/4", ["1/12", "1/12", "1/12", "1/8"]),
        ("(3A>Bc", "4/4", ["1/8", "1/24", "1/12"]),
        ("(3AB|c", "4/4", ["1/12", "1/12", "1/8"]),
        ("[CE]2 [C2E2] [C2E]3/2 [C/E/]2", "4/4", ["1/4", "1/4", "3/8", "1/8"]),
        ("Z|C8|Z2|", "3/4", ["3/4", "1", "3/4", "3/4"]),
        ("[M:2/4]Z|[M:6/8]Z|", "4/4", ["1/2", "3/4"]),
        ("[L:1/16]C[L:1/4]C", "4/4", ["1/16", "1/4"]),
        ("{gab}C y4 D y E", "4/4", ["1/8"] * 3),
    ],
)
def test_durations(body: str, meter: str, durations: list[str]) -> None:
    assert lengths(body, meter=meter) == durations


def test_ties_hold_slurs_and_decorations_say_nothing() -> None:
    notes = bars_of("C4- (C2 .D2)-|!trill!~.D4 +fermata+[C-E]2 [CE]-z vE $`*")

    assert [note.tie for note in notes[0].notes + notes[1].notes] == [
        True,
        False,
        True,
        False,
        True,
        True,
        False,
        False,
    ]


def test_chord_symbols_stand_at_their_offset_and_annotations_do_not_count() -> None:
    (bar,) = bars_of('"Em7/G"C4 "^up""_dn""<l"">r""@1,2 x""Fine""D.C."D2 "N.C."z "Am;second"C')

    assert [(chord.text, chord.offset) for chord in bar.chords] == [
        ("Em7/G", 0),
        ("N.C.", Fraction(3, 4)),
        ("Am", Fraction(7, 8)),
    ]


def test_the_later_of_two_symbols_at_one_place_stays() -> None:
    assert [chord.text for chord in bars_of('"C""G7"c8')[0].chords] == ["G7"]


def test_symbols_over_an_overlay_stand_at_their_own_offset() -> None:
    (bar,) = bars_of('c8 & "C"x4 "G"x4|')

    assert [(chord.text, chord.offset) for chord in bar.chords] == [("C", 0), ("G", Fraction(1, 2))]


def test_rests_of_both_kinds_and_accidentals_as_written() -> None:
    notes = bars_of("z x4 ^C D X")[0].notes

    assert [note.invisible for note in notes] == [False, True, False, False]
    assert [pitch.written for note in notes for pitch in note.pitches] == [1, None]
    assert [note.invisible for bar in bars_of("X2|Z") for note in bar.notes] == [True, True, False]


def test_grace_notes_go_with_the_note_after_them() -> None:
    first, second, third = bars_of("{/g}A z{cd}{e} B")[0].notes

    assert [pitch.midi for pitch in first.grace] == [79]
    assert second.grace == ()
    assert [pitch.step for pitch in third.grace] == ["C", "D", "E"]


@pytest.mark.parametrize(
    ("body", "marks"),
    [
        ("C|D|", [(False, 0, ()), (False, 0, ())]),
        ("|:C|D:|", [(True, 0, ()), (False, 2, ())]),
        ("C::D:|", [(False, 2, ()), (True, 2, ())]),
        ("C:||:D:|", [(False, 2, ()), (True, 2, ())]),
        ("|:C::|", [(True, 3, ())]),
        ("|:C|1D:|2E|]", [(True, 0, ()), (False, 2, (1,)), (False, 0, (2,))]),
        ("|:C|[1,3 D:|[2 E||F", [(True, 0, ()), (False, 2, (1, 3)), (False, 0, (2,)), (False, 0, ())]),
        ("C|1-2D|E:|3F|", [(False, 0, ()), (False, 0, (1, 2)), (False, 2, (1, 2)), (False, 0, (3,))]),
        ("C|1D|2E|", [(False, 0, ()), (False, 2, (1,)), (False, 0, (2,))]),
        ("C|\n:|", [(False, 2, ())]),
        ("C\n|:\nD", [(False, 0, ()), (True, 0, ())]),
    ],
)
def test_repeat_signs_and_endings(body: str, marks: list[tuple[bool, int, tuple[int, ...]]]) -> None:
    assert [(bar.repeat_start, bar.repeat_end, bar.ending) for bar in bars_of(body)] == marks


@pytest.mark.parametrize("line", ["|", "||", "|]", "[|", ".|", "[|]", "|  |"])
def test_bar_lines_of_any_kind_divide_bars(line: str) -> None:
    assert len(bars_of(f"C{line}D{line}")) == 2


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("C [CE", 3, "Close the chord"),
        ("C [CE|C", 3, "Close the chord"),
        ("[C[E]", 1, "Close the chord"),
        ("[C z]", 4, "Leave rests out"),
        ("C ] ", 3, "between \\[ and \\]"),
        ("[]", 2, "between \\[ and \\]"),
        ("C (3|", 3, "notes of the tuplet"),
        ("(3(3CDE", 1, "notes of the tuplet"),
        ("(3", 1, "notes of the tuplet"),
        ("(1C", 1, "at least 2"),
        ("(3:0C", 1, "from 1 to 64"),
        ("(17:2:2CD", 8, "length"),
        (">C", 1, "both sides"),
        ("C>|D", 2, "both sides"),
        ("C>>>>D", 2, "at most three"),
        ("C><D", 3, "both sides"),
        ("Z>C", 2, "both sides"),
        ("C//2", 1, "Write the length"),
        ("C99999999/1", 1, "at most 64 whole notes"),
        ("C1/17", 1, "ordinary fractions"),
        ("C0", 1, "the length"),
        ("Z999999999", 1, "from 1 to 2000"),
        ("Z0", 1, "from 1 to 2000"),
        ("C2/0", 1, "the length"),
        ("{h}C", 2, "only notes"),
        ("C,,,,,,", 1, "range of MIDI"),
        ("C c'''''''''", 3, "octave marks"),
        ("g'''' ^g''''", 7, "range of MIDI"),
        ("|1-99 C", 1, "from 1 to 16"),
        ("C" + ":" * 17 + "|", 2, "at most 16 times"),
        ("& C", 1, "before the &"),
        ("{" + "c" * 65 + "}C", 1, "at most 64 grace"),
    ],
)
def test_fault_in_the_music_is_found_at_its_place(body: str, column: int, message: str) -> None:
    with pytest.raises(ScoreError, match=message) as fault:
        parse(tune(body))

    assert (fault.value.line, fault.value.column) == (7, column)


def test_edges_of_the_range_of_midi_are_inside() -> None:
    assert midis("C,,,,, g''''") == [0, 127]


@pytest.mark.parametrize("sign", ["|:|", "|::|", "||:|"])
def test_a_repeat_inside_a_bar_line_is_no_repeat(sign: str) -> None:
    with pytest.raises(ScoreError, match="where it begins") as fault:
        parse(tune(f"CDEF{sign}"))

    assert (fault.value.line, fault.value.column) == (7, 5)
