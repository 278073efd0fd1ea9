"""The one door of every generating route: room in the store, a place in the queue, a record on disk."""

import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass

from engine.errors import InvalidRequest
from server.errors import IdempotencyMismatch, TooMany
from server.jobs.errors import InputsFull, QueueFull, UnknownJob
from server.jobs.job import Job, JobControl, JobView
from server.jobs.serial_queue import SerialQueue
from server.limits import MAX_NOTE_CHARACTERS, MAX_NOTES, Limits
from server.work import FOLLOWED, Making, Prepared, Stopwatch
from storage.entry import JSON, Entry, EntryState
from storage.errors import DiskFull, StoreFull
from storage.store import ResultStore

_log = logging.getLogger(__name__)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
Prepare = Callable[[], Prepared]
"""Reads and checks what a body asks for; pure Python for up to seconds, so it runs in the pool."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """An accepted submission: the new job as it was queued, or None where a known Idempotency-Key named an earlier one."""

    job_id: str
    queued: JobView | None


def check_idempotency_key(key: str | None) -> str:
    """The key as it is, empty for none; raises InvalidRequest where it is not 1 to 255 visible ASCII characters."""
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise InvalidRequest(
            "Idempotency-Key",
            "The Idempotency-Key header must be 1 to 255 visible ASCII characters without spaces.",
        )
    return key


class Gate:
    """Admits work atomically: the queue's condition and the store's lock decide.

    Owner of one lock, which lets submissions with a key through one at a time: of several with the same key only the
    first takes a place. A key names a job of this gate's store alone. `group` is the one in the queue of all jobs that
    come this way, empty for none.
    """

    def __init__(
        self,
        queue: SerialQueue,
        store: ResultStore,
        clock: Callable[[], float],
        draw_id: Callable[[], str],
        group: str = "",
    ) -> None:
        self._group = group
        self._queue = queue
        self._store = store
        self._clock = clock
        self._draw_id = draw_id
        self._keyed = threading.Lock()

    def check(self, owner: str, key: str, input_bytes: int = 0) -> None:
        """Refuse early, before a body is read that will keep so many bytes in memory; a known key passes.

        Whoever asks counts the refusal, as of `admit`, with `counted`.
        Raises StoreFull, QueueFull, InputsFull, QueueClosed.
        """
        if key and self._store.find_key(owner, key):
            return
        self._store.check_accepting()
        self._queue.check_admitting(input_bytes, self._group)

    def job_of_key(self, owner: str, key: str) -> str:
        """The job that this Idempotency-Key of the owner's names; empty where there is none. Touches no disk."""
        known = self._store.find_key(owner, key) if key else None
        return known.id if known else ""

    @contextmanager
    def counted(self) -> Iterator[None]:
        """The way of one submission until it is accepted: where it is refused for want of room, that counts once."""
        try:
            yield
        except (TooMany, StoreFull, DiskFull, QueueFull, InputsFull):
            self._queue.reject()
            raise

    def admit(self, prepared: Prepared, owner: str, key: str) -> Admitted:
        """Take a place, record it, let the worker have it. Writes to disk: call it from a worker of the HTTP pool.

        Raises StoreFull, DiskFull, QueueFull, InputsFull, QueueClosed, IdempotencyMismatch; then nothing has changed.
        """
        if not key:
            return self._admit_new(prepared, owner, key)
        with self._keyed:
            known = self._store.find_key(owner, key)
            return _replay(known, prepared) if known else self._admit_new(prepared, owner, key)

    def _admit_new(self, prepared: Prepared, owner: str, key: str) -> Admitted:
        job = self._job(prepared, owner)
        self._store.check_accepting()
        self._queue.admit(job)
        return self._record(job, prepared, key)

    def _record(self, job: Job, prepared: Prepared, key: str) -> Admitted:
        """Write the accept record, then release the job; whatever goes wrong gives the place back."""
        entry = Entry(
            id=job.id,
            state=EntryState.ACCEPTED,
            owner=job.owner,
            created_at=job.created_at,
            idempotency_key=key,
            request_digest=prepared.digest,
            detail=_detail(prepared),
        )
        with ExitStack() as undo:
            undo.callback(self._queue.withdraw, job.id)
            accepted = self._store.accept(entry)
            if accepted.id != job.id:
                return _replay(accepted, prepared)
            undo.callback(self._store.withdraw, job.id)
            view = self._queue.view(job.id)
            # Unknown only where another caller with the same key cancelled it meanwhile: accepted all the same.
            with suppress(UnknownJob):
                self._queue.release(job.id)
            undo.pop_all()
        _log.info("job %s… accepted: %s by %s", job.id[:6], prepared.operation, prepared.model)
        return Admitted(job.id, view)

    def _job(self, prepared: Prepared, owner: str) -> Job:
        job_id = self._draw_id()

        def work(control: JobControl) -> Mapping[str, JSON]:
            return self._make(job, prepared, control)

        job = Job(
            id=job_id,
            operation=prepared.operation,
            model=prepared.model,
            owner=owner,
            created_at=self._clock(),
            stages=prepared.stages,
            work=work,
            rates_id=prepared.rates_id,
            notes=_bounded(prepared.notes),
            input_bytes=prepared.input_bytes,
            group=self._group,
        )
        return job

    def _make(self, job: Job, prepared: Prepared, control: JobControl) -> Mapping[str, JSON]:
        """Run the work into a staged file and publish it: done means downloadable."""
        stopwatch = Stopwatch()
        with self._store.stage(job.id) as staged:
            packed = prepared.work(Making(job.id, staged, control, stopwatch, staged.offer))
            staged.seal()  # before the metrics are read, which are to include the way to the disk
            metrics = {**stopwatch.metrics(), **packed.metrics}
            detail = _detail(prepared, packed.notes) | {
                "started_at": job.started_at,
                "finished_at": self._clock(),
                "metrics": metrics,
            }
            self._store.publish(staged, content_type=packed.content_type, parts=packed.parts, detail=detail)
        return metrics


