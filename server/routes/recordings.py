"""`POST /mcp/transcribe`: a recording for an agent's job, since MCP itself carries no files."""

import io
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.addresses import MCP_PATH
from server.admission import Prepare
from server.agents.arguments import RECORDING, Arguments, read_as
from server.agents.making import AgentWork
from server.limits import MAX_BODY_BYTES, Limits
from server.query import check_query
from server.submission import Submissions
from server.uploads import OPTIONS_PART, RECORDING_PART, is_form, options_of_form, read_file, read_form
from server.work import Prepared
from storage.entry import JSON

RECORDINGS_PATH: Final = f"{MCP_PATH}/transcribe"


class RecordingRoutes:
    """Fulfils the upload by what the tool `transcribe` does with an earlier job's audio."""

    def __init__(self, work: AgentWork, submissions: Submissions, limits: Limits) -> None:
        self._work = work
        self._submissions = submissions
        self._limits = limits

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route(RECORDINGS_PATH, self.transcribe, methods=["POST"])]

    async def transcribe(self, request: Request) -> Response:
        """A recording as a bare file, or a form with `audio` and `request`; asked is what the tool takes beside it.

        The job is an agent's: its one file is had by a link, which `job_status` tells.
        """

        async def read(held: ExitStack) -> Prepare:
            check_query(request, *RECORDING.names)
            options: dict[str, JSON] = dict(request.query_params)
            asked = self._read(options)
            held.enter_context(self._limits.uploads.slot())
            if not is_form(request):
                recording = await read_file(request, RECORDING_PART)
                return lambda: self._work.transcribe(asked, recording)
            parts = await read_form(request, [RECORDING_PART, OPTIONS_PART])
            return lambda: self._prepared(options, parts)

        return await self._submissions.submit(request, MAX_BODY_BYTES, read, is_upload=True)

    def _prepared(self, options: Mapping[str, JSON], parts: Mapping[str, io.BytesIO]) -> Prepared:
        """What a form asks for, by its part `request` or by the query."""
        asked = self._read(options_of_form(options, parts))
        return self._work.transcribe(asked, parts[RECORDING_PART.name])

    def _read(self, options: Mapping[str, JSON]) -> Arguments:
        """What is asked for, checked as far as it can be before there is a recording."""
        asked = read_as(RECORDING, RECORDINGS_PATH, options)
        self._work.check_transcription(asked)
        return asked
