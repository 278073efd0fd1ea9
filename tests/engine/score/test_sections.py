"""Section names in comments."""

import pytest

from engine.score.sections import section_of_comment, written_section


@pytest.mark.parametrize(
    ("comment", "name"),
    [
        (" verse", "verse"),
        (" Verse 2 ", "Verse 2"),
        ("[Chorus]", "Chorus"),
        (" pre-chorus:", "pre-chorus"),
        (" intro", "intro"),
        (" a remark about it", ""),
        ("%MIDI program 1", ""),
        ("", ""),
        (" 1234", ""),
        (" introverted", ""),
    ],
)
def test_known_names_are_sections_of_any_tune(comment: str, name: str) -> None:
    assert section_of_comment(comment, known_only=True) == name


def test_any_name_is_a_section_of_the_dialect() -> None:
    assert section_of_comment(" Guitar moment", known_only=False) == "Guitar moment"
    assert section_of_comment(" " + "a" * 41, known_only=False) == ""
    assert section_of_comment(" key=C", known_only=False) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("verse", "verse"), ("1. Verse!", "Verse"), ("a\nb", "a b"), ("%", ""), ("b" * 50, "b" * 40)],
)
def test_written_name_is_read_back(name: str, text: str) -> None:
    assert written_section(name) == text
    assert section_of_comment(text, known_only=False) == text
