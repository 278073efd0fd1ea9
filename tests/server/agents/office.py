"""A server's parts with its worker running, the agents' desk over them, and visits to it."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Final

from engine.catalogue import Catalogue
from server.agents.answer import ToolAnswer
from server.agents.desk import AgentDesk
from server.agents.desk_parts import DeskParts
from server.agents.making import AgentWork
from server.agents.visit import Visit
from server.operations import Operations
from server.parts import Parts
from server.speech_operations import SpeechOperations
from server.transcription_operations import TranscriptionOperations
from storage.entry import JSON
from tests.clients.held import PATIENCE_SECONDS, HeldSpeech, Pause
from tests.server.server_check import SilentModel
from tests.server.sound_doubles import TranscriptionDouble

BASE_URL: Final = "http://studio.test"


async def turn() -> None:
    """Let the loop do what is ready, and the pool be heard."""
    await asyncio.get_running_loop().run_in_executor(None, int)


class Office:
    """The desk, and who visits it. `pause` holds the worker before whatever is to be said in several sentences."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.pause = Pause()
        self.used: list[str] = []
        self.speech = HeldSpeech({1: self.pause})
        catalogue = Catalogue(SilentModel(), speech=[self.speech], transcription=[TranscriptionDouble()])
        draw = itertools.count(7).__next__
        self.work = AgentWork(
            Operations(catalogue, draw), SpeechOperations(catalogue, draw), TranscriptionOperations(catalogue)
        )
        self.desk_parts = DeskParts(
            parts.agent_gate,
            parts.artifacts,
            parts.book,
            parts.links,
            parts.watch,
            parts.limits,
            parts.board,
            self.used.append,
        )
        self.desk = AgentDesk(self.work, catalogue, self.desk_parts)

    @property
    def pending(self) -> int:
        """Jobs that the queue holds."""
        return self.parts.queue.snapshot().pending

    @property
    def rejected(self) -> int:
        """Submissions that were refused for want of room."""
        return self.parts.queue.snapshot().rejected

    def visit(self, owner: str = "") -> Visit:
        """Somebody who waits for the answer."""
        return Visit(owner, BASE_URL, asyncio.Event())

    async def call(self, tool: str, /, **arguments: JSON) -> ToolAnswer:
        """What a tool answers, refused or not."""
        return await self.desk.call(tool, arguments, self.visit())

    async def told(self, tool: str, /, **arguments: JSON) -> dict[str, JSON]:
        """What a tool that does not refuse tells."""
        answer = await self.call(tool, **arguments)
        assert not answer.is_refused, answer
        return dict(answer.told)

    async def refused(self, tool: str, /, **arguments: JSON) -> dict[str, JSON]:
        """What a tool that refuses tells; the sentence is its message."""
        answer = await self.call(tool, **arguments)
        assert answer.is_refused, answer
        assert answer.told["message"] == answer.sentence
        assert answer.told.get("retry_after_seconds") == answer.retry_after_seconds
        return dict(answer.told)

    async def begun(self, tool: str, /, **arguments: JSON) -> str:
        """The id of a job that a tool begins."""
        return str((await self.told(tool, **arguments))["job_id"])

    async def ended(self, job_id: str) -> ToolAnswer:
        """What job_status answers of a job that is let go on to its end."""
        return await self.call("job_status", job_id=job_id, wait_seconds=PATIENCE_SECONDS)

    async def made(self, tool: str, /, **arguments: JSON) -> ToolAnswer:
        """What job_status says of the job that a tool makes, once it is complete."""
        answer = await self.ended(await self.begun(tool, **arguments))
        assert answer.told["state"] == "complete", answer
        return answer

    async def held(self) -> str:
        """The id of a job that is being made and held."""
        job_id = await self.begun("speak", text="One. Two.")
        await asyncio.get_running_loop().run_in_executor(None, self.pause.wait_until_reached)
        return job_id

    def run(self, test: Callable[[], Awaitable[None]]) -> None:
        """Run the test; afterwards every place is free."""

        async def bound() -> None:
            self.parts.watch.bind(asyncio.get_running_loop())
            try:
                await test()
            finally:
                self.pause.release()
                self.parts.watch.unbind()

        asyncio.run(bound())
        assert not any(self.parts.board.held().values())
