"""What the server can be asked to make: each operation turned into work for the queue."""

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from engine.audio import content_type, encode, extension
from engine.catalogue import Catalogue
from engine.control import Control
from engine.request import SketchRequest, SongRequest, resolve_seeds
from engine.sketch.pipeline import Track
from server.jobs.rates import Stage
from server.packaging import MultipartWriter
from storage.entry import JSON, Part


@dataclass(frozen=True, slots=True)
class Packed:
    """A body that has been written: its content type and the spans of its parts."""

    content_type: str
    parts: tuple[Part, ...]


class Stopwatch:
    """Seconds spent inside the model, apart from encoding and packaging. Owned by the one job it times."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._started = monotonic()
        self.pipeline_seconds = 0.0

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """Count the block as model work."""
        start = self._monotonic()
        try:
            yield
        finally:
            self.pipeline_seconds += self._monotonic() - start

    def metrics(self) -> dict[str, JSON]:
        """The job's metrics so far, in seconds."""
        total = self._monotonic() - self._started
        return {
            "pipeline_seconds": round(self.pipeline_seconds, 3),
            "encoding_packaging_seconds": round(max(0.0, total - self.pipeline_seconds), 3),
            "worker_seconds": round(total, 3),
        }


class Work(Protocol):
    """Makes one job's whole body in `sink`; runs on the worker thread."""

    def __call__(self, job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
        """Write the body; raises what the engine, the store or the control raise."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request, ready for the queue."""

    operation: str
    model: str
    stages: tuple[Stage, ...]
    digest: str  # sha256 of what a repeated Idempotency-Key has to match
    work: Work


def digest_of(operation: str, fields: Mapping[str, object]) -> str:
    """One digest for all spellings of the same request: defaults filled in, keys sorted."""
    canonical = json.dumps([operation, fields], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _digest(operation: str, asked: SongRequest, model_id: str) -> str:
    """As `digest_of`: naming the default model is the same as leaving it out."""
    return digest_of(operation, asked.model_dump() | {"model": model_id})


def _stages(estimates: Sequence[tuple[str, float]]) -> tuple[Stage, ...]:
    return tuple(Stage(phase, units) for phase, units in estimates)


class Operations:
    """Checks requests against the models present and says what work they mean."""

    def __init__(self, catalogue: Catalogue, draw_seed: Callable[[], int]) -> None:
        self._catalogue = catalogue
        self._draw_seed = draw_seed

    def synth(self, asked: SongRequest) -> Prepared:
        """Style and lyrics, or a score, into songs."""
        model = self._catalogue.model(asked.model)
        model.check(asked)
        request = resolve_seeds(asked, self._draw_seed)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            return _package(model.generate(request, control), request, job_id, sink, control, stopwatch)

        return Prepared(
            "synth", model.id, _stages(model.stages(request)), _digest("synth", asked, model.id), work
        )

    def plan(self, asked: SongRequest) -> Prepared:
        """Style and lyrics into a score alone."""
        model = self._catalogue.model(asked.model)
        model.check_plan(asked)
        request = resolve_seeds(asked, self._draw_seed)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            with stopwatch.pipeline():
                score = model.plan(request, control).encode()
            sink.write(score)
            kind = "text/vnd.abc"
            return Packed(kind, (Part("score", 0, kind, 0, len(score), None, f"{job_id}.abc"),))

        stages = _stages(model.plan_stages(request))
        return Prepared("plan", model.id, stages, _digest("plan", asked, model.id), work)

    def sketch(self, asked: SketchRequest) -> Prepared:
        """A score, or a request composed first, into an audio preview; always by the built-in band."""
        model = self._catalogue.sketch
        request = resolve_seeds(asked, self._draw_seed)
        model.check_preview(request)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            tracks = (model.preview(request, control) for _ in range(1))  # made when asked for, and timed
            return _package(tracks, request, job_id, sink, control, stopwatch)

        stages = _stages(model.preview_stages(request))
        return Prepared("sketch", model.id, stages, _digest("sketch", asked, model.id), work)


def _package(
    tracks: Iterator[Track],
    request: SongRequest,
    job_id: str,
    sink: BinaryIO,
    control: Control,
    stopwatch: Stopwatch,
) -> Packed:
    """Write each track as it is made, so that one track at a time is held in memory."""
    writer = MultipartWriter(sink, job_id)
    for index in itertools.count():
        with stopwatch.pipeline():
            track = next(tracks, None)
        if track is None:
            break
        stem = f"{job_id}-{index}"
        with writer.part("replay", index, "application/json", f"{stem}.json") as part:
            part.write(json.dumps(track.replay, ensure_ascii=False).encode())
        name = f"{stem}.{extension(request.output_format)}"
        with writer.part("audio", index, content_type(request.output_format), name, track.seconds) as part:
            _encode(track, request, part, control)
        del track  # some 70 MB for three minutes, which the next one may need
    return Packed(writer.content_type, writer.finish())


def _encode(track: Track, request: SongRequest, sink: BinaryIO, control: Control) -> None:
    control.report("encoding", 0.0)
    rate, kind, bitrate = track.sample_rate_hz, request.output_format, request.mp3_bitrate
    encode(track.samples, rate, kind, bitrate, sink, control.check_cancelled)
    control.report("encoding", 1.0)
