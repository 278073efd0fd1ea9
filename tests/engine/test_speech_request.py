"""What `/speech` is asked for."""

import pytest

from engine.errors import InvalidRequest, MissingInput, UnknownField
from engine.speech_request import MOST_CHARACTERS, read_speech


def test_the_text_alone_is_enough() -> None:
    asked = read_speech({"text": "Hello."})
    assert (asked.text, asked.voice, asked.speed, asked.seed) == ("Hello.", "", 1.0, -1)
    assert (asked.output_format, asked.mp3_bitrate) == ("mp3", 128)


@pytest.mark.parametrize("payload", [{}, {"text": ""}, {"text": " \n\t"}])
def test_something_must_be_said(payload: dict[str, object]) -> None:
    with pytest.raises(MissingInput, match="Send the text to say; it is blank"):
        read_speech(payload)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("speed", 0.24),
        ("speed", 4.01),
        ("speed", "1"),
        ("speed", True),
        ("seed", -2),
        ("seed", 1.5),
        ("voice", "x" * 101),
        ("output_format", "aac"),
        ("mp3_bitrate", 100),
        ("text", "x" * (MOST_CHARACTERS + 1)),
        ("text", 5),
        ("text", "a\ud800"),
    ],
)
def test_what_is_out_of_bounds_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_speech({"text": "Hello.", field: value})
    assert caught.value.field == field


@pytest.mark.parametrize(("field", "value"), [("speed", 0.25), ("speed", 4), ("text", "x" * MOST_CHARACTERS)])
def test_the_bounds_themselves_are_taken(field: str, value: object) -> None:
    assert getattr(read_speech({"text": "Hello.", field: value}), field) == value


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(UnknownField):
        read_speech({"text": "Hello.", "lyrics": ""})


def test_the_words_of_a_replay_are_taken_and_left_out() -> None:
    asked = read_speech({"text": "Hello.", "words": [{"word": "Hello.", "start": 0, "end": 1}]})
    assert "words" not in asked.model_dump()
