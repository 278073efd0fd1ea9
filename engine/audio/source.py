"""Where audio is read from, and what is said where it cannot be."""

from pathlib import Path
from typing import BinaryIO

from engine.errors import InvalidRequest


def at_start(source: Path | BinaryIO) -> Path | BinaryIO:
    """The source, a file object at its beginning."""
    if not isinstance(source, Path):
        source.seek(0)
    return source


def unreadable(field: str, reason: str, formats: str) -> InvalidRequest:
    """The error for a file that a library refused for `reason`; `formats` are those to send instead."""
    return InvalidRequest(field, f"The audio cannot be read ({plain(reason)}); send {formats}.")


def plain(reason: str) -> str:
    """A library's reason, to stand within a sentence."""
    return reason.rstrip(".").lower() or "format not recognised"
