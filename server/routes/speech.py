"""`POST /speech`: text read aloud."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.speech_request import read_speech
from server.speech_operations import SpeechOperations
from server.submission import Submissions


class SpeechRoutes:
    """Fulfils `POST /speech` by the operations of speech."""

    def __init__(self, operations: SpeechOperations, submissions: Submissions) -> None:
        self._operations = operations
        self._submissions = submissions

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route("/speech", self.speech, methods=["POST"])]

    async def speech(self, request: Request) -> Response:
        """Text into speech."""
        return await self._submissions.submit_json(request, read_speech, self._operations.speech)
