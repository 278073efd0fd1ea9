"""Jobs that agents ask for: waited for, told of, cancelled."""

import asyncio

from server.agents.answer import ToolAnswer
from server.agents.arguments import Arguments, Naming, Watching
from server.agents.desk_parts import DeskParts
from server.agents.states import cancelled_sentence, state_of
from server.agents.telling import Telling
from server.agents.visit import Visit
from server.awaiting import until_ended


class Waiting:
    """Answers for jobs of the caller's, whoever began them; holds no state."""

    def __init__(self, parts: DeskParts, telling: Telling) -> None:
        self._parts = parts
        self._telling = telling

    async def status(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        """A job as it is when it has ended, or when the time is up or the caller has gone.

        Where every place for waiting is taken, as it is now. Raises UnknownEntry, EntryExpired, NotStored.
        """
        own = arguments.own_as(Watching)
        job_id, seconds = own.job_id, own.wait_seconds
        self._use(job_id, visit)
        book, watch, limits = self._parts.book, self._parts.watch, self._parts.limits
        if seconds:
            job = await until_ended(job_id, visit.owner, seconds, visit.gone.wait, book, watch, limits)
        else:
            job = book.describe(job_id, visit.owner)
        return await self._telling.tell(job, visit)

    async def cancel(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        """Stop a job; the state in which that leaves it. Raises UnknownEntry, EntryExpired."""
        job_id = arguments.own_as(Naming).job_id
        self._use(job_id, visit)
        status, was_waiting = self._parts.book.cancel(job_id, visit.owner)
        if was_waiting:
            await self._record_cancelled(job_id)
        state = state_of(status)
        return ToolAnswer({"job_id": job_id, "state": state}, cancelled_sentence(job_id, state))

    async def _record_cancelled(self, job_id: str) -> None:
        """Write how a job left the queue, to the end whoever is cancelled meanwhile: a restart has nothing else to go by."""
        writing = asyncio.ensure_future(
            self._parts.limits.run_reserved(lambda: self._parts.book.record_cancelled(job_id))
        )
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            raise

    def _use(self, job_id: str, visit: Visit) -> None:
        """Whoever asks for a job keeps it, also where the client of its synchronous call has gone."""
        if self._parts.book.is_live(job_id, visit.owner):
            self._parts.use(job_id)
