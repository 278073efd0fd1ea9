"""What the server can be asked to sing: each operation turned into work for the queue."""

import io
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from engine.audio import AudioForm
from engine.catalogue import Catalogue
from engine.request import CONTEXT_TOKENS, SketchRequest, SongRequest, resolve_seeds
from engine.song_model import Expected, Latents, SongModel, Track
from server.jobs.rates import Stage
from server.latents import LATENT_TYPE, read_latents, write_latents
from server.packaging import MultipartWriter
from server.work import (
    Making,
    Packed,
    Prepared,
    alone_fields,
    digest_of,
    form_fields,
    form_of,
    native_fields,
    sha256_of,
    stages_of,
    write_audio,
)
from storage.entry import Part

SAME_SONGS: Final = "All songs are the same, since semantic_tokens leave nothing to draw; ask for synth_batch_size in place of lm_batch_size."
_WITHOUT_CODES = {"semantic_tokens": "", "keep_codes": 0}
_ONE_TRACK = {"lm_batch_size": 1, "synth_batch_size": 1}


class Operations:
    """Checks requests against the models present and says what work they mean."""

    def __init__(self, catalogue: Catalogue, draw_seed: Callable[[], int]) -> None:
        self._catalogue = catalogue
        self._draw_seed = draw_seed

    def synth(
        self,
        asked: SongRequest,
        sent: io.BytesIO | None = None,
        form: AudioForm | None = None,
        alone: str = "",
    ) -> Prepared:
        """Style and lyrics, or a score, into songs; of latents that were sent their decoding alone, without codes.

        In another form than the request's own where one is given; as the file named `alone`, the sound of its one track and
        nothing beside it.
        """
        model, latents = self._catalogue.model(asked.model), None
        if form is not None:
            form.check()
            asked = asked.model_copy(update=native_fields(form))
        written = form or form_of(asked)
        if sent is not None:
            asked = asked.model_copy(update=_WITHOUT_CODES)
            latents = _latents(model, sent)
        model.check(asked, latents)
        request = resolve_seeds(asked, self._draw_seed)
        expected = one_track = model.stages(request, latents)
        if request.lm_batch_size > 1 or request.synth_batch_size > 1:
            one_track = model.stages(request.model_copy(update=_ONE_TRACK), latents)
        is_read = model is self._catalogue.sketch and _has_score(request)
        return Prepared(
            operation="synth",
            model=model.id,
            stages=_stages(expected, one_track, request),
            digest=_digest("synth", asked, model.id, latents, form, alone),
            work=lambda making: _packed(
                model.generate(request, making.control, latents), request, written, making, alone
            ),
            rates_id=model.rates_id,
            notes=(
                *model.notes(request, latents),
                *_foreseen(request, latents, alone),
                *_seeds(request, alone, is_drawn=not is_read),
            ),
            input_bytes=0 if latents is None else latents.nbytes,
        )

    def plan(self, asked: SongRequest, alone: str = "") -> Prepared:
        """Style and lyrics into a score, in a file named `alone` where one is given."""
        model = self._catalogue.model(asked.model)
        model.check_plan(asked)
        request = resolve_seeds(asked, self._draw_seed)
        expected = model.plan_stages(request)
        return Prepared(
            operation="plan",
            model=model.id,
            stages=_stages(expected, expected, request),
            digest=_digest("plan", asked, model.id, alone=alone),
            work=lambda making: _write_plan(model, request, making, alone),
            rates_id=model.rates_id,
            notes=(*model.notes(request), *_drawn(asked, request)),
        )

    def sketch(self, asked: SketchRequest, alone: str = "") -> Prepared:
        """A score, or a request composed first, into an audio preview; always by the built-in band.

        As the file named `alone`, its sound and nothing beside it.
        """
        model = self._catalogue.sketch
        request = resolve_seeds(asked, self._draw_seed)
        model.check_preview(request)

        def work(making: Making) -> Packed:
            # Made when asked for, and timed.
            tracks = (model.preview(request, making.control) for _ in range(1))
            return _packed(tracks, request, form_of(request), making, alone)

        expected = model.preview_stages(request)
        return Prepared(
            operation="sketch",
            model=model.id,
            stages=_stages(expected, expected, request),
            digest=_digest("sketch", asked, model.id, alone=alone),
            work=work,
            rates_id=model.rates_id,
            notes=_seeds(request, alone, is_drawn=not _has_score(request)),
        )


def _foreseen(request: SongRequest, latents: Latents | None, alone: str) -> tuple[str, ...]:
    """What may surprise whoever asked for songs, and is known before they are made.

    Whoever has one file made, `alone`, has no budget of tokens to raise.
    """
    if latents is not None:
        return ()
    if request.semantic_tokens.strip() and not request.keep_codes:
        return () if request.lm_batch_size == 1 else (SAME_SONGS,)
    most, tokens = request.longest_seconds, request.semantic_sampling.max_tokens
    if request.duration <= most:
        return ()
    raised = (
        ""
        if alone or tokens >= CONTEXT_TOKENS
        else "; raise semantic_sampling.max_tokens, 25 a second, for more"
    )
    return (f"A song lasts at most {most:g} seconds here{raised}.",)


