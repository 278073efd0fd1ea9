"""Words under notes."""

import time

import pytest

from engine.errors import ScoreError
from engine.score import parse
from engine.score.lyrics import join_words, split_words, verse_of, written_syllable
from engine.score.place import MAX_VERSES
from tests.engine.score.tunes import bars_of, tune


def words(body: str) -> list[str]:
    return [note.lyric for bar in bars_of(body) for note in bar.notes]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("hel-lo world", ["hel-", "lo", "world"]),
        ("hel- lo", ["hel-", "lo"]),
        ("syll-a--ble", ["syll-", "a-", "_", "ble"]),
        ("time - out", ["time", "_", "out"]),
        ("time__ now", ["time", "_", "_", "now"]),
        ("a * b", ["a", "*", "b"]),
        ("a*b", ["a", "*", "b"]),
        ("of~the day", ["of the", "day"]),
        (r"well\-known", ["well-known"]),
        ("a | b", ["a", "|", "b"]),
        ("it's, so!", ["it's,", "so!"]),
        ("", []),
        ("über 歌", ["über", "歌"]),
    ],
)
def test_words_fall_into_items(text: str, items: list[str]) -> None:
    assert split_words(text) == items


@pytest.mark.parametrize(
    ("body", "lyrics"),
    [
        ("C2 D2 E4|\nw: hel-lo you", ["hel-", "lo", "you"]),
        ("C2 D2 E4|\nw: oh_ you", ["oh", "_", "you"]),
        ("C2 z2 E4|\nw: oh you", ["oh", "", "you"]),
        ("C2 D2 E4|\nw: oh * you", ["oh", "", "you"]),
        ("C4 D4|E8|\nw: oh | you", ["oh", "", "you"]),
        ("C8|D8|E8|\nw: | | you", ["", "", "you"]),
        ("C4 D4|E8|\nw: oh my | you", ["oh", "my", "you"]),
        ("C8|\nw: a b c d", ["a"]),
        ("{g}C4 [CE]4|\nw: a b", ["a", "b"]),
        ("C8|\nD8|\nw: a b", ["", "a"]),
        ("C8|\\\nD8|\nw: a b", ["a", "b"]),
        ("C8|\nw: a\nD8|\nw: b", ["a", "b"]),
        ("C8|D8|\nw: a\n+: b", ["a", "b"]),
        ("C4 D4|\nw: a b\nw: c d", ["a\nc", "b\nd"]),
        ("C4 D4|\nw: a b\nw: c", ["a\nc", "b\n"]),
        ("C4 D4|\nw: *\nw: * d", ["", "\nd"]),
        ("C4 D4|\nW: not sung\ns: !p!", ["", ""]),
    ],
)
def test_words_stand_under_the_notes_of_the_line_above(body: str, lyrics: list[str]) -> None:
    assert words(body) == lyrics


def test_words_belong_to_the_voice_of_their_line() -> None:
    score = parse(tune("[V:1] C8|\nw: one\n[V:2] E8|\nw: two"))

    assert [voice.bars[0].notes[0].lyric for voice in score.voices] == ["one", "two"]


def test_too_many_verses_are_a_fault() -> None:
    with pytest.raises(ScoreError, match="verses") as fault:
        parse(tune("C8|" + "\nw: a" * (MAX_VERSES + 1)))
    assert fault.value.line == 8 + MAX_VERSES
    assert words("C8|" + "\nw: a" * MAX_VERSES)[0].count("\n") == MAX_VERSES - 1


def test_verse_is_that_of_the_pass_or_the_last_one_written() -> None:
    assert [verse_of("a\nb", turn) for turn in range(3)] == ["a", "b", "b"]
    assert [verse_of("a", turn) for turn in range(2)] == ["a", "a"]


@pytest.mark.parametrize(
    ("syllables", "text"),
    [
        (["hel-", "lo", "", "you", ""], "hel-lo * you"),
        (["oh", "_", "", ""], "oh _"),
        (["a-", "_", "b"], "a- _ b"),
        (["of the", "well-known", "-"], r"of~the well\-known \-"),
        (["", ""], "*"),
    ],
)
def test_words_are_written_as_they_are_read(syllables: list[str], text: str) -> None:
    assert join_words(syllables) == text or syllables == ["", ""]
    assert [item.replace("*", "") for item in split_words(text)] == syllables[: len(split_words(text))]


def test_untrimmed_words_have_an_item_for_each_note() -> None:
    assert join_words(["a", "", ""], trimmed=False) == "a * *"


@pytest.mark.parametrize(
    ("syllable", "text"), [("", "*"), ("*|_", "*"), ("100%", "100"), ("a\\b", "ab"), ("a b", "a~b")]
)
def test_what_words_cannot_hold_is_left_out(syllable: str, text: str) -> None:
    assert written_syllable(syllable) == text


def test_many_notes_without_words_before_a_word_are_written_soon() -> None:
    start = time.process_time()

    assert join_words([*[""] * 50_000, "a"]).endswith("* * a")
    assert time.process_time() - start < 3
