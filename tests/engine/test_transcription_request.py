"""What `/transcribe` is asked for, beside the audio."""

import pytest

from engine.errors import InvalidRequest, UnknownField
from engine.transcription_request import MOST_PROMPT_CHARACTERS, read_transcription


def test_nothing_need_be_said() -> None:
    assert read_transcription({}).model_dump() == {
        "model": "",
        "language": "",
        "task": "transcribe",
        "prompt": "",
        "temperature": 0.0,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", 1.1),
        ("temperature", "0"),
        ("temperature", float("nan")),
        ("task", "sing"),
        ("language", "x" * 33),
        ("prompt", "x" * (MOST_PROMPT_CHARACTERS + 1)),
        ("prompt", "\ud800"),
    ],
)
def test_what_is_out_of_bounds_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_transcription({field: value})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "value"), [("temperature", 1), ("prompt", "x" * MOST_PROMPT_CHARACTERS), ("task", "translate")]
)
def test_the_bounds_themselves_are_taken(field: str, value: object) -> None:
    assert getattr(read_transcription({field: value}), field) == value


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(UnknownField):
        read_transcription({"seed": 1})
