"""Texts that no voice can say are refused with a sentence that tells why."""

import pytest

from engine.errors import InvalidRequest
from engine.speech.readable import check_readable, is_foreign, script

REFUSED = {
    "Привет, мир": "Cyrillic",
    "你好": "Chinese",
    "こんにちは": "Japanese",
    "안녕": "Korean",
    "καλημέρα": "Greek",
    "مرحبا": "Arabic",
    "Say שלום to them": "Hebrew",
    "नमस्ते": "Devanagari",
    "It says 你 and 好 there": "Chinese",
    "ж": "Cyrillic",
}


@pytest.mark.parametrize(("text", "name"), REFUSED.items())
def test_a_foreign_script_is_named(text: str, name: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"^text has {name} letters .* in Latin letters\.$") as caught:
        check_readable(text)
    assert caught.value.field == "text"


@pytest.mark.parametrize("text", ["!?", "🙂🙂", "— … —", "***", "\u200b", "<b>", "ǂ"])
def test_a_text_without_words_has_nothing_to_say(text: str) -> None:
    with pytest.raises(InvalidRequest, match="nothing to say") as caught:
        check_readable(text)
    assert caught.value.field == "text"


@pytest.mark.parametrize(
    "text", ["Hi", "5", "café Łódź", "π is 3.14", "a shrug ツ here", "５", "𝐇𝐢", "1️⃣", "½ m²", "…\n\nso"]
)
def test_what_can_be_said_is_let_through(text: str) -> None:
    check_readable(text)
    assert not is_foreign(text[0]) or text[0] == "π"


def test_scripts_have_the_names_that_people_use() -> None:
    assert [script(letter) for letter in "жαक中カ"] == [
        "Cyrillic",
        "Greek",
        "Devanagari",
        "Chinese",
        "Japanese",
    ]
