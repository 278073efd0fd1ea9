"""Names of files, made of titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.agents.file_names import MAX_STEM_CHARACTERS, stem_of


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Harbour Lamps", "harbour-lamps"),
        ("Don't stop — me, now!", "dont-stop-me-now"),
        ("It\N{RIGHT SINGLE QUOTATION MARK}s Ours", "its-ours"),
        ("Größe & Ærø, ŁÓDŹ", "grosse-aero-lodz"),
        ("../etc/passwd", "etc-passwd"),
        ("CON", "con-song"),
        ("com1", "com1-song"),
        ("雪の歌", "song"),
        ("雪 Snow", "snow"),
        (" -- ", "song"),
        ("", "song"),
        ("x" * 58 + " yz", "x" * 58 + "-y"),
        ("x" * 59 + " yz", "x" * 59),
    ],
)
def test_a_title_is_spelled_so_that_it_can_be_read(title: str, stem: str) -> None:
    assert stem_of(title, "song") == stem


@given(st.text(max_size=200))
def test_names_are_safe_everywhere(title: str) -> None:
    stem = stem_of(title, "song")
    assert 0 < len(stem) <= MAX_STEM_CHARACTERS
    assert stem.replace("-", "a").isalnum()
    assert stem.isascii()
    assert stem == stem.lower().strip("-")
