"""Sentences for what is wrong with a request."""

import pytest
from pydantic import BaseModel, ValidationError

from engine.errors import UnknownField
from engine.request import SongRequest
from engine.request_errors import refusal, shown


def sentence(shape: type[BaseModel], payload: object) -> str:
    with pytest.raises(ValidationError) as caught:
        shape.model_validate(payload)
    return str(refusal(shape, caught.value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        ("a\u00e9\ud800", '"a\\u00e9\\ud800"'),
        ("x" * 50, '"' + "x" * 40 + '…"'),
        ([1, 2], "a list"),
        ({"a": 1}, "a JSON object"),
        (10**1000, "a very long number"),
        (float("nan"), "NaN"),
    ],
)
def test_a_value_is_shown_as_the_client_wrote_it(value: object, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"style": 5}, "style must be text; you sent 5."),
        ({"style": "a", "lora": 5}, "lora must be a list; you sent 5."),
        ({"style": "a", "lora": [5]}, "lora.0 must be a JSON object; you sent 5."),
        ({"style": "a", "lora": [{}]}, "lora.0.id is required; add it."),
        ({"style": "a", "lora": [{"id": ""}]}, "lora.0.id must not be empty; fill it in or leave it out."),
        ({"style": "a", "duration": 0}, "duration must be greater than 0; you sent 0."),
        ({"style": "a", "seed": -2}, "seed must be at least -1 and less than 2^63; you sent -2."),
        (
            {"style": "a", "abc_sampling": {"top_p": 2}},
            "abc_sampling.top_p must be greater than 0 and at most 1; you sent 2.",
        ),
        ({"style": "a", "lora": [{"id": "a"}] * 17}, "lora must have at most 16 entries; you sent 17."),
    ],
)
def test_sentences_name_field_bound_and_value(payload: object, text: str) -> None:
    assert sentence(SongRequest, payload) == text


def test_an_unexpected_kind_of_error_still_makes_a_sentence() -> None:
    class Dated(BaseModel):
        day: bytes

    assert sentence(Dated, {"day": 5}) == "day cannot be read (Input should be a valid bytes); you sent 5."


def test_an_unknown_field_far_from_any_other_is_answered_with_the_choices() -> None:
    with pytest.raises(ValidationError) as caught:
        SongRequest.model_validate({"style": "a", "lora": [{"id": "a", "zzzz\n": 1}]})
    error = refusal(SongRequest, caught.value)
    assert isinstance(error, UnknownField)
    assert str(error).endswith("choose one of: id, backbone, acoustic.")
    assert str(error).isprintable()
