"""`POST /v1/audio/speech`, as OpenAI's clients call it: text into audio that is sent while it is made."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from server.calls.call import Call
from server.calls.synchronous import SynchronousCalls
from server.compatible.speaking import Speaking
from server.compatible.speech import SpeechCall, read_speech_call
from server.compatible.speech_events import Deltas, done, event_of
from server.envelopes import ending_with_error
from server.following import FOLLOW_HEADERS
from server.responses import EVENT_HEADERS, Chunks
from storage.entry import Entry, Part

PATH: Final = "/v1/audio/speech"
# What a client that keeps all of it gains from a little patience is a file whose head tells its length.
WHOLE_SECONDS: Final = 2.0


class OpenaiSpeechRoutes:
    """Fulfils `POST /v1/audio/speech`, each call of which waits for its job. Holds no state."""

    def __init__(self, speaking: Speaking, calls: SynchronousCalls) -> None:
        self._speaking = speaking
        self._calls = calls

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route(PATH, self.speech, methods=["POST"])]

    async def speech(self, request: Request) -> Response:
        """Text into speech, or lyrics into a song where the model named makes songs."""
        answer = partial(_answer, request.scope)
        return await self._calls.answer_json(request, read_speech_call, self._speaking.prepare, answer)


async def _answer(scope: Scope, call: Call, asked: SpeechCall) -> Response:
    """The audio from its first sentence on, or from its file where all is stored; as events where those are asked for."""
    is_growing = await call.begun()
    if is_growing and asked.stream_format == "audio" and _keeps_all(Headers(scope=scope)):
        is_growing = not await call.ends_within(WHOLE_SECONDS)
    part = None if is_growing else _audio(await call.finished())
    if asked.stream_format == "sse":
        events = _events(call, part, len(asked.input))
        return Chunks(ending_with_error(events, scope, event_of), EVENT_HEADERS)
    if is_growing:
        return Chunks(call.slices(), {"Content-Type": asked.form.content_type, **FOLLOW_HEADERS})
    return await call.result(part)


def _keeps_all(headers: Headers) -> bool:
    """Whether the client hands the audio on only once it has all of it.

    OpenAI's client for Python does, unless it is asked to stream, of which it tells itself and us by a header.
    """
    is_python = headers.get("x-stainless-lang") == "python"
    return is_python and headers.get("x-stainless-raw-response") != "stream"


async def _events(call: Call, part: Part | None, characters: int) -> AsyncGenerator[bytes, None]:
    """Deltas, while the audio is made where no part is named, and the last event once the job is done."""
    deltas = Deltas()
    async with aclosing(call.slices(part)) as slices:
        async for audio in slices:
            for event in deltas.of(audio):
                yield event
    seconds = _audio(await call.finished()).seconds
    if rest := deltas.rest():
        yield rest
    yield done(characters, seconds or 0.0)


def _audio(entry: Entry) -> Part:
    """The audio of a body, which is speech or one song."""
    return next(part for part in entry.parts if part.name == "audio")
