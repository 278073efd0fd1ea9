"""ElevenLabs' music calls: `/v1/music` and what lies below it."""

import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.catalogue import Catalogue
from server.bodies import parse_object, read_json_object
from server.calls.call import Call
from server.calls.synchronous import SynchronousCalls
from server.compatible.fields import renamed
from server.compatible.music import Composition, drafted, read_composition, song_of
from server.compatible.music_answers import (
    Mixed,
    Sung,
    closing_events,
    described,
    event,
    opening_events,
    takes_rest_for_audio,
)
from server.compatible.music_waveform import FileSpan, waveform
from server.limits import Limits
from server.operations import Operations
from server.responses import EVENT_HEADERS, Chunks, json_response
from server.work import Prepared
from storage.entry import JSON, Entry, Part
from storage.store import Lease

SONG_ID: Final = "song-id"
AUDIO, REPLAY = "audio", "replay"
EVENT_BYTES: Final = (
    24 * 1024
)  # of audio in one event, a multiple of 3 so that base64 needs no padding between


class ElevenLabsRoutes:
    """Fulfils the music calls by the operations of songs."""

    def __init__(
        self, calls: SynchronousCalls, operations: Operations, catalogue: Catalogue, limits: Limits
    ) -> None:
        self._calls = calls
        self._operations = operations
        self._catalogue = catalogue
        self._limits = limits

    def routes(self) -> list[Route]:
        """The routes to mount at the root."""
        return [
            Route("/v1/music", self.compose, methods=["POST"]),
            Route("/v1/music/stream", self.compose, methods=["POST"]),
            Route("/v1/music/detailed", self.compose_detailed, methods=["POST"]),
            Route("/v1/music/detailed/stream", self.compose_events, methods=["POST"]),
            Route("/v1/music/plan", self.plan, methods=["POST"]),
        ]

    async def compose(self, request: Request) -> Response:
        """A song as its file."""

        async def answer(call: Call, asked: Composition) -> Response:
            part = _part(await call.finished(), AUDIO)
            return await call.result(part, {SONG_ID: call.job_id})

        return await self._calls.answer_json(request, partial(_read, request), self._prepared, answer)

    async def compose_detailed(self, request: Request) -> Response:
        """A song as its file, with what there is to tell of it before that."""
        is_closed = not takes_rest_for_audio(request.headers)

        async def answer(call: Call, asked: Composition) -> Response:
            part = _part(await call.finished(), AUDIO)
            about = await self._about(call, asked)
            mixed = Mixed(f"song-{call.job_id}", about, part.content_type, part.filename, is_closed)
            before, after = await self._limits.run(lambda: (mixed.before, mixed.after))
            response = Chunks(_framed(call, before, part, after), _headers(call, mixed.media_type))
            response.headers["content-length"] = str(len(before) + part.length + len(after))
            return response

        return await self._calls.answer_json(request, partial(_read, request), self._prepared, answer)

    async def compose_events(self, request: Request) -> Response:
        """The same as server-sent events, once the song is made."""

        async def answer(call: Call, asked: Composition) -> Response:
            part = _part(await call.finished(), AUDIO)
            about = await self._about(call, asked)
            told = await self._limits.run(
                lambda: (b"".join(opening_events(about)), b"".join(closing_events(about)))
            )
            return Chunks(_events(call, part, *told), EVENT_HEADERS | {SONG_ID: call.job_id})

        return await self._calls.answer_json(request, partial(_read, request), self._prepared, answer)

    async def plan(self, request: Request) -> Response:
        """A composition plan of a prompt, without a job."""
        payload = await read_json_object(request, self._limits)

        def made() -> Response:
            plan = drafted(payload)
            with renamed({"model": "model_id"}):
                self._catalogue.model(plan.model)
            return json_response(plan.answer)

        async with self._limits.preparing():
            return await self._limits.run(made)

    def _prepared(self, asked: Composition) -> Prepared:
        with renamed(asked.words):
            model = self._catalogue.model(asked.model)
            song, notes = song_of(asked, keeps_time=model.id == self._catalogue.sketch.id)
            prepared = self._operations.synth(song, form=asked.form)
        return replace(prepared, notes=(*notes, *prepared.notes))

    async def _about(self, call: Call, asked: Composition) -> dict[str, JSON]:
        """What there is to tell of a finished song; reading and drawing it is work for the pool."""
        entry = await call.finished()
        replay = await call.body(_part(entry, REPLAY))
        lease = await call.lease()
        return await self._limits.run(lambda: _described(asked, replay, _part(entry, AUDIO), lease))


def _read(request: Request, payload: dict[str, JSON]) -> Composition:
    return read_composition(payload, request.query_params.get("output_format", ""))


def _described(asked: Composition, replay: bytes, audio: Part, lease: Lease) -> dict[str, JSON]:
    seconds = audio.seconds or 0.0
    drawn = None
    if asked.with_waveform:
        drawn = waveform(FileSpan(lease.fd, audio.offset, audio.length), asked.form, seconds)
    return described(asked, Sung(parse_object(replay), round(1000 * seconds)), drawn)


async def _framed(
    call: Call, before: bytes, part: Part, after: bytes
) -> AsyncGenerator[bytes | memoryview, None]:
    yield before
    async with aclosing(call.slices(part)) as pieces:
        async for piece in pieces:
            yield piece
    if after:
        yield after


async def _events(
    call: Call, part: Part, before: bytes, after: bytes
) -> AsyncGenerator[bytes | memoryview, None]:
    yield before
    rest = b""
    async with aclosing(call.slices(part)) as pieces:
        async for piece in pieces:
            rest += piece
            whole = len(rest) // EVENT_BYTES * EVENT_BYTES
            for start in range(0, whole, EVENT_BYTES):
                yield event("audio_chunk", _encoded(rest[start : start + EVENT_BYTES]))
            rest = rest[whole:]
    if rest:
        yield event("audio_chunk", _encoded(rest))
    yield after


def _encoded(sound: bytes) -> str:
    return base64.b64encode(sound).decode("ascii")


def _headers(call: Call, media_type: str) -> dict[str, str]:
    return {"Content-Type": media_type, "Cache-Control": "no-store", SONG_ID: call.job_id}


def _part(entry: Entry, name: str) -> Part:
    """The one part of that name: a call makes one song."""
    return next(part for part in entry.parts if part.name == name)
