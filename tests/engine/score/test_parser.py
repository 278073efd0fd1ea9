"""Whole tunes."""

import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine.errors import ScoreError
from engine.score import Score, Section, parse, word_faults, write
from engine.score.place import MAX_TEXT
from tests.engine.score.tunes import EXAMPLE, abc_texts, heard, read, tune


def shape(score: Score) -> dict[str, list[int]]:
    """The number of notes in each bar of each voice."""
    return {voice.id: [len(bar.notes) for bar in voice.bars] for voice in score.voices}


def test_example_of_the_dialect() -> None:
    score = parse(EXAMPLE.read_text())

    assert (score.title, score.meter, str(score.unit), score.tempo_bpm, score.key) == (
        "",
        (4, 4),
        "1/32",
        120,
        "Em",
    )
    assert [(voice.id, voice.name, voice.short_name, len(voice.bars)) for voice in score.voices] == [
        ("Vocal", "Vocal Melody", "Vocal", 34),
        ("Ins", "Ins Melody", "Inst.", 34),
    ]
    assert score.sections == (
        Section("intro", 0),
        Section("verse", 8),
        Section("chorus", 20),
        Section("outro", 28),
    )
    assert {bar.duration for voice in score.voices for bar in voice.bars} == {1}
    assert [(chord.text, str(chord.offset)) for chord in score.voices[0].bars[0].chords] == [("Em", "7/8")]
    assert [note.pitches[0].midi for note in score.voices[1].bars[2].notes] == [
        75,
        71,
        78,
        71,
        76,
        71,
        75,
        71,
    ]


def test_music_before_any_voice_field_is_the_first_voice() -> None:
    assert shape(parse(tune("C D|E|"))) == {"1": [2, 1]}
    assert shape(parse("X:1\nV:S\nV:B\nK:C\nC|\nV:B\nD|E|\n")) == {"S": [1], "B": [1, 1]}


def test_voices_alternate_by_line_or_inline() -> None:
    text = "X:1\nK:C\nV:1 bass\n[V:1] C|D|\n[V:2] E|F|\nV:1 name=Lead\nG|\n[V:2]A|\n"
    score = parse(text)

    assert shape(score) == {"1": [1, 1, 1], "2": [1, 1, 1]}
    assert (score.voices[0].clef, score.voices[0].name, score.voices[1].clef) == ("bass", "Lead", "treble")


def test_full_bar_ends_with_its_voice_where_no_bar_line_is_written() -> None:
    assert shape(parse(tune("V:1\nC8\nV:2\nE8\nV:1\nD4\nV:2\nF8\nV:1\nD4|"))) == {"1": [1, 2], "2": [1, 1]}


def test_bar_goes_on_in_the_next_line() -> None:
    assert shape(parse(tune("C2 D2\nE4|F8\n|"))) == {"1": [3, 1]}


def test_sections_by_comment_or_part() -> None:
    score = parse(tune("P:A\nC8|\n% a remark\nD8|\nP:B\n% chorus\nE8|[P:C]F8|\n% outro"))

    assert score.sections == (Section("A", 0), Section("chorus", 2), Section("C", 3))


def test_fields_without_music_are_passed_over() -> None:
    body = "%%MIDI program 1\nI:linebreak $\nU:T=!trill!\nN:note\nC [r:remark] [I:x] D|\ns: !p!\nW: words\nm: x\n%% text"
    assert shape(parse(tune(body))) == {"1": [2]}


def test_voice_has_its_own_unit_and_meter() -> None:
    score = parse(tune("[V:1][L:1/4]C4|\n[V:2]C8|"))

    assert [voice.bars[0].duration for voice in score.voices] == [1, 1]


def test_rest_of_a_bar_takes_the_meter_another_voice_states() -> None:
    score = parse(tune("[V:1]C8|[M:3/4]C6|\n[V:2]Z2|"))

    assert [bar.duration for bar in score.voices[1].bars] == [1, 0.75]


