"""What the server can be asked to sing: each operation turned into work for the queue."""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from engine.audio import content_type, encode, extension
from engine.catalogue import Catalogue
from engine.control import Control
from engine.request import SketchRequest, SongRequest, resolve_seeds
from engine.song_model import Expected, Latents, SongModel, Track
from server.jobs.rates import Stage
from server.latents import LATENT_TYPE, write_latents
from server.packaging import MultipartWriter
from server.work import Packed, Prepared, Stopwatch, digest_of, sha256_of
from storage.entry import Part

_WITHOUT_CODES = {"semantic_tokens": "", "keep_codes": 0}
_ONE_TRACK = {"lm_batch_size": 1, "synth_batch_size": 1}


class Operations:
    """Checks requests against the models present and says what work they mean."""

    def __init__(self, catalogue: Catalogue, draw_seed: Callable[[], int]) -> None:
        self._catalogue = catalogue
        self._draw_seed = draw_seed

    def synth(self, asked: SongRequest, latents: Latents | None = None) -> Prepared:
        """Style and lyrics, or a score, into songs; with latents their decoding alone, which reads no codes."""
        if latents is not None:
            asked = asked.model_copy(update=_WITHOUT_CODES)
        model = self._catalogue.model(asked.model)
        model.check(asked, latents)
        request = resolve_seeds(asked, self._draw_seed)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            tracks = model.generate(request, control, latents)
            return _package(tracks, request, job_id, sink, control, stopwatch)

        expected = one_track = model.stages(request, latents)
        if request.lm_batch_size > 1 or request.synth_batch_size > 1:
            one_track = model.stages(request.model_copy(update=_ONE_TRACK), latents)
        return Prepared(
            "synth",
            model.id,
            _stages(expected, one_track, request),
            _digest("synth", asked, model.id, latents),
            work,
            model.rates_id,
            model.notes(request),
        )

    def plan(self, asked: SongRequest) -> Prepared:
        """Style and lyrics into a score alone."""
        model = self._catalogue.model(asked.model)
        model.check_plan(asked)
        request = resolve_seeds(asked, self._draw_seed)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            return _write_plan(model, request, job_id, sink, control, stopwatch)

        expected = model.plan_stages(request)
        return Prepared(
            "plan",
            model.id,
            _stages(expected, expected, request),
            _digest("plan", asked, model.id),
            work,
            model.rates_id,
            model.notes(request),
        )

    def sketch(self, asked: SketchRequest) -> Prepared:
        """A score, or a request composed first, into an audio preview; always by the built-in band."""
        model = self._catalogue.sketch
        request = resolve_seeds(asked, self._draw_seed)
        model.check_preview(request)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            tracks = (model.preview(request, control) for _ in range(1))  # made when asked for, and timed
            return _package(tracks, request, job_id, sink, control, stopwatch)

        expected = model.preview_stages(request)
        stages = _stages(expected, expected, request)
        return Prepared("sketch", model.id, stages, _digest("sketch", asked, model.id), work, model.rates_id)


def _digest(operation: str, asked: SongRequest, model_id: str, latents: Latents | None = None) -> str:
    """As `digest_of`: naming the default model is the same as leaving it out."""
    fields = asked.model_dump() | {"model": model_id}
    return digest_of(operation, fields if latents is None else fields | {"latents": sha256_of(latents.data)})


def _stages(
    expected: Sequence[Expected], one_track: Sequence[Expected], request: SongRequest
) -> tuple[Stage, ...]:
    """What a model expects, each phase with how many songs' worth it is, told by the phases of one track alone."""
    lines, single = _sung_lines(request.lyrics), {stage.phase: stage.units for stage in one_track}

    def songs(stage: Expected) -> float:
        units = single.get(stage.phase, 0.0)
        return stage.units / units if units > 0 else 1.0

    return tuple(
        Stage(stage.phase, stage.units, stage.source, lines, songs=songs(stage)) for stage in expected
    )


def _sung_lines(lyrics: str) -> int:
    stripped = (line.strip() for line in lyrics.splitlines())
    return sum(1 for line in stripped if line and not line.startswith("["))


def _write_plan(
    model: SongModel,
    request: SongRequest,
    job_id: str,
    sink: BinaryIO,
    control: Control,
    stopwatch: Stopwatch,
) -> Packed:
    with stopwatch.pipeline():
        plan = model.plan(request, control)
    score, kind = plan.abc.encode(), "text/vnd.abc"
    sink.write(score)
    return Packed(kind, (Part("score", 0, kind, 0, len(score), None, f"{job_id}.abc"),), plan.notes)


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
    notes: dict[str, None] = {}
    for index in itertools.count():
        with stopwatch.pipeline():
            track = next(tracks, None)
        if track is None:
            break
        notes |= dict.fromkeys(track.notes)
        _write_track(writer, track, index, request, job_id, control)
        del track  # some 70 MB for three minutes, which the next one may need
    return Packed(writer.content_type, writer.finish(), tuple(notes))


def _write_track(
    writer: MultipartWriter, track: Track, index: int, request: SongRequest, job_id: str, control: Control
) -> None:
    stem = f"{job_id}-{index}"
    with writer.part("replay", index, "application/json", f"{stem}.json") as part:
        part.write(json.dumps(track.replay, ensure_ascii=False).encode())
    name = f"{stem}.{extension(request.output_format)}"
    with writer.part("audio", index, content_type(request.output_format), name, track.seconds) as part:
        _encode(track, request, part, control)
    if request.output == "latents" and track.latents is not None:
        with writer.part("latents", index, LATENT_TYPE, f"{stem}.f32", track.seconds) as part:
            write_latents(track.latents, part)


def _encode(track: Track, request: SongRequest, sink: BinaryIO, control: Control) -> None:
    control.report("encoding", 0.0)
    rate, kind, bitrate = track.sample_rate_hz, request.output_format, request.mp3_bitrate
    encode(track.samples, rate, kind, bitrate, sink, control.check_cancelled)
    control.report("encoding", 1.0)
