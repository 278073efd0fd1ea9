"""Jobs that agents begin: through the same door as all others, and never tied to their callers."""

from functools import partial

from server.admission import Admissions, Admitted
from server.agents.answer import ToolAnswer
from server.agents.arguments import Arguments, Creating, Transcribing
from server.agents.desk_parts import DeskParts
from server.agents.errors import CallerGone
from server.agents.making import AgentWork, digest_of_job
from server.agents.sources import recording_of
from server.agents.states import begun_sentence, told_of
from server.agents.telling import Telling
from server.agents.visit import Visit
from server.errors import IdempotencyMismatch
from server.job_book import fields_of


class Submitting:
    """Has agents' jobs admitted and answers with their handles; holds no state."""

    def __init__(self, work: AgentWork, parts: DeskParts, telling: Telling) -> None:
        self._work = work
        self._parts = parts
        self._telling = telling
        self._admissions = Admissions(parts.gate, parts.limits)

    async def make(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        """Begin the job of a tool that makes something of words or a score.

        A known idempotency_key is answered with its earlier job as it now is. Raises as `Admissions.admit`,
        `AgentWork.prepare` and CallerGone.
        """
        key = arguments.own_as(Creating).idempotency_key
        with self._parts.gate.counted():
            self._parts.gate.check(visit.owner, key)
            admitted = await self._admissions.admit(
                visit.owner,
                key,
                0,
                lambda: self._work.prepare(tool, arguments),
                partial(_check_present, visit),
            )
        return await self._answer(admitted, visit)

    async def transcribe(self, tool: str, arguments: Arguments, visit: Visit) -> ToolAnswer:
        """As `make`, of the audio of an earlier job. Also raises TooManyUploads, and as `recording_of`.

        A known key is answered also where that earlier job is gone by now.
        """
        own = arguments.own_as(Transcribing)
        asked = self._work.check_transcription(arguments)
        known = self._parts.gate.job_of_key(visit.owner, own.idempotency_key)
        if known:
            earlier = self._parts.book.entry(known, visit.owner)
            if earlier.request_digest != digest_of_job(own, asked):
                raise IdempotencyMismatch
            return await self._answer(Admitted(known, None), visit)
        with self._parts.gate.counted():
            # Before the room is asked for: until that job has ended the call is too early, however much there is.
            self._parts.book.stored(own.job_id, visit.owner)
            self._parts.gate.check(visit.owner, own.idempotency_key)
            with self._parts.limits.uploads.slot():  # which bounds how many recordings are in memory
                recording = await recording_of(own.job_id, visit.owner, self._parts.book, self._parts.limits)
                admitted = await self._admissions.admit(
                    visit.owner,
                    own.idempotency_key,
                    recording.getbuffer().nbytes,
                    lambda: self._work.transcribe(arguments, recording),
                    partial(_check_present, visit),
                )
        return await self._answer(admitted, visit)

    async def _answer(self, admitted: Admitted, visit: Visit) -> ToolAnswer:
        if admitted.queued is None:
            job = self._parts.book.describe(admitted.job_id, visit.owner)
            return await self._telling.tell(job, visit, replayed=True)
        told = told_of(fields_of(admitted.queued))
        return ToolAnswer(told, begun_sentence(told))


async def _check_present(visit: Visit) -> None:
    """Raise CallerGone where the caller has gone meanwhile: what it asked for is not begun."""
    if visit.gone.is_set():
        raise CallerGone