def test_overlay_of_one_id_twice_has_ids_of_its_own() -> None:
    score = parse("X:1\nV:1\nV:1&2\nK:C\nC8&E8|\nV:1&2\nG8|\n")

    assert [voice.id for voice in score.voices] == ["1", "1&2", "1&2&"]


def test_transposed_voice_sounds_elsewhere() -> None:
    score = parse(tune("[V:1 transpose=-2]C8|\n[V:2]C8|"))

    assert [voice.bars[0].notes[0].pitches[0].midi for voice in score.voices] == [58, 60]


def test_file_header_holds_for_its_tune() -> None:
    score = parse("M:3/4\nL:1/4\n\nA tune book\n\nX:5\nT:One\nK:G\nCDE|\n\nX:6\nT:Two\nK:C\nC|\n")

    assert (score.title, score.meter, shape(score)) == ("One", (3, 4), {"1": [3]})


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "key"),
        (tune(""), 1, 1, "music after the key"),
        (tune("% only words"), 7, 1, "music after the key"),
        (tune("C|\nV:"), 8, 3, "Name the voice"),
        (tune("C|[M:4/3]D"), 7, 6, "lower number"),
        (tune("C|\nK:H"), 8, 3, "Write the key"),
        (tune("C|\nL:3/8"), 8, 3, "unit note length"),
        (tune("C|[Q:fast]"), 7, 6, "tempo"),
        (tune("C [K:Em"), 7, 3, "Close the inline field"),
        (tune("C>\nV:2\nD"), 7, 2, "both sides"),
        (tune("Z2000|C|"), 7, 8, "2000 bars"),
        (tune("[1C" * 2001), 7, 6003, "2000 bars"),
        (tune("".join(f"[V:{n}]C|" for n in range(65))), 7, 506, "at most 64 voices"),
        ("C" * (MAX_TEXT + 1), 1, 1, "characters"),
    ],
)
def test_fault_of_a_tune_is_found_at_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ScoreError, match=message) as fault:
        parse(text)

    assert (fault.value.line, fault.value.column) == (line, column)


@settings(max_examples=80, deadline=None)
@given(
    st.text()
    | st.text(alphabet="ABCdefzZxXKLMQVw:|[]()<>{}\"^_=-/,'0123456789%&\n ", max_size=80).map(
        lambda body: f"X:1\nK:C\n{body}"
    )
)
def test_any_text_is_a_score_or_a_score_error(text: str) -> None:
    result = read(text)

    assert result.bar_count > 0 if isinstance(result, Score) else min(result.line, result.column) >= 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(abc_texts)
def test_whatever_is_read_is_written_timed_and_read_again(text: str) -> None:
    result = read(text)
    assume(isinstance(result, Score))
    assert isinstance(result, Score)

    written = write(result)
    again = parse(written)

    assert write(again) == written
    assert heard(again) == heard(result)


def test_too_many_notes_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.score.music.MAX_NOTES", 10)
    monkeypatch.setattr("engine.score.parser.MAX_NOTES", 10)

    assert shape(parse(tune("|:[CE]z{g}F:|"))) == {"1": [3]}
    with pytest.raises(ScoreError, match="10 notes") as fault:
        parse(tune("CDEFGABcdef"))
    assert (fault.value.line, fault.value.column) == (7, 11)
    with pytest.raises(ScoreError, match="repeats counted"):
        parse(tune("|:[CE]z{g}F:|G"))


@pytest.mark.parametrize(
    ("others", "last", "most"),
    [("C|", "C|" * 501, 500), ("C&D&E&F&G|", "C|" * 101, 100), ("C|", "|:" + "C|" * 71 + "C:::::::|", 500)],
)
def test_too_many_bars_of_all_voices_are_a_fault(others: str, last: str, most: int) -> None:
    voices = [others] * 63 + [last if "&" not in others else others + last]

    with pytest.raises(ScoreError, match=f"Shorten each voice to {most} bars"):
        parse(tune("\n".join(f"[V:{n}]{body}" for n, body in enumerate(voices)), unit="1/64"))


