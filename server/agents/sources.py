"""What an earlier job recorded, as input of another."""

import io
import os
from typing import Final

from engine.audio import AudioForm
from engine.errors import InvalidRequest
from server.job_book import JobBook
from server.limits import MAX_BODY_BYTES, Limits
from server.pinned_files import SLICE_BYTES
from storage.entry import Entry, Part
from storage.store import Lease

_FIELD: Final = "job_id"
_HEADLESS: Final = frozenset(AudioForm(codec).content_type for codec in ("pcm", "ulaw", "alaw"))


async def recording_of(job_id: str, owner: str, book: JobBook, limits: Limits) -> io.BytesIO:
    """The audio of the owner's finished job, its first track: at most as much as may be uploaded.

    Raises UnknownEntry, EntryExpired, NotStored, and InvalidRequest where the job has no audio, too much, or samples of
    which nothing in the file tells how they are to be read.
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
    if found.content_type in _HEADLESS:
        raise InvalidRequest(
            _FIELD,
            f"This job's audio is samples alone ({found.content_type}), without a head that tells their rate; have it made "
            "again as mp3, opus, flac or wav.",
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
            # In pieces: copying all at once would hold up the other threads.
            piece = os.pread(lease.fd, min(left, SLICE_BYTES), part.offset + recording.tell())
            if not piece:
                raise EOFError("A stored result is shorter than its record says.")
            recording.write(piece)
    recording.seek(0)
    return recording
