"""Lines of the first tune."""

import pytest

from engine.errors import ScoreError
from engine.score.lines import LineKind, tune_lines
from engine.score.place import MAX_TEXT

HEAD = "X:1\nK:C\n"


def kinds(text: str) -> list[tuple[str, str, int]]:
    return [(line.name or line.kind.value[0].lower(), line.text, line.number) for line in tune_lines(text)]


def test_fields_music_and_comments_are_told_apart() -> None:
    assert kinds("X:1\nK:C % key\n% verse\n%%MIDI x\nCDE|% end\nw: a\\%b\n") == [
        ("X", "1", 1),
        ("K", "C ", 2),
        ("c", " verse", 3),
        ("c", "%MIDI x", 4),
        ("m", "CDE|", 5),
        ("w", " a%b", 6),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_any_line_end_counts_lines_alike(end: str) -> None:
    assert [line.number for line in tune_lines(end.join(["X:1", "K:C", "C|"]))] == [1, 2, 3]


def test_column_is_where_the_text_begins() -> None:
    lines = tune_lines("X:1\n  K:C\n  C|\n")

    assert [line.column for line in lines] == [3, 5, 1]


@pytest.mark.parametrize("music", ["C:|", "c::d", "A:|", "z:|"])
def test_note_before_a_repeat_sign_is_music(music: str) -> None:
    assert kinds(HEAD + music)[-1][:2] == ("m", music)


def test_only_the_first_tune_is_read() -> None:
    assert len(tune_lines("X:1\nK:C\nC|\nX:2\nK:D\nD|\n")) == 3


def test_text_before_the_tune_gives_only_its_file_header() -> None:
    assert [line.name for line in tune_lines("hello\nL:1/4\nQ: 90\nR:reel\n\nX:1\nK:C\n")] == [
        "L",
        "Q",
        "X",
        "K",
    ]


def test_blank_line_ends_the_tune_before_free_text() -> None:
    assert [line.number for line in tune_lines(HEAD + "C|\n\nSome words about it.\nD|\n")] == [1, 2, 3]


@pytest.mark.parametrize("following", ["D|", "% verse", "V: 2", "[V:2] D", "w: a", "P:B"])
def test_blank_line_inside_the_music_is_passed_over(following: str) -> None:
    assert tune_lines(HEAD + f"C|\n \n{following}\n")[-1].number == 5


def test_blank_lines_in_the_header_are_passed_over() -> None:
    assert [line.name for line in tune_lines("X:1\n\nT:a\n\nK:C\n")] == ["X", "T", "K"]


def test_plus_continues_the_field_before_it() -> None:
    lines = tune_lines(HEAD + "C|\nw: a\n+: b\n+: c\nD|\n")

    assert [(line.name, line.text) for line in lines[2:]] == [("", "C|"), ("w", " a  b  c"), ("", "D|")]


def test_byte_order_mark_is_no_part_of_the_text() -> None:
    assert tune_lines("\ufeffX:1\nK:C\n")[0].name == "X"


def test_too_long_text_is_a_fault() -> None:
    with pytest.raises(ScoreError, match="Shorten"):
        tune_lines("C" * (MAX_TEXT + 1))
    assert len(tune_lines("C" * MAX_TEXT)) == 1


def test_kind_names_are_plain_words() -> None:
    assert [kind.value for kind in LineKind] == ["field", "music", "comment"]
