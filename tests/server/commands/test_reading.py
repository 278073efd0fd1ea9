"""Texts from files and stdin."""

import io
from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.commands.reading import given, text_of


def test_a_mark_of_byte_order_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffGrüße", "utf-8")
    assert text_of(tmp_path / "a.txt") == "Grüße"


def test_other_encodings_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Gr\xfc\xdfe")
    with pytest.raises(InvalidRequest, match="save it as UTF-8"):
        text_of(tmp_path / "a.txt")


def test_a_dash_is_what_comes_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("from elsewhere"))
    (tmp_path / "a.txt").write_text("from a file")
    assert [given("-", None), given("said", None), given("", tmp_path / "a.txt")] == [
        "from elsewhere",
        "said",
        "from a file",
    ]
