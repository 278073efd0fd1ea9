"""The status snapshot in words."""

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, ValidationError
from rich.filesize import decimal

from server.client import BadAnswer


class Queue(BaseModel):
    """Capacity and counters since the server's start."""

    limit: int
    active: int
    queued: int
    available: int
    accepting: bool = True
    rejected: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    active_operation: str | None = None


class Results(BaseModel):
    """What the result volume holds."""

    files: int
    bytes: int
    limit_bytes: int
    limit_files: int
    ttl_seconds: float
    full: bool = False


class Worker(BaseModel):
    """What the one worker does."""

    state: str
    phase: str | None = None
    seconds_since_progress: float | None = None


class Snapshot(BaseModel):
    """The parts of the snapshot that are told."""

    queue: Queue
    results: Results
    worker: Worker | None = None


def rows(snapshot: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Name and words of each line; BadAnswer where it is no status snapshot."""
    try:
        known = Snapshot.model_validate(snapshot)
    except ValidationError as error:
        raise BadAnswer("That address answers, but not with a status snapshot; check the address.") from error
    lines = [("Queue", _capacity(known.queue)), ("Since start", _counters(known.queue))]
    lines.append(("Results", _volume(known.results)))
    if known.worker is not None:
        lines.append(("Worker", _worker(known.worker, known.queue.active_operation)))
    return lines


def _capacity(queue: Queue) -> str:
    room = f"{queue.available} of {queue.limit} places free" if queue.accepting else "not accepting"
    return f"{queue.active} running, {queue.queued} waiting, {room}"


def _counters(queue: Queue) -> str:
    return f"{queue.completed} completed, {queue.failed} failed, {queue.cancelled} cancelled, {queue.rejected} refused"


def _volume(results: Results) -> str:
    full = ", full" if results.full else ""
    return (
        f"{results.files} of {results.limit_files} files, {decimal(results.bytes)} of {decimal(results.limit_bytes)}, "
        f"kept for {_span(results.ttl_seconds)}{full}"
    )


def _worker(worker: Worker, operation: str | None) -> str:
    words = [worker.state, operation, worker.phase]
    told = ": ".join(word for word in words if word)
    if worker.state == "idle" or worker.seconds_since_progress is None:
        return told
    return f"{told}, last progress {worker.seconds_since_progress:.1f} s ago"


def _span(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
