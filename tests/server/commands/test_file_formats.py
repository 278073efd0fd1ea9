"""What the names of files ask for."""

from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.commands.file_formats import AUDIO, TRANSCRIPTS, WORDS, format_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.mp3", "mp3"), ("a.OPUS", "opus"), ("a.ogg", "opus"), ("a.b.flac", "flac"), ("a.wav", "wav16")],
)
def test_the_name_says_the_format_of_audio(name: str, expected: str) -> None:
    assert format_of(Path(name), AUDIO, "output") == expected


@pytest.mark.parametrize(("name", "expected"), [("a.json", "json"), ("a.SRT", "srt"), ("a.b.vtt", "vtt")])
def test_words_and_transcripts_have_the_same_endings(name: str, expected: str) -> None:
    assert format_of(Path(name), WORDS, "words") == format_of(Path(name), TRANSCRIPTS, "output") == expected


@pytest.mark.parametrize("name", ["song", "song.aac", ".mp3"])
def test_another_name_is_refused_and_its_option_blamed(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"end the name in one of \.txt, \.json, \.srt, \.vtt") as raised:
        format_of(Path(name), TRANSCRIPTS, "output")
    assert raised.value.field == "output"
