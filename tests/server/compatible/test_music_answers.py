"""What detailed music calls tell, and the body around the audio."""

import email
import json
from itertools import accumulate
from typing import Any

import pytest
from elevenlabs.music_custom import MusicClient
from elevenlabs.types import DetailedMusicResponse
from pydantic import TypeAdapter

from engine.score import parse, timeline, write
from engine.sketch.compose import compose
from server.compatible.music import Composition, read_composition
from server.compatible.music_answers import (
    Mixed,
    Sung,
    closing_events,
    described,
    opening_events,
    takes_rest_for_audio,
)

STYLE = "folk, warm, English"
LYRICS = "[Intro, 5 s]\n[Verse 1, 12 s]\nThe river runs\n[Chorus, 10 s]\nSing it\n"
PROMPT = f"{STYLE}\n[Verse 1]\nThe river runs\n[Chorus]\nSing it, now."
WORDS = [{"word": "The", "start": 5.25, "end": 5.5}, {"word": "river", "start": 5.5, "end": 6.0004}]


def starts_of(song: Sung) -> list[int]:
    """Where the sections of its score begin, in ms."""
    return [round(1000 * start) for _, start, _ in timeline(parse(str(song.replay["abc"]))).sections]


def asked(prompt: str = PROMPT, **fields: Any) -> Composition:
    return read_composition({"prompt": prompt, **fields}, "")


def sung(style: str = STYLE, lyrics: str = LYRICS, seconds: float = 29.2, **replay: Any) -> Sung:
    abc = write(compose(style, lyrics, 3, seconds - 2.2))
    return Sung({"style": style, "lyrics": lyrics, "abc": abc, **replay}, round(1000 * seconds))


def described_sections(told: dict[str, Any]) -> list[tuple[str, int, list[str]]]:
    return [
        (part["section_name"], part["duration_ms"], part["lines"])
        for part in told["composition_plan"]["sections"]
    ]


def test_sections_have_the_times_of_the_score_and_the_words_that_were_asked_for() -> None:
    song = sung(words=WORDS)
    sections = described_sections(described(asked(with_timestamps=True), song))
    assert [(name, lines) for name, _, lines in sections] == [
        ("Intro", []),
        ("Verse 1", ["The river runs"]),
        ("Chorus", ["Sing it, now."]),
    ]
    ends = [*accumulate(time for _, time, _ in sections)]
    assert [0, *ends] == [*starts_of(song), 29_200]


def test_a_section_is_told_as_short_as_it_is() -> None:
    song = sung(lyrics="[Intro, 2 s]\n[Verse 1, 12 s]\nThe river runs\n[Chorus, 2 s]", seconds=18.2)
    sections = described_sections(described(asked(), song))
    assert [name for name, _, _ in sections] == ["Intro", "Verse 1", "Chorus"]
    assert sections[0][1] < 3_000
    assert [*accumulate(time for _, time, _ in sections)] == [*starts_of(song)[1:], 18_200]


def test_words_are_not_told_of_a_section_that_came_too_early() -> None:
    song = sung(lyrics="[Chorus, 10 s]\nSing it\n[Verse 1, 12 s]\nThe river runs", seconds=24.2)
    sections = described_sections(described(asked(), song))
    assert [(name, lines) for name, _, lines in sections] == [("Chorus", []), ("Verse 1", ["The river runs"])]


def test_details_are_what_the_official_types_say() -> None:
    told = described(asked(with_timestamps=True), sung(words=WORDS), [3, -4])
    details = TypeAdapter(DetailedMusicResponse).validate_python(told)
    assert details.song_metadata.title == "Sing it, now"
    assert details.song_metadata.description == STYLE
    assert (details.song_metadata.genres, details.song_metadata.languages) == (["folk"], ["en"])
    assert details.song_metadata.is_explicit is None
    assert [(word.word, word.start_ms, word.end_ms) for word in details.words_timestamps or ()] == [
        ("The", 5250, 5500),
        ("river", 5500, 6000),
    ]
    assert details.waveform_visual == [3, -4]


