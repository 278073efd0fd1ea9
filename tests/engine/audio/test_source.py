"""Where audio is read from, and the sentence for what cannot be read."""

import io
from pathlib import Path

from engine.audio.source import at_start, plain, unreadable


def test_a_file_object_is_put_back_to_its_beginning() -> None:
    source = io.BytesIO(b"sound")
    source.seek(3)
    assert at_start(source) is source
    assert source.tell() == 0
    assert at_start(Path("sound.wav")) == Path("sound.wav")


def test_a_reason_stands_within_the_sentence() -> None:
    refusal = unreadable("audio", "File does not exist.", "WAV or FLAC")
    assert str(refusal) == "The audio cannot be read (file does not exist); send WAV or FLAC."
    assert refusal.field == "audio"
    assert plain("") == "format not recognised"
