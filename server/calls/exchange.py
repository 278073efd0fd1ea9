"""One request of a synchronous call: what it says of itself, and what has become of its answer."""

from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from server.calls.fingerprints import attempts_before, look
from server.calls.repetition import Attempt
from server.connection import ABORT, ACCEPTED_JOB
from storage.growth import nobody


class CallExchange:
    """A request and its ASGI channels. `mark` is its fingerprint, once all of it was read.

    Owner of whether its answer has begun, is all sent, or is to be sent no further.
    """

    def __init__(
        self, request: Request, number: int, input_bytes: int, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self.request: Final = request
        self.attempt: Final = Attempt(number, attempts_before(request.headers) > 0)
        self.input_bytes: Final = input_bytes
        self.scope: Final = scope
        self.receive: Final = receive
        self.mark = ""
        self.has_begun = False
        self.is_complete = False
        self._forward = send
        self._is_cut = False

    @property
    def owner(self) -> str:
        """Whose key it brings."""
        return str(self.request.state.owner)

    @property
    def key(self) -> str:
        """Its Idempotency-Key; empty for none."""
        return self.request.headers.get("idempotency-key", "")

    @property
    def named(self) -> tuple[str, str, str]:
        """Who asks for what: owner, method, path with query."""
        query = self.scope["query_string"].decode("latin-1")
        return self.owner, self.scope["method"], f"{self.scope['path']}?{query}"

    @property
    def look(self) -> str:
        """What tells it from others before its body is read."""
        return look(*self.named, self.request.headers.get("content-length", ""))

    @property
    def job_id(self) -> str:
        """The job that was accepted for it; empty while there is none."""
        return str(self.scope["state"].get(ACCEPTED_JOB, ""))

    def accept(self, job_id: str) -> None:
        """It has its job."""
        self.scope["state"][ACCEPTED_JOB] = job_id

    async def send(self, message: Message) -> None:
        """Pass a message on. Raises ClientDisconnect where nothing more is to be sent."""
        if self._is_cut:
            raise ClientDisconnect
        self.has_begun = True
        await self._forward(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True

    def cut(self) -> None:
        """Send nothing more; a connection on which an answer has begun is ended at once, also under a send that waits."""
        self._is_cut = True
        if self.has_begun:
            self.scope["state"].get(ABORT, nobody)()
