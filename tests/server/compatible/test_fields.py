"""The engine's refusals in another API's words."""

import pytest

from engine.errors import InvalidRequest, MissingInput, UnknownField, UnknownModel
from engine.request import read_song
from engine.speech_request import read_speech
from server.compatible.fields import renamed, reworded

SPEECH = {"text": "input", "output_format": "response_format"}
MUSIC = {
    "model": "model_id",
    "style": "prompt",
    "lyrics": "composition_plan",
    "duration": "music_length_ms",
    "lora.0.id": "finetune_id",
}


@pytest.mark.parametrize(
    ("sent", "field", "sentence"),
    [
        ({"text": 3}, "input", "input must be text; you sent 3."),
        ({"text": "a", "speed": "text"}, "speed", 'speed must be a number; you sent "text".'),
        (
            {"text": "a", "output_format": "text"},
            "response_format",
            'response_format must be one of mp3, opus, flac, wav16, wav24, wav32; you sent "text".',
        ),
        ({"text": "x" * 100_001}, "input", "input must have at most 100000 characters; you sent 100001."),
    ],
)
def test_a_field_is_named_as_the_caller_wrote_it(sent: object, field: str, sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused, renamed(SPEECH):
        read_speech(sent)
    assert (refused.value.field, str(refused.value)) == (field, sentence)


def test_the_kind_of_error_stays() -> None:
    with pytest.raises(MissingInput, match="Send the text to say"), renamed(SPEECH):
        read_speech({"text": " "})
    with pytest.raises(UnknownField) as refused, renamed({"textt": "inputt"}):
        read_speech({"text": "a", "textt": 1})
    assert refused.value.field == "inputt"
    assert str(refused.value).startswith("There is no field 'inputt'; ")


def test_a_missing_input_can_be_blamed_on_a_field() -> None:
    with pytest.raises(MissingInput) as refused, renamed({"": "prompt"}):
        read_song({})
    assert refused.value.field == "prompt"


def test_a_model_is_blamed_by_the_callers_name_too() -> None:
    with pytest.raises(UnknownModel, match="There is no model 'model' here") as refused, renamed(MUSIC):
        raise UnknownModel("model", ("sketch",))
    assert refused.value.field == "model_id"


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("style", "prompt"),
        ("lora.0.id", "finetune_id"),
        ("style.0", "prompt.0"),
        ("steps", "steps"),
        ("", ""),
    ],
)
def test_a_nested_field_is_renamed_by_its_path_or_its_outermost_name(field: str, told: str) -> None:
    with pytest.raises(InvalidRequest) as refused, renamed(MUSIC):
        raise InvalidRequest(field, "No.")
    assert refused.value.field == told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            "duration must be greater than 0; you sent 0.",
            "music_length_ms must be greater than 0; you sent 0.",
        ),
        ("The tokens are too many. Shorten lyrics.", "The tokens are too many. Shorten composition_plan."),
        ("Lower duration, or shorten style.", "Lower music_length_ms, or shorten prompt."),
        ("name 'style' or leave model out.", "name 'style' or leave model_id out."),
        ("The style of the model is plain.", "The style of the model is plain."),
        ("styles must be few.", "styles must be few."),
        ('The model "style \\" duration" has none.', 'The model "style \\" duration" has none.'),
    ],
)
def test_only_names_of_fields_are_replaced(sentence: str, told: str) -> None:
    assert reworded(sentence, MUSIC) == told
    assert reworded(sentence, {}) == sentence


def test_two_names_may_change_places() -> None:
    assert reworded(
        "mp3_bitrate or output_format.", {"mp3_bitrate": "output_format", "output_format": "x"}
    ) == ("output_format or x.")


def test_what_is_no_refusal_passes() -> None:
    with pytest.raises(KeyError), renamed(SPEECH):
        raise KeyError("text")
