"""Words fall into syllables."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.syllables import syllables

WORDS = (
    "morn|ing sing|ing ta|ble ta|bles lit|tle love loves loved wan|ted ro|ses lone|ly some|thing mo|ther peo|ple ra|di|o pi|a|no "
    "na|tion spe|cial qui|et li|on be|ing go|ing fire hour yel|low be|yond queen a|way the me ev|ery rhythm "
    "sky to|mor|row beau|ti|ful won|der|ful re|mem|ber heart don't 'cause I'm (ooh) hea|ven whis|pered cre|a|ted eyes makes breathe "
    "hun|dred sa|cred stirred daugh|ter laugh|ter emp|ty be|tween walk|ing run|ning fall|ing mak|ing trem|bling dar|ling han|dling "
    "a|ny|thing high|er mon|ster hand|some in|stru|ment un|der|stand king "
    "ho|ri|zon can|dle Ü|ber cœur Morn|ing,"
)


@pytest.mark.parametrize(
    "word",
    WORDS.split(" "),
)
def test_english_and_other_latin_words(word: str) -> None:
    assert syllables(word.replace("|", "")) == tuple(word.split("|"))


@pytest.mark.parametrize(
    "word",
    [
        "東|京",
        "きょ|う",
        "ラー|メ|ン",
        "안|녕",
        "при|вет",
        "здрав|ствуй",
        "Ἑλ|λά|δα",
        "न|म|स्ते",
        "של|ום",
        "1|9|6|9",
        "4|e|ver",
    ],
)
def test_other_scripts_and_digits(word: str) -> None:
    assert syllables(word.replace("|", "")) == tuple(word.split("|"))


@pytest.mark.parametrize("word", ["", "—", "...", "♪", "'", "()"])
def test_a_word_without_letters_has_none(word: str) -> None:
    assert syllables(word) == ()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_the_parts_of_any_word_join_to_it(word: str) -> None:
    parts = syllables(word)
    assert "".join(parts) in (word, "")
    assert all(parts)
