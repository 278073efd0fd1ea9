"""Texts that commands are given: as arguments, in files, or on stdin."""

import sys
from pathlib import Path

from engine.errors import InvalidRequest

STDIN = "-"


def text_of(file: Path) -> str:
    """The text of a file. Raises InvalidRequest where it is not UTF-8, and OSError."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("file", f"{file} is not UTF-8 text; save it as UTF-8.") from error


def given(text: str, file: Path | None) -> str:
    """The text itself, or what is in the file, or on stdin for `-`."""
    if file:
        return text_of(file)
    return sys.stdin.read() if text == STDIN else text
