"""`POST /v1/audio/transcriptions` and `/v1/audio/translations`, as OpenAI's clients call them."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.errors import InvalidRequest
from engine.transcription_model import TranscriptAnswer
from server.calls.call import Call
from server.calls.synchronous import Sent, SynchronousCalls
from server.compatible.speech_events import event_of
from server.compatible.transcript_answers import (
    TEXT_TYPE,
    as_json,
    as_text,
    as_verbose_json,
    delta,
    done,
    segments_in,
)
from server.compatible.transcription import (
    FIELDS,
    UPLOAD,
    Task,
    Transcribing,
    TranscriptionCall,
    read_transcription_call,
)
from server.envelopes import ending_with_error
from server.errors import JobFailed
from server.limits import MAX_BODY_BYTES, Limits
from server.responses import EVENT_HEADERS, Chunks, json_response
from server.transcription_operations import TRANSCRIPT_PART
from server.uploads import read_loose_form
from storage.entry import Entry, Part
from storage.errors import NotStored

TRANSCRIPTIONS: Final = "/v1/audio/transcriptions"
TRANSLATIONS: Final = "/v1/audio/translations"
_UNFIT: Final = "invalid_field"  # of a job whose recording proved no recording


class OpenaiTranscriptionRoutes:
    """Fulfils both by the same work, each call of which waits for its job."""

    def __init__(self, transcribing: Transcribing, calls: SynchronousCalls, limits: Limits) -> None:
        self._transcribing = transcribing
        self._calls = calls
        self._limits = limits

    def routes(self) -> list[Route]:
        """The routes to mount at the root."""
        return [
            Route(TRANSCRIPTIONS, self.transcriptions, methods=["POST"]),
            Route(TRANSLATIONS, self.translations, methods=["POST"]),
        ]

    async def transcriptions(self, request: Request) -> Response:
        """A recording written down in its language."""
        return await self._fulfil(request, "transcribe")

    async def translations(self, request: Request) -> Response:
        """A recording written down in English."""
        return await self._fulfil(request, "translate")

    async def _fulfil(self, request: Request, task: Task) -> Response:
        async def read(held: ExitStack) -> Sent:
            held.enter_context(self._limits.uploads.slot())
            form = await read_loose_form(request, UPLOAD, FIELDS)
            asked, recording = read_transcription_call(form, task)
            return Sent(
                marks=(form.digest,),
                prepare=lambda: self._transcribing.prepare(asked, recording),
                answer=lambda call: self._answer(request, asked, call),
            )

        return await self._calls.answer(request, MAX_BODY_BYTES, read, is_upload=True)

    async def _answer(self, request: Request, asked: TranscriptionCall, call: Call) -> Response:
        """The transcript in the form asked for, read from where it is stored."""
        with _blaming_the_file():
            if asked.stream:
                is_growing = await call.begun()
                events = _blamed(self._told(asked, call, is_growing))
                return Chunks(ending_with_error(events, request.scope, event_of), EVENT_HEADERS)
            entry = await call.finished()
        if asked.response_format in ("srt", "vtt"):
            return await call.result(_part(entry, asked.response_format))
        raw = await _raw(call)
        return await self._limits.run(lambda: _shaped(raw, asked))

    async def _told(
        self, asked: TranscriptionCall, call: Call, is_growing: bool
    ) -> AsyncGenerator[bytes, None]:
        """Each segment, as it is found where the transcript is still being made, then the whole."""
        if is_growing:
            async with aclosing(segments_in(call.slices())) as segments:
                async for segment in segments:
                    yield delta(segment)
        raw = await _raw(call)
        transcript = await self._limits.run(lambda: TranscriptAnswer.model_validate_json(raw))
        if not is_growing:
            for segment in transcript.segments:
                yield delta(segment)
        yield done(transcript, asked)


async def _blamed(events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The events, whose making may find the file unfit."""
    with _blaming_the_file():
        async with aclosing(events):
            async for event in events:
                yield event


async def _raw(call: Call) -> bytes:
    """The transcript as it is stored, as JSON."""
    return await call.body(_part(await call.finished(), TRANSCRIPT_PART))


def _shaped(raw: bytes, asked: TranscriptionCall) -> Response:
    """The transcript in the form asked for. Of a recording of hours it takes a while, so not on the event loop."""
    transcript = TranscriptAnswer.model_validate_json(raw)
    if asked.response_format == "text":
        return Response(as_text(transcript), headers={"Content-Type": TEXT_TYPE, "Cache-Control": "no-store"})
    shape = as_verbose_json if asked.response_format == "verbose_json" else as_json
    return json_response(shape(transcript, asked))


def _part(entry: Entry, name: str) -> Part:
    """The part of that name, which every transcript has."""
    for part in entry.parts:
        if part.name == name:
            return part
    raise NotStored(entry.id, f"This result has no {name}; send the recording again.")


@contextmanager
def _blaming_the_file() -> Iterator[None]:
    """A job that found its recording unfit fails as a call does whose recording is found so at once."""
    try:
        yield
    except JobFailed as error:
        if error.code != _UNFIT:
            raise
        raise InvalidRequest(UPLOAD, str(error)) from error
