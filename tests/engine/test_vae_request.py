"""The options of the codec's calls."""

import pytest

from engine.errors import InvalidRequest, UnknownField
from engine.vae_request import DecodeRequest, EncodeRequest, read_decode, read_encode


def test_defaults_are_those_of_songs() -> None:
    assert read_encode([]) == EncodeRequest(model="")
    assert read_decode([]) == DecodeRequest(model="", output_format="mp3", mp3_bitrate=128, peak_clip=10)


def test_numbers_are_read_from_their_digits() -> None:
    asked = read_decode(
        [("mp3_bitrate", "192"), ("peak_clip", "0"), ("output_format", "wav24"), ("model", "7")]
    )
    assert asked == DecodeRequest(model="7", output_format="wav24", mp3_bitrate=192, peak_clip=0)


@pytest.mark.parametrize(
    ("query", "field", "sentence"),
    [
        ([("peak_clip", "-1")], "peak_clip", "peak_clip must be between 0 and 999999; you sent -1."),
        ([("peak_clip", "1.5")], "peak_clip", 'peak_clip must be a whole number; you sent "1.5".'),
        ([("peak_clip", "9" * 19)], "peak_clip", "peak_clip must be a whole number; you sent"),
        ([("mp3_bitrate", "1")], "mp3_bitrate", "mp3_bitrate must be one of"),
        ([("output_format", "aac")], "output_format", "output_format must be one of mp3, opus"),
        ([("model", "x" * 201)], "model", "model must have at most 200 characters; you sent 201."),
        ([("model", "a"), ("model", "a")], "model", "model stands twice in the query; send it once."),
    ],
)
def test_a_wrong_option_is_told_by_name(query: list[tuple[str, str]], field: str, sentence: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_decode(query)
    assert caught.value.field == field
    assert str(caught.value).startswith(sentence)


def test_an_option_of_the_other_way_is_unknown() -> None:
    with pytest.raises(UnknownField, match="'peak_clip'; remove it, or choose one of: model"):
        read_encode([("peak_clip", "1")])
