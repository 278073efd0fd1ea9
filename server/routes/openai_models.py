"""OpenAI's list of models: ours, and the vendors' names that our default models answer to."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.catalogue import Catalogue
from engine.errors import UnknownModel
from server.compatible.names import OPERATIONS, Kind, names_of, vendor_kind
from server.responses import json_response
from storage.entry import JSON

OWNER: Final = "yue2-studio"


class OpenAiModelRoutes:
    """`GET /v1/models` and `/v1/models/{id}`; `started_at`, in epoch seconds, stands for when each was made."""

    def __init__(self, catalogue: Catalogue, started_at: float) -> None:
        operations = catalogue.default_ids
        self._kinds = frozenset(kind for kind, operation in OPERATIONS.items() if operation in operations)
        self._names = names_of(catalogue.describe(), *Kind)
        self._created = int(started_at)

    def routes(self) -> list[Route]:
        """The routes to mount at the root."""
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{id:path}", self.model, methods=["GET"]),
        ]

    async def models(self, request: Request) -> Response:
        """Every name that works here."""
        listed: list[JSON] = [self._described(name) for name in self._names]
        return json_response({"object": "list", "data": listed})

    async def model(self, request: Request) -> Response:
        """One of them; a vendor's dated name too, which works though it is not listed. Raises UnknownModel."""
        name = str(request.path_params["id"])
        if name not in self._names and vendor_kind(name) not in self._kinds:
            raise UnknownModel(name[:80], self._names)
        return json_response(self._described(name))

    def _described(self, name: str) -> dict[str, JSON]:
        return {"id": name, "object": "model", "created": self._created, "owned_by": OWNER}
