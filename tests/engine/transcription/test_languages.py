"""Names and codes of languages."""

import pytest

from engine.errors import InvalidRequest
from engine.transcription.languages import NAMES, UNSPACED, language_code

KNOWN = tuple(NAMES)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("", ""),
        ("de", "de"),
        ("DE", "de"),
        ("en-US", "en"),
        ("pt_br", "pt"),
        ("German", "de"),
        (" yue ", "yue"),
    ],
)
def test_codes_regions_and_names_are_understood(asked: str, code: str) -> None:
    assert language_code(asked, KNOWN) == code


@pytest.mark.parametrize("asked", ["xx", "klingon", "-", "d"])
def test_other_languages_are_refused(asked: str) -> None:
    with pytest.raises(InvalidRequest, match="does not know the language") as refused:
        language_code(asked, KNOWN)
    assert refused.value.field == "language"


def test_a_model_of_english_refuses_german() -> None:
    with pytest.raises(InvalidRequest, match="choose one of: en, or start the server with YUE2_WHISPER"):
        language_code("German", ("en",))


def test_a_model_of_many_languages_is_all_there_is_to_ask_for() -> None:
    with pytest.raises(InvalidRequest) as refused:
        language_code("xx" * 100, KNOWN)
    assert "YUE2_WHISPER" not in str(refused.value)
    assert len(str(refused.value)) < 200 + 4 * len(KNOWN)


def test_there_are_the_hundred_languages_of_whisper() -> None:
    assert len(NAMES) == 100
    assert NAMES.keys() >= UNSPACED
