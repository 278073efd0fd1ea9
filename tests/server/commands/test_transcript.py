"""The forms in which a transcript is told."""

import json

import pytest
from pydantic import JsonValue

from engine.words import Word
from server.client import BadAnswer
from server.commands.transcript import heard_in, in_form

DOCUMENT: JsonValue = {
    "text": " Come home.",
    "language": "en",
    "language_probability": 0.9,
    "seconds": 2.5,
    "segments": [
        {
            "start": 0.5,
            "end": 1.5,
            "text": " Come home.",
            "words": [
                {"word": "Come", "start": 0.5, "end": 1.0},
                {"word": "home.", "start": 1.0, "end": 1.5},
            ],
            "tokens": [1, 2],
        }
    ],
}


def test_a_servers_transcript_is_read() -> None:
    read = heard_in(DOCUMENT).transcript
    assert (read.language, read.seconds) == ("en", 2.5)
    assert read.segments[0].words[1] == Word("home.", 1.0, 1.5)


@pytest.mark.parametrize("document", [None, [], {"segments": []}, {"text": "a", "segments": [{"start": 1}]}])
def test_what_is_no_transcript_is_a_bad_answer(document: JsonValue) -> None:
    with pytest.raises(BadAnswer):
        heard_in(document)


@pytest.mark.parametrize(
    ("form", "begin"),
    [
        ("text", "Come home.\n"),
        ("srt", "1\n00:00:00,500 --> 00:00:01,500\nCome home.\n"),
        ("vtt", "WEBVTT\n"),
    ],
)
def test_forms_for_readers_and_players(form: str, begin: str) -> None:
    assert in_form(heard_in(DOCUMENT), form).startswith(begin)


def test_as_json_it_is_the_servers_own() -> None:
    assert json.loads(in_form(heard_in(DOCUMENT), "json")) == DOCUMENT