def _drawn(asked: SongRequest, request: SongRequest) -> tuple[str, ...]:
    """The seed of a score that was asked for without one: a plan has no replay to tell it."""
    if asked.lm_seed >= 0 or _has_score(asked):
        return ()
    return (f"The score is drawn with lm_seed {request.lm_seed}.",)


def _has_score(request: SongRequest) -> bool:
    return bool(request.abc.strip())


def _seeds(request: SongRequest, alone: str, *, is_drawn: bool) -> tuple[str, ...]:
    """The seeds of a song that comes without the replay that would tell them; lm_seed where it decides anything."""
    if not alone:
        return ()
    if not is_drawn:
        return (f"The same request with seed {request.seed} makes the same again.",)
    return (f"The same request with lm_seed {request.lm_seed} and seed {request.seed} makes the same again.",)


def _latents(model: SongModel, sent: io.BytesIO) -> Latents:
    """What was sent as the model's latents (T, C); none for a model that has none, which its check refuses."""
    if not model.latent_channels:
        return np.zeros((0, 0), np.float32)
    return read_latents(sent.getbuffer(), model.latent_channels)


def _digest(
    operation: str,
    asked: SongRequest,
    model_id: str,
    latents: Latents | None = None,
    form: AudioForm | None = None,
    alone: str = "",
) -> str:
    """As `digest_of`: naming the default model is the same as leaving it out."""
    fields = asked.model_dump() | {"model": model_id} | form_fields(form) | alone_fields(alone)
    return digest_of(operation, fields if latents is None else fields | {"latents": sha256_of(latents.data)})


def _stages(
    expected: Sequence[Expected], one_track: Sequence[Expected], request: SongRequest
) -> tuple[Stage, ...]:
    """What a model expects, each phase with how many songs' worth it is, told by the phases of one track alone."""
    lines, single = _sung_lines(request.lyrics), {stage.phase: stage.units for stage in one_track}

    def songs(stage: Stage) -> float:
        units = single.get(stage.phase, 0.0)
        return stage.units / units if units > 0 else 1.0

    return tuple(replace(stage, lines=lines, songs=songs(stage)) for stage in stages_of(expected))


def _sung_lines(lyrics: str) -> int:
    stripped = (line.strip() for line in lyrics.splitlines())
    return sum(1 for line in stripped if line and not line.startswith("["))


def _write_plan(model: SongModel, request: SongRequest, making: Making, alone: str) -> Packed:
    with making.stopwatch.pipeline():
        plan = model.plan(request, making.control)
    score, kind = plan.abc.encode(), "text/vnd.abc"
    making.sink.write(score)
    name = alone or f"{making.job_id}.abc"
    return Packed(kind, (Part("score", 0, kind, 0, len(score), None, name),), plan.notes)


def _packed(
    tracks: Iterator[Track], request: SongRequest, form: AudioForm, making: Making, alone: str
) -> Packed:
    """All tracks with their replays, or the sound of the one track there is in a file named `alone`."""
    return _only_sound(tracks, form, making, alone) if alone else _package(tracks, request, form, making)


def _only_sound(tracks: Iterator[Track], form: AudioForm, making: Making, name: str) -> Packed:
    with making.stopwatch.pipeline():
        (track,) = tracks
    write_audio(track.samples, track.sample_rate_hz, form, making.sink, making.control)
    length = making.sink.seek(0, io.SEEK_END)
    return Packed(
        form.content_type, (Part("audio", 0, form.content_type, 0, length, track.seconds, name),), track.notes
    )


def _package(tracks: Iterator[Track], request: SongRequest, form: AudioForm, making: Making) -> Packed:
    """Write each track as it is made, so that one track at a time is held in memory."""
    writer = MultipartWriter(making.sink, making.job_id)
    notes: dict[str, None] = {}
    for index in itertools.count():
        with making.stopwatch.pipeline():
            track = next(tracks, None)
        if track is None:
            break
        notes |= dict.fromkeys(track.notes)
        _write_track(writer, track, index, request, form, making)
        del track  # some 70 MB for three minutes, which the next one may need
    return Packed(writer.content_type, writer.finish(), tuple(notes))


def _write_track(
    writer: MultipartWriter,
    track: Track,
    index: int,
    request: SongRequest,
    form: AudioForm,
    making: Making,
) -> None:
    stem = f"{making.job_id}-{index}"
    with writer.part("replay", index, "application/json", f"{stem}.json") as part:
        part.write(json.dumps(track.replay, ensure_ascii=False).encode())
    name = f"{stem}.{form.extension}"
    with writer.part("audio", index, form.content_type, name, track.seconds) as part:
        write_audio(track.samples, track.sample_rate_hz, form, part, making.control)
    if request.output == "latents" and track.latents is not None:
        with writer.part("latents", index, LATENT_TYPE, f"{stem}.f32", track.seconds) as part:
            write_latents(track.latents, part)
