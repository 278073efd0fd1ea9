"""Marks for the eye are not said, and addresses are."""

import pytest

from engine.speech.normal.marks import MARKS, drawn, plain
from engine.speech.normal.rule import applied

SAID = {
    "**bold** and _slanted_ and `code`": "bold and slanted and code",
    "*so* it is": "so it is",
    "file_name_here 2*3": "file_name_here 2*3",
    "# A title": " A title",
    "- an item": " an item",
    "> quoted": " quoted",
    "see [the page](http://a.org/b) now": "see the page now",
    "![a cat](cat.png)": "a cat",
    "<b>x</b> 3 < 5": "x 3 < 5",
    "nice :) <3": "nice  ",
    "at https://www.example.com/foo?bar=1, now": "at example dot com slash foo, now",
    "www.example.org": "example dot org",
    "me.you@example.com": "me dot you at example dot com",
    "example.org/a-b.": "example dot org slash a dash b.",
    "e.g. this": "e.g. this",
    "report.pdf, main.py, .NET and .env": "report dot pdf, main dot py, dot NET and dot env",
    "a ... com, U.S.A. or no.pdfs": "a ... com, U.S.A. or no.pdfs",
    "«x» „y“": "“x” “y“",
    "‘it’s so’ he": "“it’s so” he",
    "‘twas": "‘twas",
    "π and απ": "pi and απ",
    "a ≤ b": "a is at most b",
    "№5 in F# and C#, B♭": "number 5 in F sharp and C sharp, B flat",
}


@pytest.mark.parametrize(("written", "expected"), SAID.items(), ids=SAID)
def test_what_is_said(written: str, expected: str) -> None:
    line = applied(MARKS, written)
    assert line.count(" ") == written.count(" ")
    assert " ".join(line.split()) == " ".join(expected.split())


@pytest.mark.parametrize(
    "picture", ["😀", "\u200d", "\ufe0f", "\u0000", "❤", "🇫", "\ue000", "\u0332", "\u20dd"]
)
def test_pictures_and_controls_are_dropped(picture: str) -> None:
    assert drawn(picture)
    assert plain(f"a{picture}b") == "ab"


@pytest.mark.parametrize("letter", ["a", " ", "é", "5", "°", "©", "½", "—"])
def test_what_is_said_is_not_dropped(letter: str) -> None:
    assert not drawn(letter)
    assert plain(letter) == letter


def test_fancy_letters_are_the_letters_they_stand_for() -> None:
    assert plain("𝐇𝐞𝐥𝐥𝐨 ＡＢ １２ cafe\u0301 20 ℃ ①٣ 10⁴ m² Ùñ ﬁ") == "Hello AB 12 café 20 °C 13 104 m² Uñ fi"
