"""What becomes of a job whose clients have gone."""

import logging
from collections.abc import Coroutine

from server.calls.attendance import Abandon
from server.calls.recent import RecentCalls
from server.job_book import JobBook
from server.limits import Limits

_log = logging.getLogger(__name__)


def giving_up(book: JobBook, limits: Limits, recent: RecentCalls) -> Abandon:
    """Cancels the job, as a user would, unless it has ended; a late retry of its call then makes a new one.

    A job that is done before it has heeded that keeps its call and its key.
    """

    def give_up(job_id: str, owner: str) -> Coroutine[None, None, None]:
        if not book.is_live(job_id, owner):
            return _nothing()
        recent.give_up(job_id)
        was_waiting = book.give_up(job_id, owner)
        _log.info("job %s… was given up, since its client has gone", job_id[:6])
        return record(job_id) if was_waiting else _nothing()

    async def record(job_id: str) -> None:
        await limits.run_reserved(lambda: book.record_cancelled(job_id))

    return give_up


async def _nothing() -> None:
    """Nothing is left to be written down: the worker does it, or there is nothing."""
