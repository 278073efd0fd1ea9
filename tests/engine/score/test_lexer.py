"""Tokens of a line of music."""

import pytest

from engine.errors import ScoreError
from engine.score.lexer import TokenKind, tokens
from engine.score.place import Place


def kinds(text: str) -> list[tuple[str, str]]:
    return [
        (token.kind.value, token.text)
        for token in tokens(text, Place(1, 1))
        if token.kind is not TokenKind.SPACE
    ]


@pytest.mark.parametrize(
    "text",
    [
        "|",
        "||",
        "|]",
        "[|",
        "|:",
        ":|",
        "::",
        ":||:",
        ":|:",
        "::|",
        "|::",
        "[|]",
        ".|",
        "|1",
        ":|2",
        "|1,3",
        "|1-3",
        ":|]",
        "[|:",
    ],
)
def test_bar_lines_are_one_token(text: str) -> None:
    assert kinds(text) == [("bar", text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("^^c''3/2", "note"),
        ("=C,,", "note"),
        ("__B//", "note"),
        ("z4", "rest"),
        ("x/2", "rest"),
        ("Z12", "bar_rest"),
        ("X", "bar_rest"),
        ("y", "spacer"),
        ("y3", "spacer"),
        ("(3", "tuplet"),
        ("(3:2:2", "tuplet"),
        ("(5::4", "tuplet"),
        ("(", "slur"),
        (".(", "slur"),
        (")", "slur"),
        ("{/gc}", "grace"),
        ('"Am7/G"', "symbol"),
        ("!trill!", "decoration"),
        ("+fermata+", "decoration"),
        ("~", "decoration"),
        (".", "decoration"),
        ("T", "decoration"),
        ("v", "decoration"),
        ("!", "decoration"),
        ("-", "tie"),
        (".-", "tie"),
        (">>", "broken"),
        ("<", "broken"),
        ("&", "overlay"),
        ("[K:Em]", "field"),
        ("[r: a remark]", "field"),
        ("[1,3", "ending"),
        ("[1-2", "ending"),
    ],
)
def test_token_kind(text: str, kind: str) -> None:
    assert kinds(text) == [(kind, text)]


def test_bracket_chord_is_a_run_of_tokens() -> None:
    assert kinds("[^CE2-]3/2") == [
        ("chord_open", "["),
        ("note", "^C"),
        ("note", "E2"),
        ("tie", "-"),
        ("chord_close", "]3/2"),
    ]


def test_tokens_know_their_column() -> None:
    assert [token.place.column for token in tokens("C2 |D", Place(7, 4))] == [4, 6, 7, 8]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("C ?", 3, "Remove the character '?'"),
        ('C "Am', 3, "quotation mark"),
        ("{gc", 1, "Close the grace notes"),
        ("C}", 2, "Open the grace notes"),
        ("[K:Em", 1, "Close the inline field"),
        ("C:D", 2, "Remove the character ':'"),
        ("\x00", 1, r"Remove the character '\\x00'"),
        ("!a", 1, "Remove the character '!'"),
        ("7", 1, "Remove the character '7'"),
        ("C H8 D", 3, "'H' is no note; write C D E F G A B or c d e f g a b"),
        ("Q,,2", 1, "'Q' is no note"),
        ("C h/", 3, "'h' is no note"),
        ("H 8", 3, "Remove the character '8'"),
    ],
)
def test_what_begins_no_token_is_a_fault(text: str, column: int, message: str) -> None:
    with pytest.raises(ScoreError, match=message) as fault:
        list(tokens(text, Place(2, 1)))

    assert (fault.value.line, fault.value.column) == (2, column)
