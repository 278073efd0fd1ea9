"""The snapshot that `/health`, `/status` and `/system/queue` share: aggregates only, never a handle or a prompt."""

from server.errors import RETRY_AFTER_SECONDS
from server.jobs.serial_queue import SerialQueue
from server.limits import AGENT_JOBS, AGENTS_GROUP, MAX_BODY_BYTES, Limits
from storage.entry import JSON
from storage.store import ResultStore


class StatusBoard:
    """Reads the queue, the two stores and the limits; holds no state and touches no disk."""

    def __init__(
        self, queue: SerialQueue, store: ResultStore, artifacts: ResultStore, limits: Limits
    ) -> None:
        self._queue = queue
        self._store = store
        self._artifacts = artifacts
        self._limits = limits

    def snapshot(self) -> dict[str, JSON]:
        """The whole answer."""
        return {
            "status": "ok",
            "queue": self.queue(),
            "results": self.results(),
            "agents": self.agents(),
            "http": self.http(),
            "worker": self.worker(),
        }

    def queue(self) -> dict[str, JSON]:
        """Capacity and counters since the process started."""
        now = self._queue.snapshot()
        return {
            "limit": now.limit,
            "pending": now.pending,
            "active": now.active,
            "queued": now.queued,
            "available": now.available,
            "accepting": now.accepting,
            "retry_after_seconds": RETRY_AFTER_SECONDS,
            "rejected": now.rejected,
            "completed": now.completed,
            "failed": now.failed,
            "cancelled": now.cancelled,
            "active_operation": now.active_operation,
        }

    def backlog_seconds(self) -> float:
        """How long the jobs that are there now will take, all together."""
        return round(self._queue.backlog().seconds, 1)

    def running_seconds(self) -> float:
        """How long the job that is being made will still take; 0 where there is none."""
        return round(self._queue.running().seconds, 1)

    def results(self) -> dict[str, JSON]:
        """What the volume holds, results and what is being staged, against its limits."""
        usage = self._store.usage()
        return {
            "location": "volume",
            "files": usage.files,
            "bytes": usage.bytes,
            "limit_bytes": usage.limit_bytes,
            "limit_files": usage.limit_files,
            "max_file_bytes": usage.max_file_bytes,
            "ttl_seconds": usage.ttl_seconds,
            "full": usage.full,
        }

    def agents(self) -> dict[str, JSON]:
        """How many unfinished jobs of agents there are, and what is kept for them, against their limits."""
        usage = self._artifacts.usage()
        return {
            "limit": AGENT_JOBS,
            "pending": self._queue.snapshot().grouped.get(AGENTS_GROUP, 0),
            "files": usage.files,
            "bytes": usage.bytes,
            "limit_bytes": usage.limit_bytes,
            "limit_files": usage.limit_files,
            "ttl_seconds": usage.ttl_seconds,
            "full": usage.full,
        }

    def http(self) -> dict[str, JSON]:
        """The bounds of the HTTP edge."""
        limits = self._limits
        return {
            "workers": limits.workers_total,
            "synchronous_limit": limits.synchronous.total,
            "synchronous_waiters": limits.synchronous.held,
            "download_limit": limits.downloads.total,
            "log_stream_limit": limits.log_streams.total,
            "upload_decoder_limit": limits.uploads.total,
            "max_upload_bytes": MAX_BODY_BYTES,
        }

    def held(self) -> dict[str, int]:
        """How many places of each kind are taken now."""
        limits = self._limits
        return {
            "synchronous": limits.synchronous.held,
            "downloads": limits.downloads.held,
            "followers": limits.followers.held,
            "uploads": limits.uploads.held,
            "large_bodies": limits.large_bodies.held,
            "preparations": limits.preparations.held,
            "log_streams": limits.log_streams.held,
            "event_streams": limits.event_streams.held,
            "waits": limits.waits.held,
        }

    def worker(self) -> dict[str, JSON]:
        """What the one worker thread is doing and how long ago it last showed a sign of life."""
        view = self._queue.worker_view()
        silent = view.seconds_since_progress
        return {
            "state": view.state,
            "phase": view.phase,
            "seconds_since_progress": None if silent is None else round(silent, 1),
        }