class Admissions:
    """The way from a body that was read through the gate, in turn and beside the event loop; holds no state."""

    def __init__(self, gate: Gate, limits: Limits) -> None:
        self._gate = gate
        self._limits = limits

    async def admit(
        self,
        owner: str,
        key: str,
        input_bytes: int,
        prepare: Prepare,
        check_present: Callable[[], Awaitable[None]],
    ) -> Admitted:
        """Prepare and admit what a client asks for that is still there: `check_present` raises where it has gone.

        Raises as `prepare` and `Gate.admit`, and TooManyStreams where too many wait to be prepared.
        """

        def checked() -> Prepared:
            # Again: others may have been faster while this one waited its turn.
            self._gate.check(owner, key, input_bytes)
            return prepare()

        async with self._limits.preparing():
            await check_present()
            prepared = await self._limits.run(checked)
        async with self._limits.keyed if key else nullcontext():
            await check_present()
            return await self._limits.run(lambda: self._gate.admit(prepared, owner, key))


def _detail(prepared: Prepared, notes: tuple[str, ...] = ()) -> dict[str, JSON]:
    """What a record says of the work, with what the work itself has noted."""
    noted: list[JSON] = list(_bounded(prepared.notes + notes))
    detail: dict[str, JSON] = {"operation": prepared.operation, "model": prepared.model, "notes": noted}
    return detail | {FOLLOWED: prepared.followed} if prepared.followed else detail


def _bounded(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Each sentence once and as much as a record holds."""
    return tuple(note[:MAX_NOTE_CHARACTERS] for note in dict.fromkeys(notes))[:MAX_NOTES]


def _replay(entry: Entry, prepared: Prepared) -> Admitted:
    if entry.request_digest != prepared.digest:
        raise IdempotencyMismatch
    return Admitted(entry.id, None)
