"""Singing in this process, with the built-in band and no server."""

from typing import BinaryIO

from pydantic import JsonValue

from engine.audio import encode
from engine.request import read_song, resolve_seeds
from engine.sketch.pipeline import SketchModel
from server.commands.bar import Bar
from server.commands.song import Sung


def sing_here(payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
    """Make the song here; the payload carries its seeds. Raises EngineError."""
    request = resolve_seeds(read_song(payload), lambda: 0)
    model = SketchModel()
    model.check(request)
    track = next(iter(model.generate(request, bar)))
    bar.report("encoding", 0.0)
    encode(track.samples, track.sample_rate_hz, request.output_format, request.mp3_bitrate, sink)
    return Sung(track.seconds, track.replay)
