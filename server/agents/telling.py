"""What is told of a job as it is, with its link and its text where it is complete."""

import os
from typing import Final

from server.agents.answer import Link, ToolAnswer
from server.agents.artifacts import ARTIFACT_SECONDS
from server.agents.desk_parts import DeskParts
from server.agents.links import artifact_name
from server.agents.states import (
    COMPLETE,
    complete_sentence,
    moment,
    pending_sentence,
    told_of,
    unlinked_sentence,
    unmade_sentence,
)
from server.agents.visit import Visit
from server.jobs.job import JobState
from storage.entry import JSON, Entry, Part

SHOWN_BYTES: Final = 64 * 1024
"""Of a text that is given beside its link; a longer one would fill an agent's memory."""
_READ: Final = frozenset({"application/json", "application/x-subrip"})
_REPLAYED: Final = "This idempotency_key was sent before, so no second job was begun. "


class Telling:
    """Tells of jobs; holds no state."""

    def __init__(self, parts: DeskParts) -> None:
        self._parts = parts

    async def tell(self, job: dict[str, JSON], visit: Visit, *, replayed: bool = False) -> ToolAnswer:
        """A job as the book describes it; `replayed` where a known idempotency_key named it.

        Raises UnknownEntry, EntryExpired, NotStored where a complete job's result went meanwhile.
        """
        told, first = told_of(job), _REPLAYED if replayed else ""
        if replayed:
            told["replayed"] = True
        if told["state"] == COMPLETE:
            return await self._complete(told, first, visit)
        ended = job["status"] in (JobState.FAILED, JobState.CANCELLED)
        return ToolAnswer(told, first + (unmade_sentence(told) if ended else pending_sentence(told)))

    async def _complete(self, told: dict[str, JSON], first: str, visit: Visit) -> ToolAnswer:
        job_id = str(told["job_id"])
        entry = self._parts.book.entry(job_id, visit.owner)
        if not self._parts.artifacts.holds(job_id):
            return ToolAnswer(told, first + unlinked_sentence(told, f"{visit.base_url}{_native_path(entry)}"))
        part = entry.parts[0]
        link = self._link(entry, visit)
        told |= {
            "url": link.url,
            "file_name": link.name,
            "mime_type": link.mime_type,
            "size_bytes": link.size_bytes,
            "seconds": part.seconds,
            "expires_at": moment(entry.expires_at or 0.0),
        }
        texts: tuple[str, ...] = ()
        left = self._parts.book.seconds_left(entry)
        if _is_read(part):
            text = await self._parts.limits.run(lambda: self._text(job_id, visit.owner, part))
            told["text"], texts = text, (text,)
        return ToolAnswer(
            told, first + complete_sentence(told, link, left, is_shown=bool(texts)), (link,), texts
        )

    def _link(self, entry: Entry, visit: Visit) -> Link:
        part = entry.parts[0]
        return Link(
            url=f"{visit.base_url}{self._parts.links.path(entry)}",
            name=artifact_name(entry),
            mime_type=_plain_type(part),
            size_bytes=part.length,
            description=(
                f"Download without a key, until {moment(entry.expires_at or 0.0)}, "
                f"{ARTIFACT_SECONDS // 60} minutes after it was made."
            ),
        )

    def _text(self, job_id: str, owner: str, part: Part) -> str:
        """The part's text, read under a lease; in the pool."""
        with self._parts.book.lease(job_id, owner) as lease:
            return os.pread(lease.fd, part.length, part.offset).decode(errors="replace")


def _plain_type(part: Part) -> str:
    """The content type without parameters, which some clients do not expect."""
    return part.content_type.partition(";")[0]


def _is_read(part: Part) -> bool:
    """Whether it is a text that an agent reads itself, and not too long for that."""
    kind = _plain_type(part)
    return (kind in _READ or kind.startswith("text/")) and part.length <= SHOWN_BYTES


def _native_path(entry: Entry) -> str:
    """Where the result of a job of the HTTP API's is: its first song, speech or score, else all of it."""
    heard = any(part.name in ("audio", "score") and part.track == 0 for part in entry.parts)
    return f"/job?id={entry.id}&{'track=0' if heard else 'result=1'}"
