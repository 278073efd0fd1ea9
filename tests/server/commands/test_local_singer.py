"""Singing in this process."""

import io

import pytest
import soundfile
from rich.console import Console

from engine.errors import InvalidRequest
from server.commands.bar import Bar
from server.commands.local_singer import sing_here


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def test_a_song_is_written_to_the_sink(bar: Bar) -> None:
    sink = io.BytesIO()
    sung = sing_here(
        {"style": "folk", "duration": 8, "lm_seed": 1, "seed": 1, "output_format": "flac"}, sink, bar
    )
    sink.seek(0)
    kept = soundfile.info(sink)
    assert kept.channels == 2
    assert kept.duration == pytest.approx(sung.seconds, abs=0.01)
    assert sung.abc.startswith("X:")


def test_a_wrong_request_is_refused_before_anything_is_made(bar: Bar) -> None:
    with pytest.raises(InvalidRequest):
        sing_here({"style": "folk", "duration": -1.0}, io.BytesIO(), bar)
