"""Waiting for a job's end, whoever waits."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from server.job_book import JobBook
from server.limits import Limits
from server.watch import Watch
from storage.entry import JSON

FINISHED: Final = ("done", "failed", "cancelled")


async def until_ended(
    job_id: str,
    owner: str,
    seconds: float,
    gone: Callable[[], Coroutine[Any, Any, object]],
    book: JobBook,
    watch: Watch,
    limits: Limits,
) -> dict[str, JSON]:
    """The owner's job as it is when it has ended, or when the time is up or `gone` returns, as it does for a client that left.

    Where every place for waiting is taken, as it is now: a poll is always answered. Raises UnknownEntry, EntryExpired.
    """
    if limits.waits.full:
        return book.describe(job_id, owner)
    deadline = time.monotonic() + seconds
    leaving = asyncio.create_task(gone())
    try:
        # Subscribed before it is looked at, so that no end comes between.
        with limits.waits.slot(), watch.subscribe(job_id) as changed:
            leaving.add_done_callback(lambda _: changed.set())
            while True:
                changed.clear()
                job = book.describe(job_id, owner)
                left = deadline - time.monotonic()
                if job["status"] in FINISHED or left <= 0 or leaving.done():
                    return job
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)
    finally:
        leaving.cancel()
