"""Singing on a server that is a double."""

import io
from collections import deque
from collections.abc import Iterator

import pytest
from pydantic import JsonValue
from rich.console import Console

from server.client import BadAnswer, Client
from server.commands.bar import Bar
from server.commands.remote_singer import RemoteSinger
from tests.server.client.double import DROP, Studio, studio_double

PAYLOAD: dict[str, JsonValue] = {"style": "folk"}


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        double.body = b'{"abc": "X:1"}'
        yield double


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def client_of(studio: Studio) -> Client:
    return Client(studio.address, sleep=lambda seconds: None, random=lambda: 0.0)


def test_a_song_is_submitted_followed_and_fetched(studio: Studio, bar: Bar) -> None:
    tracks = {"count": 1, "items": [{"content_type": "audio/flac", "bytes": 14, "seconds": 31.5}]}
    studio.updates.extend(
        [
            {"status": "queued", "queue_position": 2},
            {"status": "running", "phase": "rendering", "progress": 0.5},
            {"status": "done", "tracks": tracks},
        ]
    )
    sink = io.BytesIO()
    with client_of(studio) as client:
        sung = RemoteSinger(client)(PAYLOAD, sink, bar)
    assert sink.getvalue() == studio.body
    assert (sung.seconds, sung.abc) == (31.5, "X:1")
    assert [seen.query.get("track", seen.query.get("replay")) for seen in studio.seen[-2:]] == ["0", "0"]


@pytest.mark.parametrize("body", [b'{"abc": "X:1', b"\xff", b"", b"[" * 100_000])
def test_a_damaged_replay_is_a_bad_answer(studio: Studio, bar: Bar, body: bytes) -> None:
    studio.body = body
    studio.updates.append({"status": "done"})
    with client_of(studio) as client, pytest.raises(BadAnswer, match="not JSON"):
        RemoteSinger(client)(PAYLOAD, io.BytesIO(), bar)


class InterruptedBar(Bar):
    """A bar whose watcher presses Ctrl-C at the first sign of life, when the server is about to refuse or not."""

    def __init__(self, studio: Studio, refusals: list[tuple[int, str, int]]) -> None:
        super().__init__(Console(file=io.StringIO()))
        self._studio = studio
        self._refusals = refusals

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self._studio.refusals.extend(self._refusals)
        raise KeyboardInterrupt


def test_ctrl_c_cancels_the_job_on_the_server(studio: Studio, capsys: pytest.CaptureFixture[str]) -> None:
    studio.updates.append({"status": "running"})
    with client_of(studio) as client, pytest.raises(KeyboardInterrupt):
        RemoteSinger(client)(PAYLOAD, io.BytesIO(), InterruptedBar(studio, []))
    assert studio.seen[-1].query["cancel"] == "1"
    assert capsys.readouterr().err == ""


def test_ctrl_c_stays_ctrl_c_where_the_cancellation_is_refused(
    studio: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    studio.updates.append({"status": "running"})
    with client_of(studio) as client, pytest.raises(KeyboardInterrupt):
        RemoteSinger(client)(PAYLOAD, io.BytesIO(), InterruptedBar(studio, [(410, "expired", 0)]))
    assert capsys.readouterr().err == "The server may go on with it: Refused for expired.\n"


def test_a_brief_break_during_the_song_is_bridged(studio: Studio, bar: Bar) -> None:
    studio.updates.append({"status": "done"})
    studio.refusals = deque([DROP])
    sink = io.BytesIO()
    with client_of(studio) as client:
        assert RemoteSinger(client)(PAYLOAD, sink, bar).seconds is None
    assert sink.getvalue() == studio.body
