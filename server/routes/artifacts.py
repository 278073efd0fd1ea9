"""`/artifacts`: what agents' jobs made, for whoever has the link."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.agents.links import ARTIFACTS_PATH, ArtifactLinks, artifact_name
from server.limits import Limits
from server.pinned_files import opened
from server.responses import ResultResponse
from storage.entry import Entry
from storage.errors import UnknownEntry
from storage.store import ResultStore

NO_SUCH_LINK: Final = (
    "No file is known under this link; copy it whole, or ask the agent that gave it for it again."
)


class ArtifactRoutes:
    """Downloads from the agents' store by sealed links, which take the place of a key."""

    def __init__(self, artifacts: ResultStore, links: ArtifactLinks, limits: Limits) -> None:
        self._artifacts = artifacts
        self._links = links
        self._limits = limits

    def routes(self) -> list[Route]:
        """The route to mount at the root."""
        return [Route(f"{ARTIFACTS_PATH}/{{token}}/{{name}}", self.download, methods=["GET"])]

    async def download(self, request: Request) -> Response:
        """The one file of a job, or a range of it; 404 for any link that was never given, 410 for one that has expired.

        What a chat application hangs behind the question mark of a link it shows is not looked at.
        """
        token, name = request.path_params["token"], request.path_params["name"]
        entry = self._stored(token)
        if artifact_name(entry) != name:
            raise UnknownEntry(token, NO_SUCH_LINK)
        lease = await opened(lambda: self._artifacts.lease(entry.id), self._limits)
        return ResultResponse(lease, lease.entry.parts[0], request, self._limits)

    def _stored(self, token: str) -> Entry:
        """The finished job's record. Raises UnknownEntry, EntryExpired."""
        try:
            entry = self._artifacts.find(self._links.job_id(token))
        except UnknownEntry as error:
            raise UnknownEntry(token, NO_SUCH_LINK) from error
        if not entry.parts:  # a link is given only when there is something behind it
            raise UnknownEntry(token, NO_SUCH_LINK)
        return entry
