"""What an earlier job recorded, as input of another."""

import io
import os
from typing import Final

from engine.errors import InvalidRequest
from server.job_book import JobBook
from server.limits import MAX_BODY_BYTES, Limits
from storage.entry import Entry, Part
from storage.store import Lease

_FIELD: Final = "job_id"


async def recording_of(job_id: str, owner: str, book: JobBook, limits: Limits) -> io.BytesIO:
    """The audio of the owner's finished job, its first track: at most as much as may be uploaded.

    Raises UnknownEntry, EntryExpired, NotStored, and InvalidRequest where the job has no audio or too much.
    """
    part = _audio(book.stored(job_id, owner))
    return await limits.run(lambda: _read(book.lease(job_id, owner), part))


def _audio(entry: Entry) -> Part:
    found = next((part for part in entry.parts if part.content_type.startswith("audio/")), None)
    if found is None:
        raise InvalidRequest(
            _FIELD,
            "This job made no audio; name a finished job of create_song, preview_score or speak.",
        )
    if found.length > MAX_BODY_BYTES:
        raise InvalidRequest(
            _FIELD,
            f"This job's audio has {found.length} bytes, and at most {MAX_BODY_BYTES} are written down; make it again "
            "as mp3 or opus.",
        )
    return found


def _read(lease: Lease, part: Part) -> io.BytesIO:
    """The part's bytes; gives the lease back."""
    with lease:
        recording = io.BytesIO()
        while left := part.length - recording.tell():
            piece = os.pread(lease.fd, left, part.offset + recording.tell())
            if not piece:
                raise EOFError("A stored result is shorter than its record says.")
            recording.write(piece)
    recording.seek(0)
    return recording
