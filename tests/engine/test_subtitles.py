"""Transcripts as subtitles."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.subtitles import CUE_SECONDS, LINE_COLUMNS, as_srt, as_vtt, columns, cues
from engine.transcription_model import Segment, Transcript
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


def transcript(*segments: Segment) -> Transcript:
    text = " ".join(one.text for one in segments)
    return Transcript(text, "en", 1.0, segments[-1].end if segments else 1.0, segments)


def test_srt_is_numbered_and_has_commas() -> None:
    said = transcript(segment("Hello there."), segment("And so on --> ever.", start=3661.5))
    assert as_srt(said) == (
        "1\n00:00:00,000 --> 00:00:00,600\nHello there.\n\n"
        "2\n01:01:01,500 --> 01:01:03,000\nAnd so on -> ever.\n\n"
    )


def test_vtt_has_a_heading_and_escapes_its_marks() -> None:
    said = transcript(segment("a < b & b > c"))
    assert as_vtt(said) == "WEBVTT\n\n00:00:00.000 --> 00:00:02.100\na &lt; b &amp; b &gt; c\n\n"


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


def test_a_segment_without_word_times_is_one_cue() -> None:
    said = transcript(Segment(1.0, 2.0, " no  times\nhere", (), (), 0.0, 0.0, 1.0, 0.0))
    assert [(cue.start, cue.end, cue.text) for cue in cues(said)] == [(1.0, 2.0, "no times here")]


def test_cues_never_overlap_even_where_segments_do() -> None:
    first, second = cues(transcript(segment("early bird", pace=2.0), segment("late bird", start=1.5)))
    assert (first.end, second.start) == (1.5, 1.5)


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs", "Z", "C")), min_size=1, max_size=12), min_size=1, max_size=60), st.floats(0.01, 2.0))  # fmt: skip
def test_every_word_stands_in_a_cue_of_the_right_size(words: list[str], pace: float) -> None:
    said = transcript(segment(" ".join(words), pace=pace))
    shown = cues(said)
    assert "".join("".join(cue.text.split()) for cue in shown) == "".join("".join(words).split())
    for cue in shown:
        assert cue.end - cue.start <= max(CUE_SECONDS, pace) + 0.1
        assert all(columns(line) <= LINE_COLUMNS + 24 for line in cue.text.split("\n"))
        assert cue.text.count("\n") <= 1


@pytest.mark.parametrize("written", [as_srt, as_vtt])
def test_a_cue_is_followed_by_one_blank_line(written: object) -> None:
    said = transcript(segment("One sentence here now. Another sentence follows."))
    text = as_srt(said) if written is as_srt else as_vtt(said)
    assert len(re.findall(r"-->", text)) == 2
    assert "\n\n\n" not in text
