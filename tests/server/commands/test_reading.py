"""Texts from files and stdin."""

import io
from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.commands.reading import given, text_of
from server.limits import MAX_JSON_BYTES


def stdin(content: bytes) -> io.TextIOWrapper:
    """What a program reads from, with this coming in."""
    return io.TextIOWrapper(io.BytesIO(content), "utf-8")


def test_a_mark_of_byte_order_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffGrüße", "utf-8")
    assert text_of(tmp_path / "a.txt") == "Grüße"


def test_other_encodings_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Gr\xfc\xdfe")
    with pytest.raises(InvalidRequest, match="save it as UTF-8"):
        text_of(tmp_path / "a.txt")


def test_a_dash_is_what_comes_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", stdin(b"\xef\xbb\xbffrom elsewhere"))
    (tmp_path / "a.txt").write_text("from a file")
    assert [given("-", None), given("said", None), given("", tmp_path / "a.txt")] == [
        "from elsewhere",
        "said",
        "from a file",
    ]


def test_what_comes_in_is_told_where_it_is_not_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", stdin(b"Gr\xfc\xdfe"))
    with pytest.raises(InvalidRequest, match="What comes on stdin is not UTF-8 text; convert it"):
        given("-", None)


def test_an_argument_is_told_where_it_is_not_utf_8() -> None:
    with pytest.raises(InvalidRequest, match="The argument is not UTF-8 text"):
        given(b"Gr\xfc\xdfe".decode(errors="surrogateescape"), None)


def test_lines_end_alike_wherever_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert text_of(tmp_path / "a.txt") == "one\ntwo\nthree\n"


def test_no_more_is_read_than_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequest, match="/dev/zero is longer"):
        text_of(Path("/dev/zero"))
    source = io.BytesIO(b"a" * (2 * MAX_JSON_BYTES))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(source, "utf-8"))
    with pytest.raises(InvalidRequest, match="What comes on stdin is longer"):
        given("-", None)
    assert source.tell() == MAX_JSON_BYTES + 1
