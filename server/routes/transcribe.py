"""`POST /transcribe`: a recording written down."""

import io
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.transcription_request import TranscriptionRequest, read_transcription
from server.admission import Prepare
from server.limits import MAX_BODY_BYTES, Limits
from server.query import options_of
from server.submission import Submissions
from server.transcription_operations import TranscriptionOperations
from server.uploads import OPTIONS_PART, RECORDING_PART, is_form, options_of_form, read_file, read_form
from server.work import Prepared

_OPTIONS: Final = tuple(TranscriptionRequest.model_fields)
_NUMBERS: Final = tuple(
    name for name, option in TranscriptionRequest.model_fields.items() if option.annotation in (int, float)
)


class TranscribeRoutes:
    """Fulfils `POST /transcribe` by the operations of transcription."""

    def __init__(self, operations: TranscriptionOperations, submissions: Submissions, limits: Limits) -> None:
        self._operations = operations
        self._submissions = submissions
        self._limits = limits

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route("/transcribe", self.transcribe, methods=["POST"])]

    async def transcribe(self, request: Request) -> Response:
        """A recording into its text and the times of its words: a bare file, or a form with `audio` and `request`."""

        async def read(held: ExitStack) -> Prepare:
            options = options_of(request, _OPTIONS, _NUMBERS)
            asked = read_transcription(options)
            self._operations.check(asked)
            held.enter_context(self._limits.uploads.slot())
            if not is_form(request):
                audio = await read_file(request, RECORDING_PART)
                return lambda: self._operations.transcribe(asked, audio)
            parts = await read_form(request, [RECORDING_PART, OPTIONS_PART])
            return lambda: self._prepared(options, parts)

        return await self._submissions.submit(request, MAX_BODY_BYTES, read, is_upload=True)

    def _prepared(self, asked: Mapping[str, object], parts: Mapping[str, io.BytesIO]) -> Prepared:
        """What a form asks for, by its part `request` or by the query."""
        options = options_of_form(asked, parts)
        return self._operations.transcribe(read_transcription(options), parts[RECORDING_PART.name])