def test_a_plan_of_chunks_is_told_where_the_model_has_chunks() -> None:
    told = described(asked(model_id="music_v2"), sung())
    chunks: Any = told["composition_plan"]
    assert chunks["chunks"][1]["text"] == "[Verse 1]\nThe river runs"
    assert "words_timestamps" not in told


def test_a_song_without_words_has_no_word_times_and_no_language() -> None:
    song = sung(lyrics="[Verse 1, 12 s]\n[Chorus, 12 s]", seconds=26.2)
    told = described(asked(with_timestamps=True, force_instrumental=True), song)
    assert told["words_timestamps"] == []
    metadata: Any = told["song_metadata"]
    assert (metadata["languages"], metadata["title"]) == ([], "Folk, warm")
    assert all(lines == [] for _, _, lines in described_sections(told))


def test_where_nobody_tells_when_words_are_sung_it_is_unknown() -> None:
    assert described(asked(with_timestamps=True), sung())["words_timestamps"] is None


@pytest.mark.parametrize("abc", ["", "not a score"])
def test_without_a_score_the_plan_is_told_as_it_was_drafted(abc: str) -> None:
    told = described(asked(), Sung({"style": STYLE, "abc": abc}, 40_000))
    sections = described_sections(told)
    assert [lines for _, _, lines in sections if lines] == [["The river runs"], ["Sing it, now."]]
    assert sum(time for _, time, _ in sections) == 40_000


def test_a_song_that_was_cut_ends_where_its_sound_does() -> None:
    told = described(asked("folk"), Sung(sung().replay, 9_000))
    assert [name for name, _, _ in described_sections(told)] == ["Intro", "Verse 1"]
    assert sum(time for _, time, _ in described_sections(told)) == 9_000


def test_a_song_without_a_name_of_any_kind_is_untitled() -> None:
    metadata: Any = described(asked("..."), Sung({}, 5_000))["song_metadata"]
    assert (metadata["title"], metadata["description"]) == ("Untitled", None)


def mixed(*, is_closed: bool) -> Mixed:
    return Mixed("song-1", {"text": 'filename="no" ü', "lines": ["a\nb"]}, "audio/mpeg", "1-0.mp3", is_closed)


SOUND = bytes(range(256)) * 8 + b"\r\n\n\n"


def test_the_official_client_reads_the_body() -> None:
    parts = mixed(is_closed=False)
    body = parts.before + SOUND + parts.after
    client = MusicClient.__new__(MusicClient)
    answer = client._parse_multipart(iter([body[:100], body[100:]]))
    assert (answer.json, answer.audio, answer.filename) == (dict(parts.about), SOUND, "1-0.mp3")


def test_any_reader_of_mime_reads_the_body() -> None:
    parts = mixed(is_closed=True)
    head = f"Content-Type: {parts.media_type}\r\n\r\n".encode()
    message = email.message_from_bytes(head + parts.before + SOUND + parts.after)
    about, sound = [part for part in message.walk() if not part.is_multipart()]
    told = about.get_payload(decode=True)
    assert isinstance(told, bytes)
    assert json.loads(told) == parts.about
    assert (sound.get_content_type(), sound.get_filename()) == ("audio/mpeg", "1-0.mp3")
    assert message.defects == []


@pytest.mark.parametrize(
    ("headers", "does"),
    [
        ({"x-fern-sdk-name": "elevenlabs"}, True),
        ({"x-fern-sdk-name": "@elevenlabs/elevenlabs-js"}, True),
        ({"x-fern-sdk-name": "other"}, False),
        ({}, False),
    ],
)
def test_the_vendors_own_clients_take_the_rest_for_audio(headers: dict[str, str], does: bool) -> None:
    assert takes_rest_for_audio(headers) is does


def test_events_name_what_they_tell() -> None:
    about = described(asked(with_timestamps=True), sung(words=WORDS), [1])
    events = [*opening_events(about), *closing_events(about)]
    read = [json.loads(event.removeprefix(b"data: ").removesuffix(b"\n\n")) for event in events]
    assert [event["event"] for event in read] == [
        "composition_plan",
        "song_metadata",
        "word_timestamps",
        "waveform_visual",
        "completion",
    ]
    assert read[2]["data"] == {"words": about["words_timestamps"]}
    assert len(list(closing_events(described(asked(), sung())))) == 1
