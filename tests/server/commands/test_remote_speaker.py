"""Speaking on a server that is a double."""

import io
import json
from collections.abc import Iterator

import pytest
from rich.console import Console

from engine.words import Word
from server.client import Client
from server.commands.bar import Bar
from server.commands.remote_speaker import RemoteSpeaker
from tests.server.client.double import Studio, studio_double


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


def test_a_text_is_submitted_followed_and_fetched_with_its_words(studio: Studio) -> None:
    studio.body = b'{"text": "Come", "words": [{"word": "Come", "start": 0.25, "end": 0.5}]}'
    studio.updates.extend(
        [
            {"status": "running", "phase": "speaking", "progress": 0.5},
            {"status": "done", "tracks": {"items": [{"seconds": 0.75}]}, "notes": ["A note."]},
        ]
    )
    sink = io.BytesIO()
    with Client(studio.address, sleep=lambda seconds: None) as client:
        said = RemoteSpeaker(client)({"text": "Come"}, sink, Bar(Console(file=io.StringIO())))
    assert (said.seconds, said.words, said.notes) == (0.75, (Word("Come", 0.25, 0.5),), ("A note.",))
    assert sink.getvalue() == studio.body
    assert studio.seen[0].path == "/speech"
    assert json.loads(studio.seen[0].body) == {"text": "Come"}
    assert [seen.query.get("track", seen.query.get("replay")) for seen in studio.seen[-2:]] == ["0", "0"]
