"""The desk where agents' calls are answered: which tool is meant, and what becomes of whatever goes wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.catalogue import Catalogue
from server.admission import Gate
from server.agents.answer import ToolAnswer
from server.agents.errors import UnknownTool
from server.agents.links import ArtifactLinks
from server.agents.making import AgentWork
from server.agents.visit import Visit
from server.job_book import JobBook
from server.limits import Limits
from server.status import StatusBoard
from server.watch import Watch
from storage.entry import JSON
from storage.store import ResultStore


@dataclass(frozen=True, slots=True)
class DeskParts:
    """What the desk works with. `gate` admits agents' jobs into `artifacts`; `use` is told of each job asked for."""

    gate: Gate
    artifacts: ResultStore
    book: JobBook
    links: ArtifactLinks
    watch: Watch
    limits: Limits
    board: StatusBoard
    use: Callable[[str], object]


class AgentDesk:
    """Answers every tool; holds no state of its own."""

    def __init__(self, work: AgentWork, catalogue: Catalogue, parts: DeskParts) -> None:
        self._work = work
        self._catalogue = catalogue
        self._parts = parts

    async def call(self, name: str, arguments: Mapping[str, JSON], visit: Visit) -> ToolAnswer:
        """One tool's answer; whatever an agent can do wrong is a refused one. Raises UnknownTool."""
        raise UnknownTool(name)
