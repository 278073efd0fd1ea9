"""The desk where agents' calls are answered: which tool is meant, and what becomes of whatever goes wrong."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from engine.catalogue import Catalogue
from server.agents.answer import ToolAnswer
from server.agents.arguments import Arguments, Choosing, read_arguments
from server.agents.desk_parts import DeskParts
from server.agents.errors import UnknownTool
from server.agents.guides import guide_text
from server.agents.listing import list_models, server_status
from server.agents.making import AgentWork
from server.agents.refusals import Kept, is_internal, refused
from server.agents.submitting import Submitting
from server.agents.telling import Telling
from server.agents.visit import Visit
from server.agents.waiting import Waiting
from server.jobs.containment import outline
from server.jobs.errors import QueueFull
from server.status import StatusBoard
from storage.entry import JSON

Tool = Callable[[str, Arguments, Visit], Awaitable[ToolAnswer]]
_log: Final = logging.getLogger(__name__)


class AgentDesk:
    """Answers every tool; holds nothing that changes."""

    def __init__(self, work: AgentWork, catalogue: Catalogue, parts: DeskParts) -> None:
        self._board = parts.board
        self._models = list_models(catalogue)
        telling = Telling(parts)
        submitting, waiting = Submitting(work, parts, telling), Waiting(parts, telling)
        self._tools: Mapping[str, Tool] = {
            "create_song": submitting.make,
            "plan_score": submitting.make,
            "preview_score": submitting.make,
            "speak": submitting.make,
            "transcribe": submitting.transcribe,
            "job_status": waiting.status,
            "cancel_job": waiting.cancel,
            "list_models": self._list_models,
            "server_status": self._server_status,
            "writing_guide": self._writing_guide,
        }

    async def call(self, name: str, arguments: Mapping[str, JSON], visit: Visit) -> ToolAnswer:
        """One tool's answer; whatever an agent can do wrong is a refused one. Raises UnknownTool."""
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name)
        with Kept() as kept:
            return await tool(name, read_arguments(name, arguments), visit)
        return _refused(name, kept.error, self._board)

    async def _list_models(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        return self._models

    async def _server_status(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        return server_status(self._board)

    async def _writing_guide(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        topic = arguments.own_as(Choosing).topic
        text = guide_text(topic)
        return ToolAnswer({"topic": topic, "text": text}, f"The guide on {topic} follows.", texts=(text,))


def _refused(tool: str, error: Exception | None, board: StatusBoard) -> ToolAnswer:
    """The refusal, noted without words of the request."""
    if error is None:
        raise TypeError("A call that raised nothing was answered.")
    answer = refused(error, board.running_seconds() if isinstance(error, QueueFull) else 0.0)
    if is_internal(error):
        _log.error("The tool %s failed: %s", tool, outline(error))
    else:
        _log.info("The tool %s was refused: %s", tool, answer.told["code"])
    return answer
