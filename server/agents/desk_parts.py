"""What the agents' desk works with."""

from collections.abc import Callable
from dataclasses import dataclass

from server.admission import Gate
from server.agents.links import ArtifactLinks
from server.job_book import JobBook
from server.limits import Limits
from server.status import StatusBoard
from server.watch import Watch
from storage.store import ResultStore


@dataclass(frozen=True, slots=True)
class DeskParts:
    """Parts of one server. `gate` admits agents' jobs into `artifacts`; `use` is told of each job that is asked for."""

    gate: Gate
    artifacts: ResultStore
    book: JobBook
    links: ArtifactLinks
    watch: Watch
    limits: Limits
    board: StatusBoard
    use: Callable[[str], object]
