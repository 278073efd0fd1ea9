"""Folders that look like those of weights."""

import json
import struct
from pathlib import Path

SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|de|>",
    "<|notimestamps|>",
    "<|startofprev|>",
)


def folder(path: Path, first: int = 50_257) -> Path:
    """One that holds all that is looked at; `first` is the id of <|endoftext|>."""
    path.mkdir()
    (path / "model.bin").write_bytes(struct.pack("<IH", 6, 12) + b"WhisperSpec\0" + bytes(8))
    (path / "config.json").write_text("{}", "utf-8")
    (path / "vocabulary.json").write_text("[]", "utf-8")
    tokens = [{"id": first + place, "content": name} for place, name in enumerate(SPECIAL)]
    (path / "tokenizer.json").write_text(json.dumps({"added_tokens": tokens}), "utf-8")
    return path
