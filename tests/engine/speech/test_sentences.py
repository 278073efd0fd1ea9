"""Texts are cut where people pause."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.phonemes import Phonemic
from engine.speech.sentences import LONG_OPENING, LONGEST_SENTENCE, Ending, pieces, sentences

CUT = {
    "We met on Jan. 5th. J. K. Rowling came.": ["We met on Jan. 5th.", "J. K. Rowling came."],
    "It is 3.5 km, e.g. this. Go to a.com. Now": ["It is 3.5 km, e.g. this.", "Go to a.com.", "Now"],
    "“Why?” he asked. “Go!” She went... And so": ["“Why?” he asked.", "“Go!”", "She went...", "And so"],
    "In the U.S. Army. In the U.S. The man.": ["In the U.S. Army.", "In the U.S.", "The man."],
    "So do I. He left at 5 p.m. today.": ["So do I.", "He left at 5 p.m. today."],
    "Dr. Smith vs. Mr. Jones etc. And more.": ["Dr. Smith vs. Mr. Jones etc.", "And more."],
    "No. 5 is here. He said no. She wept.": ["No. 5 is here.", "He said no.", "She wept."],
    "1. First item\n2. Second item\n- a bullet": ["1. First item", "2. Second item", "- a bullet"],
    "A short title\nthat goes on\nThen more": ["A short title that goes on", "Then more"],
    "Wait… what?! «Oui.» (See fig. 3.) Then": ["Wait… what?!", "«Oui.»", "(See fig. 3.)", "Then"],
}
LONG_LINE = (
    "A line that was wrapped because it was rather long, at about seventy\nMiles, goes on. Another one."
)


@pytest.mark.parametrize(("text", "expected"), CUT.items(), ids=CUT)
def test_where_a_text_is_cut(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


def test_a_full_line_goes_on_in_the_next() -> None:
    first, second = sentences(LONG_LINE)
    assert first.text.endswith("at about seventy Miles, goes on.")
    assert second.text == "Another one."


def test_paragraphs_end_differently_than_sentences() -> None:
    found = [sentence.ending for sentence in sentences("One. Two.\r\n\r\nThree.")]
    assert found == [Ending.SENTENCE, Ending.PARAGRAPH, Ending.PARAGRAPH]


def test_a_long_opening_is_cut_at_its_first_clause() -> None:
    text = "When the long morning came at last, the whole village stood on the shore and watched the boats come in."
    first, second = sentences(text)
    assert (first.text, first.ending) == ("When the long morning came at last,", Ending.CLAUSE)
    assert second.ending is Ending.PARAGRAPH


def test_a_very_long_opening_is_cut_between_words() -> None:
    first, *_ = sentences("so we go on " * 30)
    assert (len(first.text) <= LONG_OPENING, first.ending) == (True, Ending.PART)


def test_later_sentences_are_cut_only_where_they_are_too_long() -> None:
    long = "Then we go on, " + "and on and on, " * 40
    _, *rest = sentences("Yes. " + long)
    assert all(len(sentence.text) <= LONGEST_SENTENCE for sentence in rest)
    assert {sentence.ending for sentence in rest[:-1]} == {Ending.CLAUSE}


def test_one_endless_word_is_cut() -> None:
    found = [sentence.text for sentence in sentences("a" * 1500)]
    assert "".join(found) == "a" * 1500
    assert max(map(len, found)) <= LONGEST_SENTENCE


@pytest.mark.parametrize("unit", ["a", ".", "a.", "A. ", "!? ", "x\n", "1,", "- "])
def test_a_hundred_thousand_characters_are_cut_at_once(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    assert sum(len(sentence.text) for sentence in sentences(text)) > 40_000


@settings(max_examples=50)
@given(text=st.text(max_size=200) | st.text(alphabet='ab .!?,\n"-1', max_size=500))
def test_nothing_is_lost_and_nothing_is_blank(text: str) -> None:
    found = [sentence.text for sentence in sentences(text)]
    assert re.sub(r"\s", "", "".join(found)) == re.sub(r"\s", "", text)
    assert all(sentence.strip() == sentence != "" for sentence in found)
    assert all(len(sentence) <= LONGEST_SENTENCE for sentence in found)
    assert not any("\n" in sentence for sentence in found)


def line(*words: str, after: str = " ") -> list[Phonemic]:
    return [Phonemic(word, word, after) for word in words]


def test_what_fits_is_one_piece() -> None:
    assert list(pieces(line("ab", "cd"), 400)) == [tuple(line("ab", "cd"))]


def test_pieces_end_after_clauses() -> None:
    words = [*line("abcd"), Phonemic("efg", "efg", ", "), *line("hij", "klm")]
    assert [[word.text for word in piece] for piece in pieces(words, 14)] == [["abcd", "efg"], ["hij", "klm"]]


def test_a_word_that_is_too_long_is_cut_and_named_once() -> None:
    parts = [part for piece in pieces([Phonemic("x", "y" * 1000, ".")], 400) for part in piece]
    assert [part.text for part in parts] == ["x", "", ""]
    assert "".join(part.phonemes + part.after for part in parts) == "y" * 1000 + "."


@settings(max_examples=50)
@given(
    words=st.lists(
        st.builds(Phonemic, st.just("w"), st.text("ab", max_size=30), st.sampled_from(["", " ", ", ", "."]))
    ),
    most=st.integers(4, 40),
)
def test_no_piece_is_too_long_and_nothing_is_lost(words: list[Phonemic], most: int) -> None:
    found = list(pieces(words, most))
    lengths = [sum(len(word.phonemes) + len(word.after) for word in piece) for piece in found]
    assert all(0 <= length <= most for length in lengths)
    joined = "".join(word.phonemes + word.after for piece in found for word in piece)
    assert joined == "".join(word.phonemes + word.after for word in words)
