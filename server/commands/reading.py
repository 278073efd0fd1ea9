"""Texts that commands are given: as arguments, in files, or on stdin."""

import sys
from pathlib import Path
from typing import BinaryIO, Final

from engine.errors import InvalidRequest
from server.limits import MAX_JSON_BYTES

STDIN: Final = "-"


def text_of(file: Path) -> str:
    """The text of a file. Raises InvalidRequest where it is not UTF-8 or far too long, and OSError."""
    with file.open("rb") as source:
        return _read(source, str(file), "save it as UTF-8")


def given(text: str, file: Path | None) -> str:
    """The text itself, or what is in the file, or on stdin for `-`. Raises as `text_of`."""
    if file:
        return text_of(file)
    if text == STDIN:
        return _read(sys.stdin.buffer, "What comes on stdin", "convert it to UTF-8 first")
    if any("\udc80" <= letter <= "\udcff" for letter in text):  # bytes that the interpreter could not read
        raise InvalidRequest("text", "The argument is not UTF-8 text; convert it to UTF-8 first.")
    return text


def _read(source: BinaryIO, name: str, remedy: str) -> str:
    content = source.read(MAX_JSON_BYTES + 1)
    if len(content) > MAX_JSON_BYTES:
        raise InvalidRequest("text", f"{name} is longer than anything that can be made of it; give less.")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InvalidRequest("text", f"{name} is not UTF-8 text; {remedy}.") from error
