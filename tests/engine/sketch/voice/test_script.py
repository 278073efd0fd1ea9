"""Which words the singer can read."""

import pytest

from engine.sketch.voice.script import missing_script, singable


@pytest.mark.parametrize("text", ["Hello", "99", "naïve", "don't", "rock 'n' roll", "ÉTÉ", "love 愛"])
def test_latin_letters_and_digits_are_sung(text: str) -> None:
    assert singable(text)


@pytest.mark.parametrize(
    "text", ["", "...", "—", "你好", "привет", "こんにちは", "שלום", "🎵", "愛と love で歌おう"]
)
def test_other_scripts_and_mere_signs_are_not(text: str) -> None:
    assert not singable(text)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Hello 99!", ""),
        ("你好", "Chinese characters"),
        ("Привет, world", "Cyrillic"),
        ("ひらがな", "Japanese"),
        ("안녕", "Korean"),
        ("გამარჯობა", "Georgian"),
    ],
)
def test_the_missing_script_has_a_readers_name(text: str, script: str) -> None:
    assert missing_script(text) == script
