"""Which format the name of a file asks for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from engine.errors import InvalidRequest

AUDIO: Final = {".mp3": "mp3", ".opus": "opus", ".ogg": "opus", ".flac": "flac", ".wav": "wav16"}
WORDS: Final = {".json": "json", ".srt": "srt", ".vtt": "vtt"}
TRANSCRIPTS: Final = {".txt": "text", **WORDS}


def format_of(path: Path, formats: Mapping[str, str], field: str) -> str:
    """The format of the name's ending; InvalidRequest, which blames the field, where it has none of them."""
    found = formats.get(path.suffix.lower())
    if found is None:
        raise InvalidRequest(
            field, f"Cannot tell the format from {path.name!r}; end the name in one of {', '.join(formats)}."
        )
    return found
