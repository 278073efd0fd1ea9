"""What is known of a job: the queue while it is there, the store afterwards."""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from server.errors import JobFailed
from server.jobs.errors import INTERRUPTED_CODE, INTERRUPTED_MESSAGE, JobCancelled, UnknownJob
from server.jobs.job import Job, JobState, JobView
from server.jobs.serial_queue import SerialQueue
from server.work import FOLLOWED
from storage.entry import JSON, Entry, EntryState
from storage.errors import EntryExpired, NotStored, StorageError, UnknownEntry
from storage.growth import Following
from storage.store import Lease, ResultStore

_ENDINGS = {JobState.FAILED: "failed", JobState.CANCELLED: "was cancelled"}
_REACHED = ("phase", "progress", "counters")  # kept when a job ends early: progress never falls
_BESIDE = ("replay", "latents", "segments", "srt", "vtt")  # parts that go with what is heard or read
_log = logging.getLogger(__name__)


class JobBook:
    """Answers for jobs, whoever holds them; a job that is another key's is unknown here.

    `stores` are where jobs are recorded, each in one of them; an id that none knows is asked of the first. Owner of one flag: whether the queue has been closed, which only ever turns true.
    """

    def __init__(self, queue: SerialQueue, stores: Sequence[ResultStore], clock: Callable[[], float]) -> None:
        self._queue = queue
        self._stores = tuple(stores)
        self._clock = clock
        self._closed = False

    def describe(self, job_id: str, owner: str) -> dict[str, JSON]:
        """The answer of `GET /job`. Raises UnknownEntry, EntryExpired."""
        view = self._live(job_id, owner)
        return self._of_entry(self.entry(job_id, owner)) if view is None else fields_of(view)

    def entry(self, job_id: str, owner: str) -> Entry:
        """The store's record of the owner's job. Raises UnknownEntry, EntryExpired."""
        try:
            entry = self._store_of(job_id).find(job_id)
        except EntryExpired as error:
            if error.owner != owner:
                raise UnknownEntry(job_id) from None
            raise
        if entry.owner != owner:
            raise UnknownEntry(job_id)
        return entry

    def stored(self, job_id: str, owner: str) -> Entry:
        """The record of the owner's finished result. Raises UnknownEntry, EntryExpired, NotStored."""
        entry = self._ended(job_id, owner)
        if entry.state is not EntryState.STORED:
            status = self._status(entry)
            raise NotStored(
                job_id, f"This job {_ENDINGS[status]} and has no result; submit the request again."
            )
        return entry

    def seconds_left(self, entry: Entry) -> float:
        """How long a stored result will still be there."""
        return max(0.0, (entry.expires_at or 0.0) - self._clock())

    def lease(self, job_id: str, owner: str) -> Lease:
        """Pin the owner's finished result. Raises UnknownEntry, EntryExpired, NotStored."""
        self.entry(job_id, owner)
        return self._store_of(job_id).lease(job_id)

    def followed(self, job_id: str, owner: str) -> str:
        """The content type of the owner's result that can be followed while it is made, empty for one that cannot.

        Raises UnknownEntry, EntryExpired.
        """
        return str(self.entry(job_id, owner).detail.get(FOLLOWED, ""))

    def follow(self, job_id: str, owner: str) -> Following | None:
        """Read along while the owner's result is made; None while, and once, it is not. Touches no disk.

        Raises UnknownEntry, EntryExpired.
        """
        self.entry(job_id, owner)
        return self._store_of(job_id).follow(job_id)

    def is_live(self, job_id: str, owner: str) -> bool:
        """Whether the owner's job waits or runs, as it does for a moment after its result was stored."""
        return self._live(job_id, owner) is not None

    def is_done(self, job_id: str, owner: str) -> bool:
        """Whether the owner's job has ended with a result.

        Raises JobFailed, JobCancelled where it ended without one; UnknownEntry, EntryExpired.
        """
        job = self.describe(job_id, owner)
        if job["status"] == JobState.FAILED:
            raise JobFailed(str(job["code"]), str(job["error"]))
        if job["status"] == JobState.CANCELLED:
            raise JobCancelled
        return job["status"] == JobState.DONE

    def cancel(self, job_id: str, owner: str) -> tuple[str, bool]:
        """Cancel the owner's job; its state as it then is, and whether it was waiting, so that `record_cancelled` is due.

        Touches no disk. Raises UnknownEntry, EntryExpired.
        """
        if self._live(job_id, owner) is not None:
            with suppress(UnknownJob):  # where it ended between the two looks
                state = self._queue.cancel(job_id)
                return str(state), state is JobState.CANCELLED
        return str(self.describe(job_id, owner)["status"]), False

    def give_up(self, job_id: str, owner: str) -> bool:
        """Cancel the owner's job as `cancel` does, and let its Idempotency-Key name another from now on."""
        self._store_of(job_id).free_key(self.entry(job_id, owner).id)
        return self.cancel(job_id, owner)[1]

    def record_cancelled(self, job_id: str) -> None:
        """Write that a waiting job was cancelled."""
        self._record(job_id, JobState.CANCELLED)
        _log.info("job %s… was cancelled while it waited", job_id[:6])

    def delete(self, job_id: str, owner: str) -> None:
        """Give a finished job's room back. Raises UnknownEntry, EntryExpired, NotStored while it is unfinished."""
        self._ended(job_id, owner)
        self._store_of(job_id).delete(job_id)
        _log.info("job %s… was deleted", job_id[:6])

    def settle(self, job: Job, state: JobState, code: str, error: str) -> None:
        """Record how the active job ended; a finished one has been recorded by its publication."""
        if state is not JobState.DONE:
            self._record(job.id, state, code, error, job.view())

    def close(self) -> None:
        """Stop admission, ask the active job to stop, and record the waiting ones as interrupted. Safe to repeat."""
        self._closed = True
        self._interrupt(job.id for job in self._queue.close())

    def interrupt_leftovers(self, entries: Iterable[Entry]) -> None:
        """Record jobs that an earlier process accepted and never ended."""
        self._interrupt(entry.id for entry in entries)

    def _interrupt(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            self._record(job_id, JobState.FAILED, INTERRUPTED_CODE, INTERRUPTED_MESSAGE)

    def _record(
        self, job_id: str, state: JobState, code: str = "", error: str = "", last: JobView | None = None
    ) -> None:
        """Write how a job ended without a result, and how far it was where it ran."""
        ending: dict[str, JSON] = {"status": str(state), "finished_at": self._clock()}
        if state is JobState.FAILED:
            ending |= {"code": code, "error": error}
        if last is not None:
            ran = fields_of(last)
            ending |= {name: ran[name] for name in ("started_at", *_REACHED)}
        try:
            store = self._store_of(job_id)
            store.end(job_id, {**store.find(job_id).detail, **ending})
        except (StorageError, OSError):
            # The job has ended all the same; after a restart its accept record says "interrupted".
            _log.exception("could not record the end of job %s…", job_id[:6])

    def _store_of(self, job_id: str) -> ResultStore:
        """The store that has the job's record, or the tombstone of one."""
        return next((store for store in self._stores if store.holds(job_id)), self._stores[0])

    def _ended(self, job_id: str, owner: str) -> Entry:
        """The record of the owner's job that has left the queue."""
        view = self._live(job_id, owner)
        if view is not None:
            raise NotStored(job_id, f"This job is {view.state}; wait for its end, or cancel it.")
        return self.entry(job_id, owner)

    def _live(self, job_id: str, owner: str) -> JobView | None:
        """The owner's job while the queue has it."""
        try:
            view = self._queue.view(job_id)
        except UnknownJob:
            return None
        return view if view.owner == owner else None

    def _of_entry(self, entry: Entry) -> dict[str, JSON]:
        detail = entry.detail
        answer = _blank(
            entry.id, str(detail.get("operation", "")), str(detail.get("model", "")), entry.created_at
        )
        answer |= {key: detail.get(key) for key in ("started_at", "finished_at")}
        answer |= {key: detail[key] for key in (*_REACHED, "notes") if key in detail}
        answer |= {"status": str(self._status(entry)), "expires_at": entry.expires_at}
        if entry.state is EntryState.STORED:
            answer |= {"progress": 1.0, "metrics": detail.get("metrics", {}), "tracks": _tracks(entry)}
        elif answer["status"] == JobState.FAILED:
            answer |= {
                "code": detail.get("code", INTERRUPTED_CODE),
                "error": detail.get("error", INTERRUPTED_MESSAGE),
            }
        return answer

    def _status(self, entry: Entry) -> JobState:
        """A record still `accepted` without a job in the queue is one whose end is just being written."""
        if entry.state is EntryState.STORED:
            return JobState.DONE
        if entry.state is EntryState.ENDED:
            cancelled = entry.detail.get("status") == JobState.CANCELLED
            return JobState.CANCELLED if cancelled else JobState.FAILED
        return JobState.FAILED if self._closed else JobState.CANCELLED


def _blank(job_id: str, operation: str, model: str, created_at: float) -> dict[str, JSON]:
    return {
        "id": job_id,
        "status": "",
        "operation": operation,
        "model": model,
        "queue_position": 0,
        "phase": "",
        "progress": 0.0,
        "counters": {},
        "eta_seconds": None,
        "eta_source": None,
        "created_at": created_at,
        "started_at": None,
        "finished_at": None,
        "expires_at": None,
        "metrics": {},
        "tracks": None,
        "notes": [],
    }


def fields_of(view: JobView) -> dict[str, JSON]:
    """What is told of a job that the queue holds."""
    answer = _blank(view.id, view.operation, view.model, view.created_at)
    counters: dict[str, JSON] = dict(view.counters)
    notes: list[JSON] = list(view.notes)
    return answer | {
        "status": str(view.state),
        "queue_position": view.queue_position,
        "phase": view.phase,
        "progress": round(view.progress, 4),
        "counters": counters,
        "eta_seconds": None if view.eta_seconds is None else round(view.eta_seconds, 1),
        "eta_source": view.eta_source or None,
        "started_at": view.started_at,
        "finished_at": view.finished_at,
        "notes": notes,
    }


def _tracks(entry: Entry) -> dict[str, JSON]:
    """Count, content type, bytes and seconds of what a listener or reader would open."""
    heard = [part for part in entry.parts if part.name not in _BESIDE]
    main = heard or entry.parts  # latents alone are what was asked for
    items: list[JSON] = [
        {"content_type": part.content_type, "bytes": part.length, "seconds": part.seconds} for part in main
    ]
    return {"count": len(main), "items": items}
