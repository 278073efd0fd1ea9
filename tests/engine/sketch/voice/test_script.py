"""Which words the singer can read."""

import pytest

from engine.sketch.voice.script import missing_scripts, singable


@pytest.mark.parametrize("text", ["Hello", "99", "naïve", "don't", "rock 'n' roll", "ÉTÉ", "love 愛"])
def test_latin_letters_and_digits_are_sung(text: str) -> None:
    assert singable(text)


@pytest.mark.parametrize(
    "text", ["", "...", "—", "你好", "привет", "こんにちは", "שלום", "🎵", "愛と love で歌おう"]
)
def test_other_scripts_and_mere_signs_are_not(text: str) -> None:
    assert not singable(text)


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("Hello 99!", ()),
        ("你好", ("Chinese characters",)),
        ("Привет, world", ("Cyrillic",)),
        ("ひらがな", ("Japanese",)),
        ("愛の歌", ("Japanese",)),
        ("안녕", ("Korean",)),
        ("გამარჯობა", ("Georgian",)),
        ("Привет 世界", ("Cyrillic", "Chinese characters")),
    ],
)
def test_missing_scripts_have_readers_names(text: str, scripts: tuple[str, ...]) -> None:
    assert missing_scripts(text) == scripts
