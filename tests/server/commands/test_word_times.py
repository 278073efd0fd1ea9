"""Word times as files, and out of replays."""

import json

import pytest
from pydantic import JsonValue

from engine.words import Word
from server.commands.word_times import words_in, written_words

TEXT = "Grüße\nhome."
WORDS = (Word("Grüße", 0.5, 1.23456), Word("home.", 1.5, 2.0))


def test_words_as_json_are_those_of_the_answers() -> None:
    written = written_words(WORDS, TEXT, "json")
    assert json.loads(written)[0] == {"word": "Grüße", "start": 0.5, "end": 1.235}
    assert "Grüße" in written


def test_words_become_subtitles() -> None:
    assert written_words(WORDS, "", "srt") == "1\n00:00:00,500 --> 00:00:02,000\nGrüße home.\n\n"
    assert written_words(WORDS, "", "vtt").startswith(
        "WEBVTT\n\n00:00:00.500 --> 00:00:02.000\nGrüße home.\n"
    )


def test_subtitles_have_the_lines_and_marks_of_the_text() -> None:
    text = "[Verse]\n“Rain, rain,” they sang\nall day."
    spoken = ["Rain", "rain", "they", "sang", "all", "day"]
    words = [Word(word, 0.5 * place, 0.5 * place + 0.4) for place, word in enumerate(spoken)]
    told = written_words(words, text, "srt").strip().split("\n\n")
    assert [cue.split("\n")[2] for cue in told] == ["“Rain, rain,” they sang", "all day."]


def test_a_word_that_the_text_lacks_goes_with_those_before() -> None:
    words = [Word("la", 0.0, 0.5), Word("ooh", 0.5, 1.0), Word("lo", 1.0, 1.5)]
    told = written_words(words, "la!\nlo?", "srt")
    assert [cue.split("\n")[2] for cue in told.strip().split("\n\n")] == ["la! ooh", "lo?"]


def test_no_words_give_no_subtitle() -> None:
    assert written_words((), "", "srt") == ""
    assert written_words((), "", "vtt") == "WEBVTT\n\n"
    assert written_words((), "", "json") == "[]\n"


def test_words_are_read_from_a_replay() -> None:
    assert words_in({"words": [{"word": "la", "start": 1, "end": 1.5}], "abc": ""}) == (Word("la", 1.0, 1.5),)


@pytest.mark.parametrize("replay", [{}, None, [], {"words": None}, {"words": [{"text": "la"}]}])
def test_other_replays_tell_no_words(replay: JsonValue) -> None:
    assert words_in(replay) == ()
