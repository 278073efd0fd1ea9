"""Transcripts as subtitles."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.subtitles import Cue, Line, as_srt, as_vtt, columns, cues
from engine.transcription_model import Segment
from engine.words import Word


def segment(
    text: str, start: float = 0.0, pace: float = 0.3, pauses: dict[int, float] | None = None
) -> Segment:
    """A segment whose words take `pace` seconds each, with a pause before those named."""
    words, now = [], start
    for number, word in enumerate(text.split()):
        now += (pauses or {}).get(number, 0.0)
        words.append(Word(word, now, now + pace))
        now += pace
    return Segment(start, now, text, tuple(words), (), 0.0, -0.2, 1.2, 0.0)


def transcript(*segments: Segment) -> tuple[Segment, ...]:
    return segments


def test_srt_is_numbered_and_has_commas() -> None:
    said = transcript(segment("Hello there."), segment("And so on --> ever.", start=3661.5))
    assert as_srt(said) == (
        "1\n00:00:00,000 --> 00:00:00,600\nHello there.\n\n"
        "2\n01:01:01,500 --> 01:01:03,000\nAnd so on -> ever.\n\n"
    )


def test_vtt_has_a_heading_and_escapes_its_marks() -> None:
    said = transcript(segment("a < b & b > c"))
    assert as_vtt(said) == "WEBVTT\n\n00:00:00.000 --> 00:00:02.100\na &lt; b &amp; b &gt; c\n\n"


def test_lines_of_a_text_are_shown_as_segments_are() -> None:
    words = (Word("come", 0.5, 1.0), Word("home", 1.0, 1.5))
    assert cues([Line("come home", words)]) == [Cue(0.5, 1.5, "come home")]


def test_nothing_said_is_no_cue() -> None:
    assert (as_srt(transcript()), as_vtt(transcript())) == ("", "WEBVTT\n\n")


def test_a_cue_ends_with_its_sentence_and_where_the_speaker_pauses() -> None:
    said = transcript(segment("This is the first one. Then it goes on and stops", pauses={8: 1.0}))
    assert [cue.text for cue in cues(said)] == ["This is the first one.", "Then it goes", "on and stops"]


def test_a_long_line_is_broken_near_its_middle() -> None:
    (cue,) = cues(transcript(segment("one two three four five six seven eight nine ten", pace=0.2)))
    assert cue.text == "one two three four five\nsix seven eight nine ten"


def test_a_script_without_spaces_keeps_its_marks() -> None:
    text = "今日は、とてもいい天気です。"
    words = tuple(
        Word(word, number * 0.3, number * 0.3 + 0.3)
        for number, word in enumerate(["今日", "は", "とても", "いい", "天気", "です"])
    )
    (cue,) = cues(transcript(Segment(0.0, 2.0, text, words, (), 0.0, 0.0, 1.0, 0.0)))
    assert cue.text == text


def test_words_that_are_not_in_the_text_are_joined_by_spaces() -> None:
    words = (Word("two", 0.0, 0.3), Word("words", 0.3, 0.6), Word(" ", 0.6, 0.6))
    (cue,) = cues(transcript(Segment(0.0, 1.0, "", words, (), 0.0, 0.0, 1.0, 0.0)))
    assert cue.text == "two words"


def test_a_short_segment_without_word_times_is_one_cue() -> None:
    said = transcript(Segment(1.0, 2.0, " no  times\nhere", (), (), 0.0, 0.0, 1.0, 0.0))
    assert [(cue.start, cue.end, cue.text) for cue in cues(said)] == [(1.0, 2.0, "no times here")]


def test_cues_never_overlap_even_where_segments_do() -> None:
    first, second = cues(transcript(segment("early bird", pace=2.0), segment("late bird", start=1.5)))
    assert (first.end, second.start) == (1.5, 1.5)


ANY_LETTER = st.characters(blacklist_categories=("Cs", "Z", "C"))
WORDS = st.lists(st.text(ANY_LETTER, min_size=1, max_size=14), min_size=1, max_size=60)
LONG_WORDS = st.lists(st.text(ANY_LETTER, min_size=1, max_size=200), min_size=1, max_size=5)


def check_sizes(said: tuple[Segment, ...], text: str) -> None:
    """All of the text is shown, in cues of the right size that do not overlap."""
    shown, now = cues(said), 0.0
    assert "".join("".join(cue.text.split()) for cue in shown) == "".join(text.split())
    for cue in shown:
        assert now <= cue.start <= cue.end <= cue.start + 7.0 + 1e-9
        assert all(0 < columns(line) <= 42 for line in cue.text.split("\n"))
        assert cue.text.count("\n") <= 1
        now = cue.end


@given(WORDS, st.floats(0.01, 20.0))
def test_every_word_stands_in_a_cue_of_the_right_size(words: list[str], pace: float) -> None:
    check_sizes(transcript(segment(" ".join(words), pace=pace)), " ".join(words))


@given(LONG_WORDS, st.floats(0.01, 20.0))
def test_words_wider_than_a_line_are_cut(words: list[str], pace: float) -> None:
    check_sizes(transcript(segment(" ".join(words), pace=pace)), " ".join(words))


def test_a_word_of_a_hundred_letters_is_shown_whole() -> None:
    check_sizes(transcript(segment("x" * 100)), "x" * 100)
    assert [cue.text for cue in cues(transcript(segment("x" * 100)))] == ["\n".join(["x" * 42] * 2), "x" * 16]


@given(st.one_of(WORDS, LONG_WORDS), st.floats(0.01, 600.0))
def test_a_text_without_word_times_is_shown_at_one_pace(words: list[str], seconds: float) -> None:
    text = " ".join(words)
    check_sizes(transcript(Segment(1.0, 1.0 + seconds, text, (), (), 0.0, 0.0, 1.0, 0.0)), text)


def test_words_that_the_list_leaves_out_are_shown_too() -> None:
    text = "one " + "and what nobody has listed " * 8 + "two"
    words = (Word("one", 0.0, 0.3), Word("two", 6.0, 6.3))
    check_sizes(transcript(Segment(0.0, 7.0, text, words, (), 0.0, 0.0, 1.0, 0.0)), text)


def test_minutes_without_word_times_is_many_cues_in_step_with_it() -> None:
    text = "この文には時刻がありません。" * 60
    shown = cues(transcript(Segment(0.0, 240.0, text, (), (), 0.0, 0.0, 1.0, 0.0)))
    assert [cue.text for cue in shown] == ["この文には時刻がありません。"] * 60
    assert [cue.start for cue in shown] == pytest.approx([4.0 * number for number in range(60)])


def test_two_lines_are_balanced_at_a_space_and_never_too_wide() -> None:
    text = "a" * 28 + " " + "b" * 10 + " " + "c" * 30
    (cue,) = cues(transcript(segment(text)))
    assert cue.text == "a" * 28 + " " + "b" * 10 + "\n" + "c" * 30
    first, second = cues(transcript(segment("a" * 25 + " " + "b" * 25 + " " + "c" * 25)))
    assert (first.text, second.text) == ("a" * 25 + "\n" + "b" * 25, "c" * 25)


def test_a_mark_that_opens_stands_with_what_it_opens() -> None:
    words = (Word("said", 0.0, 0.3), Word("well", 1.5, 1.8))
    first, second = cues(transcript(Segment(0.0, 2.0, "said, (well)", words, (), 0.0, 0.0, 1.0, 0.0)))
    assert (first.text, second.text) == ("said,", "(well)")


@pytest.mark.parametrize("written", [as_srt, as_vtt])
def test_a_cue_is_followed_by_one_blank_line(written: object) -> None:
    said = transcript(segment("One sentence here now. Another sentence follows."))
    text = as_srt(said) if written is as_srt else as_vtt(said)
    assert len(re.findall(r"-->", text)) == 2
    assert "\n\n\n" not in text