@pytest.mark.parametrize("stop", [1, 60, 155])
def test_reading_is_stopped_by_its_check(stop: int) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyError

    with pytest.raises(KeyError):
        parse(tune("C8|" * 50), check)
    assert calls == stop


LONG = 8_000


@pytest.mark.parametrize(
    "body",
    [
        "C" * LONG,
        "[" * LONG,
        '"' * LONG,
        '"Am' * LONG,
        "{c}" * LONG,
        ":" * LONG,
        "C>" * LONG,
        "C|" + "\n" * LONG,
        "C" * 500 + "\nV:1" * LONG,
        "C|\n" + "w:a\n" * LONG,
        "C|\nw:a\n" + "+:a\n" * LONG,
        "c" + "'" * LONG,
        "C" + "9" * LONG,
        "C&" * LONG,
        "[1" + ",1" * LONG,
    ],
)
def test_long_and_hostile_texts_end_soon(body: str) -> None:
    start = time.process_time()

    result = read(f"X:1\nK:C\n{body}"[:LONG])

    assert time.process_time() - start < 3
    assert isinstance(result, Score) or result.line >= 1


@pytest.mark.parametrize("field", ["K", "L", "M", "P", "Q", "V"])
@pytest.mark.parametrize(
    "piece", ["1", "1/", "1+", "/111", "1/4 ", "C=", "C ", "^f", 'name="a" ', "a=", '"', "(", "x "]
)
def test_long_value_of_a_field_is_refused_unread(field: str, piece: str) -> None:
    value = (piece * MAX_TEXT)[: MAX_TEXT // 2 - 100]
    for text in (f"X:1\nK:C\n{field}:{value}x\nC|", f"X:1\nK:C\nC[{field}:{value}x]C|"):
        with pytest.raises(ScoreError, match="shorten it to"):
            parse(text)


@pytest.mark.parametrize(
    "body",
    [
        "C|\n\n" + " " * MAX_TEXT,
        "C|\nw:" + r"\a" * MAX_TEXT,
        "C|\nw:" + "a--" * MAX_TEXT,
        "C|\nT:" + "a=" * MAX_TEXT,
        "C|\n%" + "verse " * MAX_TEXT,
        "C|" + "! " * MAX_TEXT,
        "C|" + "[K:" * MAX_TEXT,
        "C|" + ":" * MAX_TEXT,
        "C|" + "{" * MAX_TEXT,
        "C" + "1" * MAX_TEXT,
        "C|(" + "1" * MAX_TEXT,
        "C|[" + "1" * MAX_TEXT,
        'C|"' + "A" * MAX_TEXT,
    ],
)
def test_long_line_takes_time_by_its_length(body: str) -> None:
    start = time.process_time()

    result = read(f"X:1\nK:C\n{body}"[: MAX_TEXT - 1] + "x")

    assert time.process_time() - start < 3
    assert isinstance(result, Score) or result.line >= 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("one two three", ("none is left for “three”",)),
        ("on-ly-one", ("none is left for “one”",)),
        ("one", ("1 note is left at its end",)),
        ("one two", ()),
        ("one _", ()),
        ("one * * *", ()),
        ("|two", ()),
        ("", ()),
    ],
)
def test_words_that_do_not_fit_their_notes_are_told_with_their_line(
    words: str, told: tuple[str, ...]
) -> None:
    faults = word_faults(f"X:1\nM:4/4\nL:1/4\nK:C\nC2 z2|D4|\nw: {words}\n")
    assert len(faults) == len(told)
    assert all(said in str(fault) for said, fault in zip(told, faults, strict=True))
    assert all(fault.line == 6 for fault in faults)
