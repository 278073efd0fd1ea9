"""What operators and pages read: health, properties, logs, metrics, the API's own description."""

from collections.abc import Mapping
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.errors import InvalidRequest
from server.access import Keys, forgotten_cookie
from server.bodies import read_json_object
from server.limits import Limits
from server.log_ring import LogRing
from server.metrics import Metrics
from server.responses import EventStream, json_response
from server.status import StatusBoard
from storage.entry import JSON

MAX_SESSION_BYTES: Final = 4096  # the route is open to strangers
WELCOME: Final[dict[str, JSON]] = {
    "name": "YuE2 Studio",
    "make_a_song": 'POST /synth with {"style": "…", "lyrics": "…"}, then GET /job?id=…',
    "read_text_aloud": 'POST /speech with {"text": "…"}, then GET /job?id=…&follow=1',
    "write_down_a_recording": "POST /transcribe with the file, then GET /job?id=…&result=1",
    "openai_clients": "base_url is this address and /v1, such as POST /v1/audio/speech",
    "elevenlabs_clients": "base_url is this address, such as POST /v1/music",
    "description": "/openapi.json",
    "models_and_defaults": "/props",
    "health": "/health",
}


class SystemRoutes:
    """Routes about the server itself. Nothing here waits for the worker, for a disk, or for a lock held during I/O."""

    def __init__(
        self,
        board: StatusBoard,
        props: Mapping[str, JSON],
        openapi: Mapping[str, JSON],
        keys: Keys,
        metrics: Metrics,
        log_ring: LogRing,
        limits: Limits,
    ) -> None:
        self._board = board
        self._props = props
        self._openapi = openapi
        self._keys = keys
        self._metrics = metrics
        self._log_ring = log_ring
        self._limits = limits

    def routes(self) -> list[Route]:
        """The routes to mount at the root."""
        return [
            Route("/", self.welcome, methods=["GET"]),
            Route("/health", self.status, methods=["GET"]),
            Route("/status", self.status, methods=["GET"]),
            Route("/system/queue", self.status, methods=["GET"]),
            Route("/props", self.props, methods=["GET"]),
            Route("/logs", self.logs, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/session", self.session, methods=["POST", "DELETE"]),
        ]

    async def welcome(self, request: Request) -> Response:
        """Where somebody who opens the bare address finds their way."""
        return json_response(WELCOME)

    async def status(self, request: Request) -> Response:
        """The snapshot; 200 while the queue is full, since a full queue needs no restart."""
        return json_response(self._board.snapshot())

    async def props(self, request: Request) -> Response:
        """Models, defaults and limits, with the queue's configuration as it is now."""
        return json_response({**self._props, "queue": self._board.queue()})

    async def logs(self, request: Request) -> Response:
        """The last lines of the log, then new ones as they come."""
        return EventStream(self._log_ring.follow(), self._limits.log_streams)

    async def metrics(self, request: Request) -> Response:
        """Prometheus text exposition."""
        headers = {"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"}
        return Response(self._metrics.exposition(), headers=headers)

    async def openapi(self, request: Request) -> Response:
        """OpenAPI 3.1."""
        return json_response(dict(self._openapi))

    async def session(self, request: Request) -> Response:
        """Trade a key for a cookie, once, since players and event streams send no headers; or give the cookie back."""
        if request.method == "DELETE":
            return Response(status_code=204, headers={"Set-Cookie": forgotten_cookie()})
        payload = await read_json_object(request, self._limits, MAX_SESSION_BYTES)
        key = payload.get("key")
        if not isinstance(key, str) or set(payload) != {"key"}:
            raise InvalidRequest("key", 'Send the API key as {"key": "…"}, and nothing else.')
        headers = {"Cache-Control": "no-store"}
        if self._keys.needed:
            owner = self._keys.owner_of_key(key)
            headers["Set-Cookie"] = self._keys.cookie_header(owner, secure=_over_tls(request))
        return Response(status_code=204, headers=headers)


def _over_tls(request: Request) -> bool:
    """Whether the page came over TLS, to this server or to a proxy that says so."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
