"""`POST /mcp/transcribe`: a recording for an agent's job, since MCP itself carries no files."""

from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.admission import Prepare
from server.agents.arguments import RECORDING, read_as
from server.agents.making import AgentWork
from server.limits import MAX_BODY_BYTES, Limits
from server.query import check_query
from server.submission import Submissions
from server.uploads import RECORDING_PART, read_file


class RecordingRoutes:
    """Fulfils the upload by what the tool `transcribe` does with an earlier job's audio."""

    def __init__(self, work: AgentWork, submissions: Submissions, limits: Limits) -> None:
        self._work = work
        self._submissions = submissions
        self._limits = limits

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route("/mcp/transcribe", self.transcribe, methods=["POST"])]

    async def transcribe(self, request: Request) -> Response:
        """The bare file as the body, and in the query what the tool takes beside it; the job is an agent's."""

        async def read(held: ExitStack) -> Prepare:
            check_query(request, *RECORDING.names)
            arguments = read_as(RECORDING, "transcribe", dict(request.query_params))
            self._work.check_transcription(arguments)
            held.enter_context(self._limits.uploads.slot())
            recording = await read_file(request, RECORDING_PART)
            return lambda: self._work.transcribe(arguments, recording)

        return await self._submissions.submit(request, MAX_BODY_BYTES, read, is_upload=True)
